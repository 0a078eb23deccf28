package checker

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestReportsAreBounded feeds parsers a stream as long as is ever kept of one.
func TestReportsAreBounded(t *testing.T) {
	for name, line := range map[string]string{
		"findings":      "a.go:1:1: bad\n",
		"continuations": "\tx\n",
		"other lines":   "y\n",
		"empty lines":   "\n",
	} {
		for tool, parse := range map[string]parser{
			"go": parseGo, "tsc": parseTSC, "deno": parseDeno, "cargo": parseCargo,
			"pyright": func(out output) report { return parsePyright("/w", out) },
		} {
			rep := parse(output{stdout: "a.go:1:1: bad\nerror: bad\n" + strings.Repeat(line, (256<<10)/len(line)), code: 1})
			size := 0
			for _, b := range rep.blocks {
				size += len(b.text)
			}
			if len(rep.blocks) > maxBlocks || size > maxBlocks*len(line)+maxBlockText {
				t.Errorf("%s of %s: %d blocks, %d bytes", name, tool, len(rep.blocks), size)
			}
			if tool == "go" && line != "\n" && rep.incomplete() == "" {
				t.Errorf("%s of %s: nothing is said to be missing", name, tool)
			}
		}
	}
}

func TestWithoutComments(t *testing.T) {
	for in, want := range map[string]string{
		"\uFEFF{\"a\": 1, // one\n /* two */ \"b\": [1, 2,],\n}": "{\"a\": 1, \n  \"b\": [1, 2]}",
		`{"a": "// no \" comment /*"}`:                           `{"a": "// no \" comment /*"}`,
		`{"a": "open`:                                            `{"a": "open`,
		`/* open`:                                                ``,
		`{} // end`:                                              `{} `,
	} {
		if diff := cmp.Diff(want, string(withoutComments([]byte(in)))); diff != "" {
			t.Errorf("%q: %s", in, diff)
		}
	}
}
