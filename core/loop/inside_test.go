package loop_test

import (
	"testing"

	"github.com/agent-lsp/agent-lsp/core/abi"
)

// checkPath says whether calls with the path become actions. A path that is
// refused must have a result in the transcript.
func checkPath(t *testing.T, path string, inside bool) {
	t.Helper()
	for _, c := range []abi.Call{
		{Read: &abi.Read{Path: path}}, {Write: &abi.Write{Path: path, Text: "x"}}, {Patch: &abi.Patch{Path: path, Diff: "x"}}, {Exec: &abi.Exec{Argv: []string{"x"}, Cwd: &path}},
	} {
		r := begin(t, abi.Config{})
		r.check(turn(1, "a"), ask(1, user("a")))
		if inside {
			r.check(reply(1, nil, c), action(2, c))
			continue
		}
		said := agent(nil, dispatched(2, c))
		refused := tool(2, "refused: "+path+" is not inside the workspace", true)
		r.check(reply(1, nil, c), ask(3, user("a"), said, refused)) // asked again at once
		r.check(reply(3, nil, git, c), action(4, git))              // beside another call it waits for that
		r.check(abi.Event{Git: output(4, "x")}, ask(6, user("a"), said, refused, agent(nil, dispatched(4, git), dispatched(5, c)),
			tool(5, "refused: "+path+" is not inside the workspace", true), tool(4, "x", false)))
	}
}

func TestPathsThatStayInside(t *testing.T) {
	for _, path := range []string{
		"", ".", "./", "a", "a/", "a/b", `a\b`, "./a", "a/.", "a/..", "a/../b", `a\..\b`, "a/b/../../c", "a//b", "a//..", "./././a",
		"..foo", "..foo/bar", "foo..", "...", ".../a", "a/..b", ".a", ".git/config", "a/...", "~", "~/a", "$HOME", "%2e%2e/a", "..\u2215a",
		"ab:c", "1:x", ":x", "a/C:x", "h\u00e9/\u6f22", "\U0001f600", "a b", "a\nb", `"`, "\x00",
	} {
		checkPath(t, path, true)
	}
}

func TestPathsThatLeave(t *testing.T) {
	for _, path := range []string{
		"/", "/a", "//a", `\`, `\a`, `\\host\share`, `\\?\C:\a`, "..", "../", `..\`, "../a", `..\a`, "./..", "a/../..", `a\..\..`, `a/..\..`, "a/../../a",
		"a/../../w/a", "./../a", "a/./../../b", "a/b/../../..", "a//../..", "../..", "..//a",
		"C:", "c:", "C:a", "C:/a", `c:\a`, "z:", "./C:/a", "a/../C:/a", "/\n\"\\\x00",
	} {
		checkPath(t, path, false)
	}
}
