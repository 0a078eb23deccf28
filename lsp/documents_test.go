package lsp

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/agent-lsp/agent-lsp/lsp/text"
	"go.lsp.dev/protocol"
)

func at(line, character uint32) protocol.Position {
	return protocol.Position{Line: line, Character: character}
}

func TestChangesApplyOneAfterTheOther(t *testing.T) {
	d := newDocuments()
	d.opened("file:///w/%5Bid%5D/a", 1, "a\nb\nc")
	change := func(uri string, version int32, changes ...text.Change) {
		t.Helper()
		if err := d.changed(uri, version, changes, text.UTF16); err != nil {
			t.Fatal(err)
		}
	}
	change("file:///w/[id]/a", 2,
		text.Change{Range: &protocol.Range{Start: at(0, 0), End: at(0, 1)}, Text: "x\ny"},
		text.Change{Range: &protocol.Range{Start: at(1, 0), End: at(1, 1)}, Text: "z"})
	change("file:///w/%5bid%5d/a", 3, text.Change{Range: &protocol.Range{Start: at(3, 0), End: at(9, 0)}, Text: "end\n"})
	docs := d.snapshot()
	x := docs[text.Key("file:///w/[id]/a")]
	if len(docs) != 1 || x.doc.String() != "x\nz\nb\nend\n" || x.version != 3 || x.uri != "file:///w/%5Bid%5D/a" {
		t.Errorf("%d documents, %s version %d: %q", len(docs), x.uri, x.version, x.doc)
	}
	if err := d.closed("file:///w/[id]/a"); err != nil || len(d.snapshot()) != 0 {
		t.Errorf("close by another spelling: %v, %d left", err, len(d.snapshot()))
	}
	if x.doc.String() != "x\nz\nb\nend\n" {
		t.Error("a snapshot changed after it was taken")
	}
}

// TestAnEditIsSeenAmongOtherChanges looks at every state on the way, in one
// notification or in several.
func TestAnEditIsSeenAmongOtherChanges(t *testing.T) {
	d := newDocuments()
	d.opened("file:///w/a", 1, "old\n")
	w := d.watch("/w/a", "new\n")
	defer d.unwatch(w)
	line := &protocol.Range{Start: at(0, 0), End: at(0, 3)}
	if err := d.changed("file:///w/a", 2, []text.Change{{Range: line, Text: "new"}, {Range: &protocol.Range{Start: at(1, 0), End: at(1, 0)}, Text: "typed"}}, text.UTF16); err != nil {
		t.Fatal(err)
	}
	if landed, states := d.seen(w); !landed || states != 2 {
		t.Errorf("landed %v in %d states, want it to be seen in 2", landed, states)
	}
}

func TestABufferIsFoundThroughSymlinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("symlinks need a privilege")
	}
	real := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(real, "a"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	d := newDocuments()
	for _, name := range []string{"a", "not there yet"} {
		uri := text.URI(filepath.Join(link, name))
		d.opened(uri, 1, "x")
		for _, dir := range []string{link, real} {
			if x := d.at(filepath.Join(dir, name)); x == nil || x.uri != uri {
				t.Errorf("%s under %s: %v", name, dir, x)
			}
		}
	}
}

// TestRandomChangesAgreeWithWholeTexts compares ranged changes with a reference
// that knows whole texts only.
func TestRandomChangesAgreeWithWholeTexts(t *testing.T) {
	pieces := []string{"", "a", "é", "😀", "\n", "\r\n", "\r", "line\n", "x\ty", "漢字\n"}
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		d := newDocuments()
		d.opened("untitled:x", 0, "start\n")
		want := "start\n"
		for version := int32(1); version < 60; version++ {
			var changes []text.Change
			for range 1 + r.IntN(3) {
				doc := text.New(want)
				rg := protocol.Range{Start: doc.Position(r.IntN(len(want)+1), text.UTF16), End: doc.Position(r.IntN(len(want)+1), text.UTF16)}
				start, end := doc.Span(rg, text.UTF16)
				piece := pieces[r.IntN(len(pieces))]
				changes = append(changes, text.Change{Range: &rg, Text: piece})
				want = want[:start] + piece + want[end:]
			}
			if err := d.changed("untitled:x", version, changes, text.UTF16); err != nil {
				t.Fatal(err)
			}
			if got := d.snapshot()["untitled:x"].doc.String(); got != want {
				t.Fatalf("seed %d version %d: %q, want %q", seed, version, got, want)
			}
		}
	}
}
