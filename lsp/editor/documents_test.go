package editor

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
	if len(docs) != 1 || x.Text.String() != "x\nz\nb\nend\n" || x.Version != 3 || x.URI != "file:///w/%5Bid%5D/a" {
		t.Errorf("%d documents, %s version %d: %q", len(docs), x.URI, x.Version, x.Text)
	}
	if err := d.closed("file:///w/[id]/a"); err != nil || len(d.snapshot()) != 0 {
		t.Errorf("close by another spelling: %v, %d left", err, len(d.snapshot()))
	}
	if x.Text.String() != "x\nz\nb\nend\n" {
		t.Error("a snapshot changed after it was taken")
	}
}

// TestWhatTheFileHeldGoesWithTheBuffer: that nothing is unsaved goes with a text, and
// what the file held when it was in step stays while the person types.
func TestWhatTheFileHeldGoesWithTheBuffer(t *testing.T) {
	d := newDocuments()
	x := d.opened("file:///w/a", 1, "old\n")
	d.inStep(x, "old\n", true)
	if now := d.snapshot()[x.key]; !now.onDisk || !now.known || now.disk != "old\n" {
		t.Errorf("%+v, want it in step", now)
	}
	if err := d.changed(x.URI, 2, []text.Change{{Text: "new\n"}}, text.UTF16); err != nil {
		t.Fatal(err)
	}
	for _, late := range []func(){
		func() {},
		func() { d.inStep(x, "old\n", true) }, // by whoever looked before the change
		func() { d.giveUp(x) },
	} {
		late()
		if now := d.snapshot()[x.key]; now.onDisk || !now.known || now.disk != "old\n" {
			t.Errorf("%+v, want it unsaved over the old text", now)
		}
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
	if landed, states := d.landingState(w); !landed || states != 2 {
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
			if x := d.at(filepath.Join(dir, name)); x == nil || x.URI != uri {
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
			if got := d.snapshot()["untitled:x"].Text.String(); got != want {
				t.Fatalf("seed %d version %d: %q, want %q", seed, version, got, want)
			}
		}
	}
}

func TestADrivesLetterHasOneSpelling(t *testing.T) {
	d := newDocuments()
	d.opened("file:///c%3A/w/a.go", 1, "a")
	for i, uri := range []string{"file:///C:/w/a.go", "file:///c:/w/a.go", "file:///C%3a/w/a.go"} {
		if err := d.changed(uri, int32(i), []text.Change{{Text: uri}}, text.UTF16); err != nil {
			t.Error(err)
		}
	}
	if len(d.snapshot()) != 1 {
		t.Errorf("a drive's letter makes %d documents of one", len(d.snapshot()))
	}
}

// TestALostDocumentIsFoundByItsWholeTextAlone: after a change that could not be read
// another one that says where it goes heals nothing.
func TestALostDocumentIsFoundByItsWholeTextAlone(t *testing.T) {
	d := newDocuments()
	d.opened("file:///w/a", 1, "one\n")
	d.lose("file:///w/a")
	for i, tt := range []struct {
		change text.Change
		lost   bool
	}{
		{text.Change{Range: &protocol.Range{}, Text: "x"}, true},
		{text.Change{Text: "x"}, false},
	} {
		if err := d.changed("file:///w/a", int32(i), []text.Change{tt.change}, text.UTF16); err != nil {
			t.Fatal(err)
		}
		if x := d.named("file:///w/a"); x.lost != tt.lost {
			t.Errorf("change %d: lost %v", i, x.lost)
		}
	}
}

// TestOneFileUnderTwoLinks closes one of two documents of a file; the other is found
// under its real path.
func TestOneFileUnderTwoLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("symlinks need a privilege")
	}
	dir := t.TempDir()
	real := filepath.Join(dir, "real")
	if err := os.WriteFile(real, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	d := newDocuments()
	for _, name := range []string{"one", "two"} {
		link := filepath.Join(dir, name)
		if err := os.Symlink(real, link); err != nil {
			t.Fatal(err)
		}
		d.opened(text.URI(link), 1, name)
	}
	if err := d.closed(text.URI(filepath.Join(dir, "two"))); err != nil {
		t.Fatal(err)
	}
	if x := d.at(real); x == nil || x.Text.String() != "one" {
		t.Errorf("the file is %v, want the document that is open", x)
	}
}
