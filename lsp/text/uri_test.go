package text

import "testing"

func TestSpellingsOfOneDocumentShareAKey(t *testing.T) {
	for _, group := range [][]string{
		{"file:///w/%5Bid%5D/p.ts", "file:///w/%5bid%5d/p.ts", "file:///w/[id]/p.ts", "FILE:///w/./[id]/x/../p.ts", "file://localhost/w/[id]/p.ts", "file:/w/[id]/p.ts"},
		{"file:///c%3A/w/a.go", "file:///C:/w/a.go", "file:///c:/w/a.go", "file:///C%3a/w/a.go"},
		{"file:///w/caf%C3%A9", "file:///w/café", "file:///w/caf%c3%a9/"},
		{"file:///w/a%2Bb%26c", "file:///w/a+b&c"},
		{"file://Server/share/x", "file://server/share/x"},
		{"agent://session/1.md", "AGENT://session/1%2Emd"},
		{"untitled:Untitled-1", "untitled:Untitled%2D1"},
		{"file:///w/100%", "file:///w/100%25"},
	} {
		for _, u := range group {
			if Key(u) != Key(group[0]) {
				t.Errorf("%s has key %s, want that of %s: %s", u, Key(u), group[0], Key(group[0]))
			}
		}
	}
}

func TestDifferentDocumentsHaveDifferentKeys(t *testing.T) {
	seen := map[string]string{}
	for _, u := range []string{
		"file:///w/a", "file:///w/A", "file:///w/a%2520", "file:///w/a%20", "file://server/w/a", "file:///server/w/a",
		"git:/w/a", "agent:/w/a", "agent:/w%2Fa", "agent:/w/a?x", "agent:/w/a%3Fx", "untitled:a", "file:///w/a?x", "/w/a", "",
	} {
		if other, ok := seen[Key(u)]; ok {
			t.Errorf("%q and %q share the key %q", u, other, Key(u))
		}
		seen[Key(u)] = u
	}
}

func TestURIsAndPaths(t *testing.T) {
	for _, tt := range []struct {
		uri, path string
		windows   bool
		back      string // the spelling that the path gives; "" is uri itself
	}{
		{"file:///w/a%20b.go", "/w/a b.go", false, ""},
		{"file:///w/%5Bid%5D/p.ts", "/w/[id]/p.ts", false, ""},
		{"file:///w/a%23b%3Fc%25.go", "/w/a#b?c%.go", false, ""},
		{"file:///w/a.go?q#f", "/w/a.go", false, "file:///w/a.go"},
		{"file:///w/caf%C3%A9/", "/w/café", false, "file:///w/caf%C3%A9"},
		{"file:///", "/", false, ""},
		{"file:///C:/w", "/C:/w", false, "file:///C%3A/w"},
		{"file:///c%3A/w/a.go", `c:\w\a.go`, true, ""},
		{"file:///C:/w/a.go", `c:\w\a.go`, true, "file:///c%3A/w/a.go"},
		{"file:///c%3A/", `c:\`, true, ""},
		{"file://server/share/x%20y", `\\server\share\x y`, true, ""},
	} {
		got, err := pathOf(tt.uri, tt.windows)
		if err != nil || got != tt.path {
			t.Errorf("path of %s is %q, %v, want %q", tt.uri, got, err, tt.path)
		}
		want := tt.back
		if want == "" {
			want = tt.uri
		}
		if got := uriOf(tt.path, tt.windows); got != want {
			t.Errorf("URI of %s is %s, want %s", tt.path, got, want)
		}
	}
	for _, u := range []string{"untitled:a", "agent://session/1.md", "file://server/share/x", "file:a", "file:///a%00b", "", "/w/a"} {
		if p, err := pathOf(u, false); err == nil {
			t.Errorf("%q was taken for the path %q", u, p)
		}
	}
}

func FuzzURI(f *testing.F) {
	f.Add("/w/[id] é%#?")
	f.Fuzz(func(t *testing.T, name string) {
		p, err := pathOf(uriOf("/"+name, false), false)
		if err != nil {
			return
		}
		if again, err := pathOf(uriOf(p, false), false); err != nil || again != p {
			t.Fatalf("%q came back as %q, %v", p, again, err)
		}
		if Key(uriOf(p, false)) != Key("file://"+escape(p, "/")) {
			t.Fatalf("keys of %q differ", p)
		}
	})
}
