package tools

import (
	"path"
	"slices"
	"strings"
)

// This file is the table of what is known about programs. The rest of the package
// asks it two things: how much of a command line one permission may cover, and which
// other programs a command line names. Whoever misses a program adds a line here.

// start is the beginning of a command line, of which a person may allow every
// continuation at once.
type start struct {
	words   string // "*" stands for one name, of a script for instance
	options string // that may follow, in any order
}

// starts are the beginnings that "for this session" and "always" offer as "every
// `go test …`". Everything else is allowed one exact command at a time.
//
// An option is listed only if it runs no program, writes no file that the call names,
// and reads no configuration from elsewhere: no -exec, -toolexec, -o, --config,
// --manifest-path, --script-shell. Arguments that are not options are paths or names
// inside the workspace; see harmless.
var starts = []start{
	{"go build", goBuild},
	{"go doc", "-all -c -cmd -short -src -u"},
	{"go env", "-json -changed"},
	{"go fmt", "-n -x"},
	{"go list", goBuild + " -json -m -deps -test -e -f -find -compiled -versions -u -retracted"},
	{"go test", goBuild + " -bench -benchmem -benchtime -count -cover -covermode -coverpkg -cpu -failfast -fullpath -json -list -parallel -run -short -shuffle -skip -timeout -vet"},
	{"go version", "-m -v"},
	{"go vet", goBuild + " -json -c"},
	{"gofmt", "-d -e -l -s"},
	{"staticcheck", "-tests -tags -f -checks"},

	{"cargo build", cargoBuild},
	{"cargo check", cargoBuild},
	{"cargo clippy", cargoBuild + " --no-deps -D -W -A -F"},
	{"cargo doc", cargoBuild + " --no-deps --document-private-items"},
	{"cargo fmt", "--all --check -p --package -v --verbose -q --quiet"},
	{"cargo test", cargoBuild + " --no-run --no-fail-fast --doc --nocapture --test-threads --ignored --include-ignored --exact --skip --show-output"},
	{"cargo tree", "-p --package --depth --workspace -e --edges -i --invert --no-dedupe --offline --locked"},

	{"npm run *", nodeRun},
	{"npm test", nodeRun},
	{"npm ls", "--depth --all -a --omit --include"},
	{"pnpm run *", nodeRun},
	{"pnpm test", nodeRun},
	{"yarn run *", nodeRun},
	{"yarn test", nodeRun},
	{"bun test", "-t --test-name-pattern --bail --timeout --only --todo --rerun-each"},
	{"deno check", "--quiet -q --all"},
	{"deno fmt", "--check --quiet -q"},
	{"deno lint", "--quiet -q --json --compact"},
	{"deno test", "--quiet -q --filter --fail-fast --parallel --no-check --shuffle"},
	{"eslint", "--ext --fix --quiet --max-warnings --no-color --color"},
	{"jest", nodeTest},
	{"vitest run", nodeTest},
	{"prettier", "--check -c --list-different -l --write -w"},
	{"tsc", "--noEmit --pretty --strict --skipLibCheck --version -v"},

	{"mypy", "--strict --pretty --no-color-output --show-error-codes --ignore-missing-imports"},
	{"pyright", "--outputjson --stats --warnings"},
	{"pytest", "-v -vv -q -qq -x -s -k -m -l -r -ra -rA --lf --ff --last-failed --failed-first --tb --maxfail --exitfirst --verbose --quiet -n --co --collect-only --durations --stepwise --no-header --showlocals"},
	{"ruff check", "--fix --diff --quiet -q --select --ignore --statistics --no-cache"},
	{"ruff format", "--check --diff --quiet -q"},

	{"gradle test", gradle},
	{"gradle build", gradle},
	{"gradle check", gradle},
	{"./gradlew test", gradle},
	{"./gradlew build", gradle},
	{"./gradlew check", gradle},
	{"mvn test", maven},
	{"mvn compile", maven},
	{"mvn verify", maven},
	{"dotnet build", dotnet},
	{"dotnet test", dotnet + " --filter --no-build --list-tests"},
	{"mix test", "--trace --only --exclude --include --seed --failed --stale --max-failures --color"},
	{"swift build", "-v --verbose -q --quiet --target --product"},
	{"swift test", "-v --verbose -q --quiet --filter --skip --parallel"},
}

