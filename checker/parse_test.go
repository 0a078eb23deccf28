package checker

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSplitLocation(t *testing.T) {
	cases := []struct {
		line, file string
		at         Position
		message    string
	}{
		{`a.go:3:5: undefined: x`, `a.go`, Position{3, 5}, `undefined: x`},
		{`./a.go:3:5: undefined: x`, `./a.go`, Position{3, 5}, `undefined: x`},
		{`C:\w\a.go:3:5: undefined: x`, `C:\w\a.go`, Position{3, 5}, `undefined: x`},
		{`C:/w/a.go:3:5: undefined: x`, `C:/w/a.go`, Position{3, 5}, `undefined: x`},
		{`C:\w\a.go:3: no column`, `C:\w\a.go`, Position{3, 0}, `no column`},
		{`a.go:3:5: cannot open C:\x:1:2`, `a.go`, Position{3, 5}, `cannot open C:\x:1:2`},
		{`file:///C:/w/m.ts:1:2`, `C:/w/m.ts`, Position{1, 2}, ``},
		{`file:///w/m%20n.ts:1:2`, `/w/m n.ts`, Position{1, 2}, ``},
		{`.\inner\a.go:1:1: m`, `.\inner\a.go`, Position{1, 1}, `m`},
		{`a.go:3: no column`, `a.go`, Position{3, 0}, `no column`},
		{`with space/a b.go:3:1: m`, `with space/a b.go`, Position{3, 1}, `m`},
		{`a.go:99999999999999999999:1: m`, `a.go`, Position{0, 1}, `m`},
		{`note: module requires Go 1.99`, ``, Position{}, ``},
		{`go: finding module`, ``, Position{}, ``},
		{`	a.go:1:1: indented`, ``, Position{}, ``},
		{`C:\w\a.go`, ``, Position{}, ``},
		{``, ``, Position{}, ``},
	}
	for _, c := range cases {
		file, at, message, ok := splitLocation(c.line)
		if file != c.file || at != c.at || message != c.message || ok != (c.file != "") {
			t.Errorf("%q is %q %v %q %v, want %q %v %q", c.line, file, at, message, ok, c.file, c.at, c.message)
		}
	}
}

