package checker_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/checker"
)

// TestDataFilesAreParsedAfterAnEdit edits files that no compiler reads.
func TestDataFilesAreParsedAfterAnEdit(t *testing.T) {
	for _, x := range []struct {
		name, text string
		at         string // of the error, "" where the file parses
		says       string
	}{
		{"a.json", `{"a": [1, 2, {"b": null}]}` + "\n", "", ""},
		{"a.json", "\uFEFF{}", "", ""},
		{"a.json", "{\n  \"é\": [1, 2\n}", "a.json:3:1", "invalid character '}'"},
		{"a.json", "{\"a\": 1,}", "a.json:1:8", "invalid character ','"},
		{"a.json", "{} {}", "a.json:1:", "more text"},
		{"a.json", "", "a.json:1:1", "ends too early"},
		{"a.json", "{\"a\":", "a.json:1:6", "ends too early"},
		{"a.json", "{ // said here\n \"url\": \"http://x\", }", "", ""},
		{"tsconfig.json", "{\"a\": 1,}", "", ""},
		{"tsconfig.base.json", "{/* x */\"a\": 1,}", "", ""},
		{"tsconfig.json", "{\"a\": 1,", "tsconfig.json:1:9", ""},
		{".vscode/settings.json", "{\n// x\n\"a\": 1,\n}", "", ""},
		{"a.jsonc", "[1,]", "", ""},
		{"n.ipynb", `{"cells": [}`, "n.ipynb:1:12", ""},
		{"n.ipynb", `{"cells": []}`, "", ""},
		{"a.yaml", "a: 1\nb:\n  - x\n---\nc: !Ref d\n", "", ""},
		{"a.yaml", "", "", ""},
		{"a.yml", "a: 1\nb: [1, 2\nc: 3\n", "a.yml:", ""},
		{"a.yaml", "a: \"x\n", "a.yaml:", ""},
		{"chart.yaml", "{{- if .Values.x }}\na: [\n{{ end }}\n", "", ""},
		{"a.toml", "[a]\nb = \"c\"\nd = 1979-05-27\n", "", ""},
		{"a.toml", "[a]\nb = \n", "a.toml:2:", ""},
		{"a.toml", "[a\n", "a.toml:1:", ""},
		{"a.json", "\xff\xfe{\x00}\x00", "", ""},                    // UTF-16
		{"a.yaml", "\xfe\xff\x00a\x00:\x00 \x00[", "a.yaml:1:", ""}, // likewise
		{"a.txt", "{", "", ""},
	} {
		t.Run(x.name, func(t *testing.T) {
			dir := project(t, x.name, x.text)
			var got []checker.Result
			c := start(t, checker.Config{})
			after := func() {
				t.Helper()
				got = nil
				for _, r := range c.AfterEdit(t.Context(), dir, []string{x.name}) {
					if r.Ecosystem == checker.Data {
						got = append(got, r)
					}
				}
			}
			if after(); x.at == "" {
				if len(got) > 0 {
					t.Fatalf("%q does not parse: %s", x.text, got[0].Text)
				}
				return
			}
			if len(got) != 1 || got[0].Outcome != checker.Found || len(got[0].Findings) != 1 || !strings.Contains(got[0].ForModel(), x.at) || !strings.Contains(got[0].Text, x.says) {
				t.Fatalf("%q: %+v", x.text, got)
			}
			if asked := c.Check(t.Context(), got[0].Root); asked.Outcome != checker.Found || got[0].Root != filepath.Join(dir, x.name) {
				t.Errorf("the file as a root: %+v", asked)
			}
			write(t, dir, x.name, "{}")
			if strings.HasSuffix(x.name, ".toml") {
				write(t, dir, x.name, "")
			}
			if after(); len(got) != 1 || got[0].Outcome != checker.Clean || len(got[0].Findings) > 0 {
				t.Fatalf("mended: %+v", got)
			}
			if after(); len(got) > 0 {
				t.Errorf("and again: %+v", got)
			}
		})
	}
}

func TestUnsavedDataIsParsed(t *testing.T) {
	dir := project(t, "go.mod", goMod, "a.json", "{}")
	path := dir + "/a.json"
	c := start(t, checker.Config{Unsaved: func() map[string]string { return map[string]string{path: "{"} }})
	got := c.AfterEdit(t.Context(), dir, []string{"a.json"})
	if last := got[len(got)-1]; last.Ecosystem != checker.Data || last.Outcome != checker.Found || len(got) != 2 {
		t.Errorf("%+v", got)
	}
}