const (
	goBuild    = "-v -x -n -a -race -msan -asan -cover -tags -p -trimpath -buildvcs -mod -work"
	cargoBuild = "--all --workspace --all-targets --all-features --features -F --no-default-features --release -r --tests --test --lib --bins --bin --examples --example " +
		"--benches --bench --package -p --exclude --quiet -q --verbose -v -vv --offline --locked --frozen --keep-going --jobs -j --message-format --color"
	nodeRun  = "--silent -s --workspace -w --workspaces --if-present " + nodeTest
	nodeTest = "-t --testNamePattern --grep -g --bail -b --coverage --runInBand -i --verbose --silent --watch --run --no-color --color --ci --passWithNoTests --fix --quiet"
	gradle   = "--info --quiet -q --tests --offline --rerun-tasks --stacktrace --parallel --continue --no-daemon --console --warning-mode"
	maven    = "-q --quiet -o --offline -B --batch-mode -e -X -pl --projects -am --also-make -ntp -nsu -fae -ff"
	dotnet   = "-c --configuration --no-restore -v --verbosity --nologo -f --framework"
)

// shells read a command line, or a script, as an argument or from their input.
var shells = []string{"sh", "bash", "zsh", "dash", "ash", "ksh", "mksh", "rbash", "fish", "csh", "tcsh", "cmd", "powershell", "pwsh", "nu", "elvish", "xonsh"}

// wrappers run a program that their arguments name.
var wrappers = []string{
	"env", "xargs", "sudo", "doas", "su", "runuser", "pkexec", "nohup", "nice", "ionice", "chrt", "taskset", "timeout", "gtimeout", "time", "exec",
	"command", "builtin", "eval", "trap", "setsid", "stdbuf", "unbuffer", "watch", "script", "busybox", "toybox", "npx", "pnpx", "bunx", "uvx", "pipx", "find", "fd", "parallel",
	"strace", "ltrace", "gdb", "lldb", "valgrind", "perf", "chroot", "unshare", "nsenter", "bwrap", "firejail", "setarch", "linux32", "linux64", "flock", "entr",
	"systemd-run", "dbus-run-session", "xvfb-run", "expect", "tmux", "screen", "ssh", "docker", "podman", "kubectl", "start", "open", "xdg-open", "nix-shell", "direnv", "asdf", "mise", "coproc",
	"caffeinate", "sshpass", "catchsegv", "torsocks", "proxychains", "proxychains4", "daemonize", "start-stop-daemon", "ld.so", "ld-linux-x86-64.so", "hyperfine", "rlwrap", "choom", "prlimit", "capsh", "dumb-init", "tini", "apptainer", "source", ".",
}

// interpreters run code that their arguments hold or name.
var interpreters = []string{
	"python", "pypy", "ipython", "node", "nodejs", "deno", "bun", "ruby", "irb", "perl", "php", "lua", "luajit", "awk", "gawk", "mawk", "nawk", "sed", "gsed", "ed", "ex", "vi", "vim", "nvim", "emacs",
	"osascript", "tclsh", "wish", "rscript", "r", "julia", "java", "jshell", "groovy", "scala", "kotlin", "ts-node", "tsx", "guile", "sbcl", "racket", "raku", "elixir", "erl", "ghci", "runghc", "dc", "bc", "gdb", "sqlite3", "psql", "mysql",
}

// codeOptions are the options of interpreters that take code.
var codeOptions = []string{"-c", "-e", "-E", "-p", "-pe", "-ne", "-r", "--eval", "--print", "--run", "--execute", "--command", "eval", "-ex", "--cmd"}

// runsOthers are parts of the names of options that have a program run.
var runsOthers = []string{
	"exec", "command", "cmd", "program", "shell", "tool", "checkpoint", "pager", "editor", "rsh", "hook", "interpreter", "wrapper", "linker", "compiler", "plugin",
	"loader", "require", "import", "script", "eval", "preload", "launcher", "runner", "preprocess",
}

