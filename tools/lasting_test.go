package tools

import (
	"strings"
	"testing"
)

// sh returns the argument list that a person would type. It is split at blanks; "·"
// stands for a blank in an argument.
func sh(line string) Op {
	argv := strings.Split(line, " ")
	for i := range argv {
		argv[i] = strings.ReplaceAll(argv[i], "·", " ")
	}
	if argv[0] == "GIT" {
		return gitOp(argv[1:]...)
	}
	return execOp(argv...)
}

// granted are commands that a person allows for the session, in which words, and what
// that covers and what it does not.
var granted = []struct {
	command, words  string
	covered, beyond []string
}{
	{"cat readme", "exactly this command", []string{"cat readme"}, []string{"cat readme /home/me/.ssh/id_rsa", "cat readme .env", "cat", "cat -n readme", "/bin/cat readme"}},
	{"ls src", "exactly this command", []string{"ls src"}, []string{"ls src /", "ls -R src", "ls"}},
	{"sort words", "exactly this command", nil, []string{"sort words -o .bashrc", "sort -o/etc/x words", "sort words --output=x", "sort words --compress-program=./x"}},
	{"tar cf a.tar src", "exactly this command", nil, []string{
		"tar cf a.tar src --checkpoint=1 --checkpoint-action=exec=./x", "tar cf a.tar --checkpoint-act=exec=./x src", "tar cf a.tar src -I ./x", "tar cf a.tar src --to-command=./x",
	}},
	{"go test ./...", "every `go test …`", []string{"go test", "go test ./x -run Y", "go test -race -count=1 -v ./a ./b", "go test --run Y", "go test -p4 ./..."}, []string{
		"go test -exec ./x", "go test -exec=./x ./...", "go test --exec=./x", "go test ./... -toolexec=./x", "go test -vettool=./x", "go test -o x", "go test -o=/tmp/x", "go test -overlay=o.json",
		"go test -modfile=x.mod", "go test -C /tmp", "go test -C .. ./...", "go test -ldflags=-extld=./x", "go test -gcflags=-x", "go test -coverprofile=/tmp/x", "go test -cpuprofile=x",
		"go test -outputdir=/tmp", "go test -args -test.cpuprofile=x", "go test /tmp/evil", "go test ../evil", "go test ~/evil", "go test -pkgdir=x", "go vet", "go", "./go test", "go run x.go",
	}},
	{"go vet ./...", "every `go vet …`", []string{"go vet ./x"}, []string{"go vet -vettool=./x ./...", "go vet --vettool ./x", "go vet -toolexec=./x"}},
	{"go env GOPATH", "every `go env …`", []string{"go env", "go env -json GOROOT"}, []string{"go env -w GOFLAGS=-toolexec=./x", "go env --w GOFLAGS=-x", "go env -u GOPROXY"}},
	{"go env -w X=y", "exactly this command", []string{"go env -w X=y"}, []string{"go env", "go env -w X=z"}},
	{"go test -exec ./x ./...", "exactly this command", []string{"go test -exec ./x ./..."}, []string{"go test ./...", "go test -exec ./x ./... -v"}},
	{"npm test", "every `npm test …`", []string{"npm test", "npm test --silent", "npm test -- --grep x"}, []string{
		"npm test --script-shell=./x", "npm test --script-shell ./x", "npm test --script-sh=./x", "npm test --node-options=--require=./x", "npm test --userconfig=/tmp/x", "npm test --prefix /tmp/x",
		"npm test -C /tmp", "npm --script-shell=./x test", "npm test -- --config=/tmp/x", "npm test --call x", "npm test -c x", "npm run deploy",
	}},
	{"npm run lint", "every `npm run lint …`", []string{"npm run lint --silent"}, []string{"npm run deploy", "npm run lint --script-shell=./x"}},
	{"cargo test", "every `cargo test …`", []string{"cargo test --all-features -p a -- --nocapture"}, []string{
		"cargo test --config build.rustc=./x", "cargo test --config=./x.toml", "cargo test --manifest-path /tmp/x/Cargo.toml", "cargo test --target-dir /tmp/x", "cargo test -Z x", "cargo +evil test", "cargo run",
	}},
	{"pytest", "every `pytest …`", []string{"pytest tests -q -k name", "pytest -x tests/test_a.py::test_b"}, []string{
		"pytest -c /tmp/x.ini", "pytest -color", "pytest -p evil", "pytest -o addopts=-pevil", "pytest --rootdir=/tmp", "pytest --basetemp=src", "pytest --junitxml=x", "pytest @args", "pytest --confcutdir=..", "pytest --import-mode=x",
	}},
	{"tsc --noEmit", "every `tsc …`", []string{"tsc --noEmit src/a.ts"}, []string{"tsc --outFile x", "tsc --outDir /tmp", "tsc @args", "tsc --project /tmp/x"}},
	{"GIT add .", "every `git add …`", []string{"GIT add a b", "git add x"}, []string{"GIT commit -m x", "GIT push"}},
	{"git commit -m x", "every `git commit …`", []string{"GIT commit -m y"}, []string{"git -c core.hooksPath=/tmp commit -m x", "GIT reset --hard"}},
	{"git push origin main", "exactly this command", []string{"git push origin main", "GIT push origin main"}, []string{"git push --force origin main", "git push", "git push origin main --receive-pack=./x"}},
	{"GIT config user.name x", "exactly this command", nil, []string{"GIT config core.sshCommand ./x", "git config core.pager ./x"}},
	{"python3 -m pytest", "exactly this command", []string{"python3 -m pytest"}, []string{"python3 -m pytest -p evil", "python3 -c x", "python3 -m http.server"}},
	{"python3 manage one", "exactly this command", nil, []string{"python3 manage two", "python3 manage", "/usr/bin/python3 manage two"}},
	{"node build.js", "exactly this command", nil, []string{"node build.js --require=./x", "node -e x", "node"}},
	{"env", "exactly this command", nil, []string{"env rm x", "env A=b go test"}},
	{"env A=b go test", "exactly this command", nil, []string{"go test -exec ./x", "env A=b go test -v", "env go test"}},
	{"xargs rm", "exactly this command", nil, []string{"xargs rm -rf", "rm x"}},
	{"sudo ls", "exactly this command", nil, []string{"sudo ls /", "sudo rm x"}},
	{"bash build.sh", "exactly this command", nil, []string{"bash build.sh x", "bash -c build.sh", "bash"}},
	{"sh -c go·test", "exactly this command", nil, []string{"sh -c go·test·-v", "sh -c rm·x"}},
	{"find . -name x", "exactly this command", nil, []string{"find . -name x -exec ./y ;", "find . -name x -delete"}},
	{"make test", "exactly this command", nil, []string{"make test SHELL=./x", "make -f /tmp/x test", "make test deploy"}},
	{"docker compose ps", "exactly this command", nil, []string{"docker compose run x"}},
	{"rg x", "exactly this command", nil, []string{"rg --pre ./x x"}},
}