func TestParsers(t *testing.T) {
	pretty := "\x1b[96msrc/a.ts\x1b[0m:\x1b[93m3\x1b[0m:\x1b[93m5\x1b[0m - \x1b[91merror\x1b[0m\x1b[90m TS2322: \x1b[0mmsg\r\n\r\n\x1b[7m3\x1b[0m code\r\n\x1b[7m \x1b[0m \x1b[91m    ~\x1b[0m\r\n\r\nFound 1 error in src/a.ts:3\r\n"
	noise := "No configuration file found.\nFound 1 source file\n"
	one := `{"generalDiagnostics":[{"file":"/w/m.py","severity":"error","message":"Expected 0 positional arguments","range":{"start":{"line":2,"character":2},"end":{"line":2,"character":3}},"rule":"reportCallIssue"}],"summary":{"filesAnalyzed":1}}`
	pyright := func(out output) report { return parsePyright("/w", out) }
	vet := func(out output) report { return parseVet("/w", out) }
	cases := []struct {
		name  string
		parse parser
		out   output
		want  string
	}{
		{"pretty tsc", parseTSC, output{stdout: pretty, code: 2}, "src/a.ts:3:5 error [TS2322] \"msg\" unit 1\n"},
		{"flat tsc, CRLF", parseTSC, output{stdout: "src/a.ts(3,5): error TS2322: msg\r\n", code: 2}, "src/a.ts:3:5 error [TS2322] \"msg\" unit 1\n"},
		{"tsc without inputs", parseTSC, output{stdout: "error TS18003: No inputs were found.\n", code: 2}, "broken: error TS18003: No inputs were found.\n"},
		{"tsc config error", parseTSC, output{stdout: "tsconfig.json(5,9): error TS6053: File 'x' not found.\n", code: 2}, "broken: tsconfig.json(5,9): error TS6053: File 'x' not found.\n"},
		{"tsc config of another name", parseTSC, output{stdout: "app/tsconfig.app.json(5,9): error TS6053: x\n", code: 2}, "broken: app/tsconfig.app.json(5,9): error TS6053: x\n"},
		{
			"tsc error behind a deprecation", parseTSC,
			output{stderr: "(node:1) DeprecationWarning: x\n", stdout: "a.ts(1,2): error TS1: m\n", code: 2},
			"text: \"(node:1) DeprecationWarning: x\"\na.ts:1:2 error [TS1] \"m\" unit 1\n",
		},
		{"pyright behind noise", pyright, output{stdout: noise + one, code: 1}, "/w/m.py:3:3-3:4 error [reportCallIssue] \"Expected 0 positional arguments\" unit 1\n"},
		{
			"pyright text", pyright,
			output{stdout: noise + "  /w/m.py:3:3 - error: Expected 0 positional arguments (reportCallIssue)\n1 error, 0 warnings, 0 informations\n", code: 1},
			"/w/m.py:3:3 error [reportCallIssue] \"Expected 0 positional arguments\" unit 1\n",
		},
		{"pyright JSON cut off", pyright, output{stdout: one[:len(one)/2], code: 1}, "broken: its JSON output is cut off or damaged\n"},
		{"pyright other JSON", pyright, output{stdout: "{}", code: 0}, "broken: its JSON output is cut off or damaged\n"},
		{"pyright clean text", pyright, output{stdout: "0 errors, 0 warnings, 0 informations\n"}, ""},
		{"pyright without a word", pyright, output{code: 1}, ""},
		{"pyright no-break space", pyright, output{stdout: strings.Replace(one, "Expected 0", "Expected\u00a00", 1), code: 1}, "/w/m.py:3:3-3:4 error [reportCallIssue] \"Expected 0 positional arguments\" unit 1\n"},
		{
			"vet prefix and headers", parseGo,
			output{stderr: "# example.test/v/inner\nvet: inner/a.go:2:1: expected declaration, found k\n# example.test/t [example.test/t.test]\na.go:3: no column\nnote: module requires Go 1.99\n", code: 1},
			"text: \"# example.test/t [example.test/t.test]\"\na.go:3:0 error [] \"no column\" unit 0\ntext: \"note: module requires Go 1.99\"\ntext: \"# example.test/v/inner\"\ninner/a.go:2:1 error [] \"expected declaration, found k\" unit 0\n",
		},
		{"go downloads", parseGo, output{stderr: "go: downloading example.com/x v1.0.0\n"}, ""},
		{"go without packages", parseGo, output{stderr: "go: warning: \"./...\" matched no packages\n"}, "broken: go: warning: \"./...\" matched no packages\n"},
		{"vet JSON cut off", vet, output{stdout: "# x\n{\"x\": {\"printf\": [{\"posn\"", code: 0}, "broken: its JSON output is cut off or damaged\n"},
		{"vet without findings", vet, output{stdout: "# x\n{}\n", code: 0}, ""},
		{"cargo noise", parseCargo, output{stdout: "proc macro says hi\n{\"reason\":\"compiler-artifact\"}\n{\"reason\":\"build-script-executed\"}\n{cut\n{\"reason\":\"compiler-message\",\"message\":{\"level\":\"error\"}}\n{\"reason\":\"build-finished\",\"success\":true}\n"}, ""},
		{
			"cargo from a macro of the toolchain", parseCargo,
			output{code: 101, stdout: `{"reason":"compiler-message","message":{"rendered":"error: x\n","level":"error","message":"x","code":null,"children":[],"spans":[{"file_name":"/rustc/1/library/core/src/macros.rs","line_start":9,"column_start":9,"line_end":9,"column_end":10,"is_primary":true,"label":null,"expansion":{"span":{"file_name":"src/lib.rs","line_start":2,"column_start":3,"line_end":2,"column_end":8,"is_primary":false,"label":null,"expansion":null}}}]}}`},
			"src/lib.rs:2:3-2:8 error [] \"x\" unit 2\n",
		},
		{"deno progress", parseDeno, output{stderr: "Check a.ts\nDownload x\n"}, ""},
		{
			"deno failed import", parseDeno,
			output{code: 1, stderr: "error: Import 'https://h.invalid/x.ts' failed.\n    0: error sending request\n    at file:///w/a%20b.ts:1:20\n"},
			"/w/a b.ts:1:20 error [] \"Import 'https://h.invalid/x.ts' failed.\\n0: error sending request\" unit 1\n",
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			c.out.stdout, c.out.stderr = plain(c.out.stdout), plain(c.out.stderr)
			if diff := cmp.Diff(c.want, describe(c.parse(c.out))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestBothFormsReadAlike compares records of one project in two forms of one tool:
// the findings start at the same places, have the same codes and severities.
func TestBothFormsReadAlike(t *testing.T) {
	for _, pair := range [][2]string{
		{"tsc_flat", "tsc_pretty"},
		{"tsc5_flat", "tsc5_pretty"},
		{"pyright_json", "pyright_text"},
	} {
		var forms [2][]string
		for i, name := range pair {
			rep := readRecord(t, filepath.Join("testdata/recorded", name+".txtar")).parse(t)
			for _, b := range rep.blocks {
				if f := b.finding; f != nil {
					forms[i] = append(forms[i], strings.Join([]string{f.Path, span(Range{Start: f.Range.Start}), string(f.Severity), f.Code}, " "))
				}
			}
		}
		if len(forms[0]) == 0 {
			t.Errorf("%s has no findings", pair[0])
		}
		if diff := cmp.Diff(forms[0], forms[1]); diff != "" {
			t.Errorf("%v differ:\n%s", pair, diff)
		}
	}
}

func TestHeadAndTail(t *testing.T) {
	letters := strings.Repeat("𝒳", 100)
	cases := []struct {
		text  string
		limit int
		want  string
	}{
		{"short", 20, "short"},
		{letters, 100, letters},
		{letters, 20, strings.Repeat("𝒳", 10) + "\n[... 80 characters elided ...]\n" + strings.Repeat("𝒳", 10)},
		{"abcde", 3, "a\n[... 2 characters elided ...]\nde"},
		{"abc", 0, "\n[... 3 characters elided ...]\n"},
	}
	for _, c := range cases {
		if got := headAndTail(c.text, c.limit); got != c.want {
			t.Errorf("headAndTail(%q, %d) is %q, want %q", c.text, c.limit, got, c.want)
		}
	}
}

func TestPlain(t *testing.T) {
	for in, want := range map[string]string{
		"\x1b[1;31mred\x1b[0m\x1b[K":                         "red",
		"\x1b]8;;file:///x\x1b\\link\x1b]8;;\x07":            "link",
		"a\r\nb\rc\x00d":                                     "a\nb\ncd",
		"bad \xff byte":                                      "bad \uFFFD byte",
		"\x1b[38;2;1;2;3mx\x1b[?25l\x1b[2Ay\x1b[38:5:1mz é😀": "xyz é😀",
	} {
		if got := plain(in); got != want {
			t.Errorf("plain(%q) is %q, want %q", in, got, want)
		}
	}
}
