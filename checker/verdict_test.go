package checker

import (
	"fmt"
	"testing"
)

// TestWhatAToolSaysOfItself reads outputs whose own words decide whether there was a
// check: a warning of the tool itself, a manifest that it cannot read, an end in the
// middle.
func TestWhatAToolSaysOfItself(t *testing.T) {
	const warned = `{"reason":"compiler-message","message":{"level":"warning","message":"unused","rendered":"warning: unused\n","spans":[{"file_name":"a.rs","line_start":1,"column_start":1,"line_end":1,"column_end":2,"is_primary":true}]}}`
	for _, x := range []struct {
		name    string
		parse   parser
		out     output
		fails   bool // the check
		partial bool
		text    bool // there is something to tell
	}{
		{"a warning of the manifest on a good build", parseCargo, output{
			stdout: `{"reason":"build-finished","success":true}` + "\n",
			stderr: "warning: /w/Cargo.toml: unused manifest key: package.foo\n    Finished `dev` profile [unoptimized + debuginfo] target(s) in 0.00s\n",
		}, false, false, false},
		{"a warning of the manifest beside one of the code", parseCargo, output{stdout: warned, stderr: "warning: unused manifest key\n"}, false, false, true},
		{"a broken manifest", parseCargo, output{stderr: "error: failed to parse manifest at `/w/Cargo.toml`\n", code: 101}, true, false, false},
		{"an end in the middle", parseCargo, output{code: 101, stderr: "error: could not compile `x`\n", stdout: warned}, false, true, true},
		{"a broken go.mod", parseGo, output{stderr: "go.mod:3: unknown directive: foo\n", code: 1}, true, false, false},
		{"a broken go.mod of another module", parseGo, output{stderr: "../sub/go.mod:3: unknown directive: foo\n", code: 1}, true, false, false},
		{"a broken go.work above", parseGo, output{stderr: "../go.work:3: unknown directive: foo\n", code: 1}, true, false, false},
		{"a file whose name only ends like that", parseGo, output{stderr: "./notgo.mod.go:3:1: undefined: foo\n", code: 1}, false, false, true},
	} {
		t.Run(x.name, func(t *testing.T) {
			rep := x.parse(x.out)
			why := verdict(job{}, plan{shown: []string{"tool"}}, x.out.code, &rep)
			if (why != "") != x.fails || (rep.partial != "") != x.partial || !x.fails && (rep.text() != "") != x.text {
				t.Errorf("fails: %q, partial: %q, text: %q", why, rep.partial, rep.text())
			}
		})
	}
}

// TestOnlyAToolThatEndedWellIsClean has tools end with every kind of exit code, and
// with and without text that is no finding.
func TestOnlyAToolThatEndedWellIsClean(t *testing.T) {
	for _, code := range []int{0, 1, 2, 3, 42, 101, 126, 127, 128, 255, -1} {
		for _, text := range []string{"", "Something to read."} {
			t.Run(fmt.Sprintf("%d %s", code, text), func(t *testing.T) {
				var rep report
				if text != "" {
					rep.add(text, nil)
				}
				why := verdict(job{}, plan{shown: []string{"tool"}}, code, &rep)
				// A code of 126 or 127 is of a program that was not run.
				if fails := code != 0 && (text == "" || code == 126 || code == 127); (why != "") != fails {
					t.Errorf("fails with %q, want a failure: %v", why, fails)
				}
				if kept := rep.text() != ""; kept != (code != 0 && text != "") {
					t.Errorf("the text is kept: %v", kept)
				}
			})
		}
	}
}