// TestAGrantIsWhatTheQuestionSaid allows a command for the session and looks at what
// runs unasked afterwards.
func TestAGrantIsWhatTheQuestionSaid(t *testing.T) {
	posix(t)
	for _, tt := range granted {
		w := newWorld(t, map[string]string{"a": ""})
		initRepo(t, w)
		d := w.Decide(t.Context(), sh(tt.command))
		if d.Verdict != Ask || d.Lasting.Words != tt.words {
			t.Errorf("%s asks for %q (%d), want %q", tt.command, d.Lasting.Words, d.Verdict, tt.words)
		}
		w.Grant(d.Lasting)
		for _, c := range append(tt.covered, tt.command) {
			if got := w.Decide(t.Context(), sh(c)); got.Verdict != Allow {
				t.Errorf("%s does not cover %s: %+v", tt.command, c, got)
			}
		}
		for _, c := range tt.beyond {
			if got := w.Decide(t.Context(), sh(c)); got.Verdict == Allow {
				t.Errorf("%s covers %s", tt.command, c)
			}
		}
		// As a rule of the configuration it covers the same.
		w = newWorld(t, map[string]string{"a": ""}, func(c *Config) { c.Policy.Allow = []Rule{d.Lasting.Rule} })
		initRepo(t, w)
		if got := w.Decide(t.Context(), sh(tt.command)); got.Verdict != Allow {
			t.Errorf("the rule %s does not cover %s", d.Lasting.Rule, tt.command)
		}
		for _, c := range tt.beyond {
			if got := w.Decide(t.Context(), sh(c)); got.Verdict == Allow {
				t.Errorf("the rule %s covers %s", d.Lasting.Rule, c)
			}
		}
	}
}

func TestAGrantOfOneCommandIsForItsDirectory(t *testing.T) {
	w := newWorld(t, map[string]string{"d/x": "", "x": ""})
	in := "d"
	op := execOp("cat", "x")
	op.Exec.Cwd = &in
	w.Grant(w.Decide(t.Context(), op).Lasting)
	if got := w.Decide(t.Context(), op); got.Verdict != Allow {
		t.Errorf("the same command: %+v", got)
	}
	if got := w.Decide(t.Context(), execOp("cat", "x")); got.Verdict != Ask {
		t.Errorf("the command in another directory: %+v", got)
	}
}

// TestAGrantOfEditsKeepsWhatAlwaysAsks has a deny rule and files that always ask
// beside grants.
func TestAGrantOfEditsKeepsWhatAlwaysAsks(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "a\n", "b.lock": "a\n", "go.sum": "a\n"}, func(c *Config) { c.Policy.Deny = []Rule{rule(FamilyExec, "go", "test", "./bad")} })
	w.Grant(w.Decide(t.Context(), execOp("go", "test")).Lasting)
	w.Grant(w.Decide(t.Context(), patchOp("a.txt", "@@ -1 +1 @@\n-a\n+b\n")).Lasting)
	w.Grant(w.Decide(t.Context(), patchOp("b.lock", "@@ -1 +1 @@\n-a\n+b\n")).Lasting)
	for _, tt := range []struct {
		op   Op
		want Verdict
	}{
		{execOp("go", "test", "./x"), Allow},
		{execOp("go", "test", "./bad"), Deny},
		{execOp("go", "test", "-v", "./bad"), Deny},
		{patchOp("a.txt", "@@ -1 +1 @@\n-a\n+c\n"), Allow},
		{writeOp("new", "x\n"), Allow},
		{patchOp("b.lock", "@@ -1 +1 @@\n-a\n+c\n"), Allow},
		{patchOp("go.sum", "@@ -1 +1 @@\n-a\n+b\n"), Ask},
	} {
		if got := w.Decide(t.Context(), tt.op); got.Verdict != tt.want {
			t.Errorf("verdict %d, want %d: %+v", got.Verdict, tt.want, got)
		}
	}
}
