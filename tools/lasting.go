package tools

import (
	"path"
	"slices"

	"github.com/agent-lsp/agent-lsp/workspace"
)

// Lasting is what allowing a call for longer than once covers. The zero value covers
// nothing.
type Lasting struct {
	// Words complete "for this session: ", e.g. "every `go test …`".
	Words string
	// Rule is the same as a rule of the configuration, which "always" writes.
	Rule Rule
	// Dir is the working directory that an exact command was asked for in.
	Dir string
	// Network says that the commands have it.
	Network bool
	// SessionOnly says that it cannot become a rule of the configuration.
	SessionOnly bool
}

// end is the last element of a rule that matches one command line only: nothing may
// follow.
const end = "$"

// lastingCommand returns what a lasting permission for a command covers: its listed
// start with every harmless continuation, else the command itself.
func lastingCommand(argv []string, dir string) Lasting {
	if s, n := startOf(argv); n > 0 && !slices.ContainsFunc(argv[n:], func(a string) bool { return !s.harmless(a) }) {
		return Lasting{Words: "every `" + workspace.CommandLine(argv[:n]) + " …`", Rule: Rule{FamilyExec, slices.Clone(argv[:n])}}
	}
	return Lasting{Words: exactly(dir), Rule: Rule{FamilyExec, append(slices.Clone(argv), end)}, Dir: dir}
}

// short returns the words of a lasting permission for a command without its directory.
func (l Lasting) short() string {
	words := l.Rule.Match
	if n := len(words); words[n-1] == end {
		return "`" + workspace.CommandLine(words[:n-1]) + "`"
	}
	return "`" + workspace.CommandLine(words) + " …`"
}

// exactly are the words for one command in a directory.
func exactly(dir string) string {
	if dir == "." {
		return "exactly this command"
	}
	return "exactly this command, in " + dir
}

// coversCommand reports whether an allow rule for exec covers a command line: exactly,
// or its start where what follows runs no other program, writes no file and reads
// nobody else's configuration.
func (r Rule) coversCommand(argv []string) bool {
	if len(argv) == 0 {
		return false
	}
	if n := len(r.Match); n > 1 && r.Match[n-1] == end {
		return slices.Equal(r.Match[:n-1], argv)
	}
	if !prefixOf(r.Match, argv) {
		return false
	}
	if len(r.Match) == 0 { // of every command
		return true
	}
	rest := argv[len(r.Match):]
	if s, n := startOf(argv); n > 0 {
		return !slices.ContainsFunc(argv[max(n, len(r.Match)):], func(a string) bool { return !s.harmless(a) })
	}
	switch {
	case isOneOf(argv[0], shells), isOneOf(argv[0], wrappers):
		return false
	case isOneOf(argv[0], interpreters) && !namesCode(r.Match):
		return false
	case programName(argv[0]) == "git":
		if _, err := parseGit(argv[1:]); err != nil {
			return false
		}
		return true
	}
	return !slices.ContainsFunc(rest, risky)
}

// namesCode reports whether a rule for an interpreter says which script or module it
// runs.
func namesCode(match []string) bool {
	for _, word := range match[1:] {
		if slices.Contains(codeOptions, word) {
			return false
		}
		if word != "" && word[0] != '-' {
			return true
		}
	}
	return false
}

// lastingGit returns what a lasting permission for a call of git covers: every call of
// the subcommand, or where one may discard work or change what git runs, the call
// itself.
func lastingGit(c gitCommand) Lasting {
	if slices.Contains(gitWhole, c.name) {
		return Lasting{Words: "every `git " + c.name + " …`", Rule: Rule{FamilyGit, []string{c.name}}}
	}
	dir := path.Clean(c.dir)
	return Lasting{Words: exactly(dir), Rule: Rule{FamilyGit, slices.Concat([]string{c.name}, c.args, []string{end})}, Dir: dir}
}

// gitWhole are the subcommands of which all calls may be allowed at once.
var gitWhole = []string{"add", "commit", "fetch", "stash", "tag", "notes", "mv", "ls-remote", "verify-commit", "verify-tag", "fsck"}

// Grant allows, for the rest of the session, the calls that a Decision's Lasting
// covers. A deny rule still wins.
func (e *Executor) Grant(l Lasting) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.granted = append(e.granted, l)
}

// allows reports whether a rule or a grant allows a call; for a text that a shell is
// given, one must allow each command in it.
func (e decider) allows(s subject) bool {
	if e.covers(s) {
		return true
	}
	text, ok := shellScript(s.argv)
	if !ok || s.family != FamilyExec {
		return false
	}
	parsed, err := parseScript(text)
	if err != nil || !parsed.plain || len(parsed.commands) == 0 {
		return false
	}
	if slices.ContainsFunc(parsed.commands, func(c []string) bool { return c[0] == "cd" }) {
		s.dir = unknown
	}
	covered := 0
	for _, c := range parsed.commands {
		s.argv = c
		switch {
		case e.covers(s), e.coversGit(c):
			covered++
		case !harmlessBuiltin(c):
			return false
		}
	}
	return covered > 0
}

// coversGit reports whether a rule or a grant for git allows a command of a script.
func (e decider) coversGit(argv []string) bool {
	if argv[0] != "git" {
		return false
	}
	c, err := parseGit(argv[1:])
	return err == nil && c.dir == "" && e.covers(subject{family: FamilyGit, argv: append([]string{c.name}, c.args...), dir: unknown})
}

func (e decider) covers(s subject) bool {
	if e.policy().allowed(s) {
		return true
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.ContainsFunc(e.granted, func(l Lasting) bool {
		return l.Network == s.network && (l.Dir == "" || l.Dir == s.dir) && l.Rule.matches(s, false)
	})
}