// reachesOut are parts of the names of options that write a file, or read
// configuration or a project from elsewhere.
var reachesOut = []string{
	"output", "outfile", "outdir", "out-", "conf", "cfg", "rcfile", "init", "settings", "manifest", "directory", "dir", "prefix", "cwd", "file", "dest",
	"overlay", "save", "dump", "project", "home",
}

// riskyNames are whole names of options that do one of both.
var riskyNames = []string{"out", "rc", "root", "env", "log", "target", "write", "cache", "pre", "run", "call"}

// riskyLetters are the short options that in many programs do one of both: -c, -o, -C,
// -f, -I, -F and -O.
const riskyLetters = "coCfIFO"

// risky reports whether an argument of a program that the table does not list may run
// a program, write a file or read configuration from elsewhere.
func risky(arg string) bool {
	name, _, assigns := strings.Cut(arg, "=")
	if !strings.HasPrefix(arg, "-") {
		return assigns && !strings.ContainsAny(name, "/.-") // make SHELL=…
	}
	long := strings.ToLower(strings.TrimLeft(name, "-"))
	if len(long) > 1 && (slices.Contains(riskyNames, long) || containsAny(long, runsOthers, reachesOut)) {
		return true
	}
	if strings.HasPrefix(arg, "--") {
		// An abbreviation may stand for any of them.
		return len(long) > 0 && slices.ContainsFunc(slices.Concat(runsOthers, reachesOut), func(o string) bool { return strings.HasPrefix(o, long) })
	}
	return strings.ContainsAny(arg[1:], riskyLetters)
}

func containsAny(s string, lists ...[]string) bool {
	for _, list := range lists {
		if slices.ContainsFunc(list, func(part string) bool { return strings.Contains(s, part) }) {
			return true
		}
	}
	return false
}

// startOf returns the longest listed start of a command line and the number of its
// words, 0 for none.
func startOf(argv []string) (found start, n int) {
	for _, s := range starts {
		words := strings.Fields(s.words)
		if len(words) <= n || len(argv) < len(words) {
			continue
		}
		fits := true
		for i, w := range words {
			fits = fits && (w == argv[i] || w == "*" && subcommand.MatchString(argv[i]))
		}
		if fits {
			found, n = s, len(words)
		}
	}
	return found, n
}

// harmless reports whether an argument may follow the start: a listed option, or a
// word that is no path out of the workspace.
func (s start) harmless(arg string) bool {
	if arg == "" || arg == "--" {
		return true
	}
	word := arg
	if strings.HasPrefix(arg, "-") {
		name, value, _ := strings.Cut(arg, "=")
		if strings.HasPrefix(s.words, "go") && strings.HasPrefix(name, "--") {
			name = name[1:] // Go's flags take one dash or two
		}
		options := strings.Fields(s.options)
		if !slices.Contains(options, name) && (strings.HasPrefix(name, "--") || !slices.Contains(options, strings.TrimRight(name, "0123456789"))) {
			return false
		}
		word = value
	}
	return staysInside(word)
}

// staysInside reports whether a word, if it is a path, stays below the working
// directory by its spelling, and is no address and no file of arguments.
func staysInside(word string) bool {
	slashed := strings.ReplaceAll(word, `\`, "/")
	if strings.HasPrefix(word, "~") || strings.HasPrefix(word, "@") || strings.Contains(word, "://") || strings.ContainsRune(word, 0) {
		return false
	}
	return word == "" || contained(word) && !slices.Contains(strings.Split(slashed, "/"), "..")
}

// programName is the last element of a program's path without the extension that
// Windows gives it.
func programName(s string) string {
	s = path.Base(strings.ReplaceAll(s, `\`, "/"))
	if ext := path.Ext(s); strings.EqualFold(ext, ".exe") || strings.EqualFold(ext, ".cmd") || strings.EqualFold(ext, ".bat") {
		s = strings.TrimSuffix(s, ext)
	}
	return s
}

// isOneOf reports whether a program is in one of the lists above, whatever its path,
// its case and its version are.
func isOneOf(program string, list []string) bool {
	name := strings.ToLower(programName(program))
	if slices.Contains(list, name) {
		return true
	}
	plain := strings.TrimRight(name, "0123456789.-")
	return plain != "" && slices.Contains(list, plain)
}
