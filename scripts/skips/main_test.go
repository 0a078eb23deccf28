package main

import (
	"strings"
	"testing"
)

const list = `
# Only Windows has no such files.
tools TestLinks* need a privilege
config TestOne/sub  the child
`

func TestASkipOutsideTheListFailsWhereItIsBinding(t *testing.T) {
	skip := func(pkg, test, text string) string {
		return `{"Action":"output","Package":"` + module + pkg + `","Test":"` + test + `","Output":"    a_test.go:1: ` + text + `\n"}
{"Action":"skip","Package":"` + module + pkg + `","Test":"` + test + `"}
`
	}
	const pass = `{"Action":"pass","Package":"` + module + `/tools","Test":"TestX"}` + "\n"
	for name, c := range map[string]struct {
		in      string
		want    string // of the output
		err     string // under CI=true
		lenient bool   // no error otherwise
	}{
		"all ran":              {pass, "0 skipped, 0 of", "", true},
		"a package of none":    {`{"Action":"skip","Package":"` + module + `/core"}` + "\n", "0 skipped, 0 of", "", true},
		"a listed one":         {skip("/tools", "TestLinks", "links need a privilege"), "1 skipped, 0 of", "", true},
		"a listed subtest":     {skip("/config", "TestOne/sub", "runs in the child"), "1 skipped, 0 of", "", true},
		"one of no list":       {skip("/core", "TestBuilt", "another release"), "not in the list: core TestBuilt\n    a_test.go:1: another release", "1 tests skipped", true},
		"for another reason":   {skip("/tools", "TestLinks", "no git"), "1 skipped, 1 of", "1 tests skipped", true},
		"another package":      {skip("/lsp", "TestLinks", "links need a privilege"), "1 skipped, 1 of", "1 tests skipped", true},
		"another subtest":      {skip("/config", "TestOne/other", "runs in the child"), "1 skipped, 1 of", "1 tests skipped", true},
		"of the module itself": {skip("", "TestArrows", "no go"), "not in the list:  TestArrows", "1 tests skipped", true},
		"two":                  {skip("/core", "TestA", "x") + pass + skip("/core", "TestB", "x"), "2 skipped, 2 of", "2 tests skipped", true},
		"a failure": {`{"Action":"output","Package":"` + module + `","Test":"TestX","Output":"    bad\n"}
{"Action":"fail","Package":"` + module + `","Test":"TestX"}
`, "    bad\n", "tests failed", false},
		"a panic": {`{"Action":"output","Package":"` + module + `","Test":"TestX","Output":"panic: oh\n"}
{"Action":"fail","Package":"` + module + `"}
`, "panic: oh\n", "tests failed", false},
		"no build": {`{"Action":"build-output","ImportPath":"x","Output":"a.go:1: undefined\n"}
{"Action":"build-fail","ImportPath":"x"}
`, "a.go:1: undefined\n", "tests failed", false},
		"no line end": {"go: no such flag", "go: no such flag", "tests failed", false},
		"no JSON":     {"go: no such flag\n", "go: no such flag\n", "tests failed", false},
	} {
		t.Run(name, func(t *testing.T) {
			allowed, err := parse(list)
			if err != nil {
				t.Fatal(err)
			}
			for _, binding := range []bool{true, false} {
				var out strings.Builder
				err := report(strings.NewReader(c.in), &out, allowed, binding)
				want := c.err
				if !binding && c.lenient {
					want = ""
				}
				if got := errorText(err); !strings.HasPrefix(got, want) || (got == "") != (want == "") {
					t.Errorf("binding %v: error %q, want %q", binding, got, want)
				}
				if !strings.Contains(out.String(), c.want) {
					t.Errorf("binding %v: printed\n%s\nwant %q in it", binding, &out, c.want)
				}
			}
		})
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestAListWithoutReasonsIsRefused(t *testing.T) {
	for _, line := range []string{"tools", "tools TestX", "tools TestX  ", "tools [ x"} {
		if got, err := parse("# why\n" + line); err == nil || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("%q gave %v, %v", line, got, err)
		}
	}
}
