package checker

import (
	"path/filepath"
	"testing"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/txtar"
)

// FuzzParsers feeds every parser what no tool prints: none may panic, name a
// finding without a file or give text that is not UTF-8.
func FuzzParsers(f *testing.F) {
	paths, err := filepath.Glob("testdata/recorded/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range paths {
		a, err := txtar.ParseFile(path)
		if err != nil {
			f.Fatal(err)
		}
		r := &record{archive: a}
		f.Add(r.section("stdout"), r.section("stderr"), 1)
	}
	efm, err := readFormats([]string{`%f:%l:%c: %trror: %m`, `%A%f|%l| %m`, `%C%\s%+%m`, `%-G%.%#`})
	if err != nil {
		f.Fatal(err)
	}
	parsers := map[string]parser{
		"go": parseGo, "cargo": parseCargo, "tsc": parseTSC, "deno": parseDeno,
		"vet":     func(out output) report { return parseVet("/w", out) },
		"pyright": func(out output) report { return parsePyright("/w", out) },
		"plain":   func(out output) report { return parsePlain("x", out) },
		"custom":  func(out output) report { return parseCustom(efm, "x", Bytes, out) },
	}
	f.Fuzz(func(t *testing.T, stdout, stderr string, code int) {
		out := output{plain(stdout), plain(stderr), code}
		for name, parse := range parsers {
			rep := parse(out)
			for _, b := range rep.blocks {
				if !utf8.ValidString(b.text) {
					t.Errorf("%s: text is not UTF-8: %q", name, b.text)
				}
				if b.finding != nil && (b.finding.Path == "" && name != "cargo" && name != "pyright" || b.finding.Range.Start.Line < 0) {
					t.Errorf("%s: %+v", name, *b.finding)
				}
			}
			places := newPlaces("/w")
			findings := places.apply(&rep, "/w", 0, nil)
			r := rendering{command: "x", rep: &rep, cap: 500}
			if text, _ := r.render(newBaseline(&rep)); !utf8.ValidString(text) {
				t.Errorf("%s: %q", name, text)
			}
			for _, f := range findings {
				if f.Path == "" || f.Range.Start.Column < 0 {
					t.Errorf("%s: %+v", name, f)
				}
			}
		}
	})
}
