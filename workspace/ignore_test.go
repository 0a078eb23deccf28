package workspace

import (
	"strings"
	"testing"
)

func TestIgnore(t *testing.T) {
	files := map[string]string{
		".git/info/exclude": "secret.txt\n",
		".gitignore": "# a comment\n\n*.log\n!keep.log\r\n/build\nout/\ndoc/*.pdf\nfoo/**/bar\n**/cache\nlogs/**\n\\#hash\n\\!bang\ntrail   \nspace\\ \n[ab].c\n[!x]y\na?b\n" +
			"deep/er/\n",
		"sub/.gitignore":      "*.tmp\n!important.log\n/only\n!/build\n",
		"out/sub/.gitignore":  "!taken.txt\n",
		"node/.gitignore":     "*\n!.gitignore\n!src/\n",
		"node/src/.gitignore": "!*.js\n",
	}
	g := NewIgnore(func(p string) (string, bool) { text, ok := files[p]; return text, ok })
	for p, want := range map[string]bool{
		".":                      false,
		"a.log":                  true,
		"x/y/a.log":              true,
		"keep.log":               false,
		"x/keep.log":             false,
		"secret.txt":             true,
		"x/secret.txt":           true,
		"build/":                 true,
		"build/x":                true,
		"x/build":                false,
		"out":                    false, // a file of that name
		"out/":                   true,
		"x/out/y":                true,
		"out/sub/taken.txt":      true, // its directory is ignored
		"doc/a.pdf":              true,
		"doc/x/a.pdf":            false,
		"x/doc/a.pdf":            false,
		"foo/bar":                true,
		"foo/a/b/bar":            true,
		"foo/bart":               false,
		"a/b/cache":              true,
		"cache":                  true,
		"logs/":                  false,
		"logs/a/b":               true,
		"#hash":                  true,
		"!bang":                  true,
		"trail":                  true,
		"space ":                 true,
		"space":                  false,
		"a.c":                    true,
		"c.c":                    false,
		"zy":                     true,
		"xy":                     false,
		"aXb":                    true,
		"ab":                     false,
		"deep/er/x":              true,
		"x/deep/er/x":            false,
		"sub/a.tmp":              true,
		"a.tmp":                  false,
		"sub/important.log":      false,
		"sub/x/important.log":    false,
		"sub/only":               true,
		"sub/x/only":             false,
		"sub/build":              false,
		".git/config":            true,
		"x/.git/":                true,
		".github/workflows/a.ym": false,
		"node/a.js":              true,
		"node/.gitignore":        false,
		"node/src/":              false,
		"node/src/a.js":          false,
		"node/src/a.ts":          true,
	} {
		name, dir := strings.CutSuffix(p, "/")
		if got := g.Skips(name, dir); got != want {
			t.Errorf("%s: skipped %v, want %v", p, got, want)
		}
	}
}

func TestMatch(t *testing.T) {
	for _, tt := range []struct {
		glob, path string
		want       bool
	}{
		{"*.go", "a.go", true},
		{"*.go", "x/a.go", true},
		{"*.go", "a.god", false},
		{"x/*.go", "x/a.go", true},
		{"x/*.go", "x/y/a.go", false},
		{"./x/*.go", "x/a.go", true},
		{"**/*_test.go", "a_test.go", true},
		{"**/*_test.go", "x/y/a_test.go", true},
		{"x/**", "x/y/z", true},
		{"x/**", "x", false},
		{"x/**/z", "x/z", true},
		{"x/**/z", "x/a/b/z", true},
		{"*.{ts,tsx}", "a/b.tsx", true},
		{"*.{ts,tsx}", "a/b.js", false},
		{"{a,b}/{c,d}.go", "b/c.go", true},
		{"[a-c]?.txt", "bé.txt", true},
		{"[!a-c]*", "b", false},
		{"[", "[", false},
		{"[]]", "]", true},
		{`\*`, "*", true},
		{`\*`, "a", false},
		{"*a*a*a*a*b", strings.Repeat("a", 200), false},
		{"a*", "a", true},
		{"", "a", false},
		{"*", "a/b", true},
	} {
		if got := Match(tt.glob, tt.path); got != tt.want {
			t.Errorf("%s of %s: %v, want %v", tt.path, tt.glob, got, tt.want)
		}
	}
}
