package tools

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// buffers is a workspace with open documents over a disk.
type buffers struct {
	*Disk
	mu      sync.Mutex
	docs    map[string]Document
	edits   []Edit
	onApply func(b *buffers, e Edit) error // runs before an edit is applied
}

func (b *buffers) Buffer(p string) (Document, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	d, ok := b.docs[p]
	return d, ok
}

func (b *buffers) Apply(ctx context.Context, e Edit) (Applied, error) {
	b.edits = append(b.edits, e)
	if b.onApply != nil {
		if err := b.onApply(b, e); err != nil {
			return Applied{}, err
		}
	}
	if !e.Open {
		return b.Disk.Apply(ctx, e)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	d, ok := b.docs[e.Path]
	if !ok || d.Text != e.Before {
		return Applied{}, ErrStale
	}
	b.docs[e.Path] = Document{Text: e.After}
	return Applied{Unsaved: true}, nil
}

// open makes a document of the editor's.
func (b *buffers) open(p, text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.docs[p] = Document{Text: text}
}

func newBuffers(t *testing.T, files map[string]string) (*world, *buffers) {
	t.Helper()
	b := &buffers{docs: map[string]Document{}}
	w := newWorld(t, files, func(c *Config) {
		b.Disk = c.Workspace.(*Disk)
		c.Workspace = b
	})
	return w, b
}

func TestTheOpenDocumentIsTheTruth(t *testing.T) {
	w, b := newBuffers(t, map[string]string{"a.txt": "one\ntwo\nthree\n"})
	b.open("a.txt", "one\ntwo\nuser\nthree\n")
	want(t, w.run(readOp("a.txt")), Completed, "one\ntwo\nuser\nthree\n")
	got := w.run(patchOp("a.txt", "@@ -1,1 +1,1 @@\n-one\n+ONE\n"))
	want(t, got, Completed, "patched a.txt: 1 line added, 1 removed", "not saved yet")
	if !got.Edit.Unsaved || got.Edit.Before != "one\ntwo\nuser\nthree\n" {
		t.Errorf("the change is %+v", got.Edit)
	}
	if d, _ := b.Buffer("a.txt"); d.Text != "ONE\ntwo\nuser\nthree\n" {
		t.Errorf("the buffer holds %q", d.Text)
	}
	if w.get("a.txt") != "one\ntwo\nthree\n" {
		t.Error("the disk was written under an unsaved buffer")
	}
	if e := b.edits[0]; e.Label != "turn 1" || !e.Open || e.Create {
		t.Errorf("the edit is %+v", e)
	}
	// A document that was never saved exists in the editor alone.
	b.open("new.txt", "draft\n")
	want(t, w.run(writeOp("new.txt", "x\n")), Failed, "read it first")
	want(t, w.run(readOp("new.txt")), Completed, "draft\n")
	want(t, w.run(writeOp("new.txt", "x\n")), Completed, "wrote new.txt")
}

// base is what the model read; now what the file holds when it edits.
func TestAFileThatChangedSinceItWasRead(t *testing.T) {
	const base = "1\n2\n3\n4\n5\n6\n7\n8\n"
	for _, tt := range []struct {
		name, now string
		op        Op
		state     State
		text      []string
		after     string
	}{
		{
			"Write elsewhere is rebased", "one\n2\n3\n4\n5\n6\n7\n8\n", writeOp("f", "1\n2\n3\n4\n5\n6\n7\neight\n"),
			Completed,
			[]string{"wrote f: 1 line added, 1 removed", "rebased"},
			"one\n2\n3\n4\n5\n6\n7\neight\n",
		},
		{
			"Patch elsewhere is rebased", "0\n1\n2\n3\n4\n5\n6\n7\n8\n", patchOp("f", "@@ -7,2 +7,2 @@\n 7\n-8\n+eight\n"),
			Completed,
			[]string{"patched f", "rebased"},
			"0\n1\n2\n3\n4\n5\n6\n7\neight\n",
		},
		{
			"Patch whose context changed is rebased", "1\n2\n3\n4\n5\nsix\n7\n8\n", patchOp("f", "@@ -6,3 +6,3 @@\n 6\n 7\n-8\n+eight\n"),
			Completed,
			[]string{"patched f", "rebased"},
			"1\n2\n3\n4\n5\nsix\n7\neight\n",
		},
		{
			"Write of the same line is refused", "1\n2\n3\nuser\n5\n6\n7\n8\n", writeOp("f", "1\n2\n3\nmodel\n5\n6\n7\n8\n"),
			Failed,
			[]string{"changed by someone else since you read it", "     4\tuser", "nothing was written"},
			"1\n2\n3\nuser\n5\n6\n7\n8\n",
		},
		{
			"Patch of the same line is refused", "1\n2\n3\nuser\n5\n6\n7\n8\n", patchOp("f", "@@ -4 +4 @@\n-4\n+model\n"),
			Failed,
			[]string{"changed by someone else since you read it", "     4\tuser"},
			"1\n2\n3\nuser\n5\n6\n7\n8\n",
		},
		{
			"Patch of the current text is applied", "1\n2\n3\nuser\n5\n6\n7\n8\n", patchOp("f", "@@ -4 +4 @@\n-user\n+model\n"),
			Completed,
			[]string{"patched f"},
			"1\n2\n3\nmodel\n5\n6\n7\n8\n",
		},
		{
			"Write that someone made already", "1\n2\n3\nmodel\n5\n6\n7\n8\n", writeOp("f", "1\n2\n3\nmodel\n5\n6\n7\n8\n"),
			Completed,
			[]string{"f is unchanged: someone else made the same change already"},
			"1\n2\n3\nmodel\n5\n6\n7\n8\n",
		},
		{
			"line endings changed meanwhile stay", "1\r\n2\r\n3\r\n4\r\n5\r\n6\r\n7\r\n8\r\n", writeOp("f", "1\n2\n3\n4\n5\n6\n7\neight\n"),
			Completed,
			[]string{"rebased"},
			"1\r\n2\r\n3\r\n4\r\n5\r\n6\r\n7\r\neight\r\n",
		},
	} {
		for _, where := range []string{"disk", "buffer"} {
			t.Run(tt.name+" on "+where, func(t *testing.T) {
				w, b := newBuffers(t, map[string]string{"f": base})
				set, get := func(s string) { w.put("f", s) }, func() string { return w.get("f") }
				if where == "buffer" {
					set = func(s string) { b.open("f", s) }
					get = func() string { d, _ := b.Buffer("f"); return d.Text }
					set(base)
				}
				want(t, w.run(readOp("f")), Completed, base)
				set(tt.now)
				got := w.run(tt.op)
				want(t, got, tt.state, tt.text...)
				if d := cmp.Diff(tt.after, get()); d != "" {
					t.Errorf("the file (-want +got):\n%s", d)
				}
				if tt.state == Failed && got.ReadHash != hashText(tt.now) {
					t.Error("the refusal showed the current text, but the model is not taken to know it")
				}
			})
		}
	}
}

func TestAModelCorrectsACollisionInOneRound(t *testing.T) {
	w := newWorld(t, map[string]string{"f": "1\n2\n3\n"})
	w.run(readOp("f"))
	w.put("f", "1\nuser\n3\n")
	want(t, w.run(writeOp("f", "1\nmodel\n3\n")), Failed, "user")
	want(t, w.run(writeOp("f", "1\nuser and model\n3\n")), Completed, "wrote f")
	if w.get("f") != "1\nuser and model\n3\n" {
		t.Errorf("the file holds %q", w.get("f"))
	}
}

func TestABigCollisionIsNotTakenForRead(t *testing.T) {
	long := strings.Repeat("x\n", 400)
	w := newWorld(t, map[string]string{"f": "a\n" + long})
	w.run(readOp("f"))
	w.put("f", "b\n"+strings.Repeat("y\n", 400))
	got := w.run(writeOp("f", "c\n"+long))
	want(t, got, Failed, "     1\tb", "read the file again")
	if got.ReadHash != "" || len(got.Text) > 3000 {
		t.Errorf("hash %q, %d bytes of text", got.ReadHash, len(got.Text))
	}
	want(t, w.run(writeOp("f", "c\n"+strings.Repeat("y\n", 400))), Failed, "changed by someone else")
}

func TestAStaleEditIsComputedAgain(t *testing.T) {
	w, b := newBuffers(t, map[string]string{"f": "1\n2\n3\n"})
	w.run(readOp("f"))
	times := 0
	b.onApply = func(b *buffers, _ Edit) error {
		if times++; times == 1 {
			w.put("f", "1\n2\n3\n4\n") // someone writes between the reading and the writing
		}
		return nil
	}
	want(t, w.run(writeOp("f", "one\n2\n3\n")), Completed, "rebased")
	if w.get("f") != "one\n2\n3\n4\n" || times != 2 {
		t.Errorf("after %d tries the file holds %q", times, w.get("f"))
	}
	b.onApply = func(*buffers, Edit) error { return ErrStale }
	times = len(b.edits)
	want(t, w.run(writeOp("f", "x\n2\n3\n4\n")), Failed, "changed by someone else all the time")
	if n := len(b.edits) - times; n != tries {
		t.Errorf("%d tries, want %d", n, tries)
	}
	b.onApply = func(*buffers, Edit) error { return errors.New("the editor shows other text") }
	got := w.run(writeOp("f", "x\n2\n3\n4\n"))
	want(t, got, Failed, "f was not changed: the editor shows other text")
	if got.Edit != nil {
		t.Error("a failed edit is recorded as a change")
	}
	b.onApply = nil
	want(t, w.run(writeOp("f", "x\n2\n3\n4\n")), Completed)
}

func TestWhatTheModelKnowsSurvivesAsHashes(t *testing.T) {
	w := newWorld(t, map[string]string{"same": "a\n", "moved": "a\n", "forgotten": "a\n"})
	for p := range map[string]bool{"same": true, "moved": true, "forgotten": true} {
		if got := w.run(readOp(p)); got.ReadHash != hashText("a\n") {
			t.Errorf("the hash is %q", got.ReadHash)
		}
	}
	known := w.Seen()
	known["forgotten"] = ""
	d, err := NewDisk(w.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if w.Executor, err = New(Config{Workspace: d}); err != nil {
		t.Fatal(err)
	}
	w.Remember(known)
	w.put("moved", "b\n")
	want(t, w.run(writeOp("same", "x\n")), Completed, "wrote same")
	want(t, w.run(writeOp("moved", "x\n")), Failed, "changed since you read it: read it again")
	want(t, w.run(writeOp("forgotten", "x\n")), Failed, "read it first")
	if d := cmp.Diff(map[string]string{"same": hashText("x\n"), "moved": hashText("a\n")}, w.Seen()); d != "" {
		t.Errorf("known (-want +got):\n%s", d)
	}
}

func TestMemoryIsBounded(t *testing.T) {
	var m memory
	big := strings.Repeat("x", rememberBytes/2)
	for _, p := range []string{"a", "b", "c"} {
		m.store(p, big+p)
	}
	if k, ok := m.lookup("a", "other"); !ok || k.hasText {
		t.Errorf("the oldest text is still stored: %t", k.hasText)
	}
	if k, ok := m.lookup("a", big+"a"); !ok || !k.hasText {
		t.Error("the oldest is not known by its hash")
	}
	if m.size > rememberBytes+len(big)+1 {
		t.Errorf("%d bytes are stored", m.size)
	}
}

func TestFilesThatAreNoTextAreNotChanged(t *testing.T) {
	latin := "k: 1\n# na\xefve\n"
	files := map[string]string{
		"latin": latin, "gbk": "k: 1\n\xd6\xd0\n", "cp1252": "k: 1\r\n\xa9\r\n", "cut": "k: 1\nx\xe2\x82",
		"utf16": "\xff\xfek\x00:", "bin": "\x7fELF\x00",
	}
	w := newWorld(t, files)
	want(t, w.run(readOp("latin")), Completed, "[this file is not UTF-8", "na\ufffdve")
	want(t, w.run(writeOp("latin", "k: 2\n# na\ufffdve\n")), Failed, "not UTF-8")
	for _, p := range []string{"latin", "gbk", "cp1252", "cut"} {
		want(t, w.run(patchOp(p, "@@ -1 +1 @@\n-k: 1\n+k: 2\n")), Completed)
		if got, want := w.get(p), strings.Replace(files[p], "1", "2", 1); got != want {
			t.Errorf("%s is %q, want %q", p, got, want)
		}
	}
	want(t, w.run(readOp("utf16")), Failed, "binary file of 5 bytes (damaged UTF-16 text)")
	want(t, w.run(readOp("bin")), Failed, "an ELF program")
	for _, p := range []string{"utf16", "bin"} {
		want(t, w.run(writeOp(p, "x")), Failed, "binary")
		want(t, w.run(patchOp(p, "@@ -1 +1 @@\n-k\n+x\n")), Failed, "binary")
		if w.get(p) != files[p] {
			t.Errorf("%s was changed", p)
		}
	}
	want(t, w.run(writeOp("x", "a\x00b")), Failed, "NUL")
	want(t, w.run(writeOp("untitled:Untitled-1", "x\n")), Failed, "a document without a file")
	if got := w.get("untitled:Untitled-1"); got != "<none>" {
		t.Errorf("a file of that name has %q", got)
	}
}

func TestPatchesThatMakeAFile(t *testing.T) {
	const diff = "--- /dev/null\n+++ b/n.txt\n@@ -0,0 +1,2 @@\n+a\n+b\n"
	w := newWorld(t, map[string]string{".env": "KEY=1\n"})
	want(t, w.run(patchOp("n.txt", diff)), Completed, "created n.txt: 2 lines")
	want(t, w.run(patchOp("n.txt", diff)), Completed, "already applied")
	want(t, w.run(patchOp("d/m.txt", "*** Begin Patch\n*** Add File: d/m.txt\n+a\n*** End Patch")), Completed, "created d/m.txt: 1 line")
	want(t, w.run(patchOp("open.txt", "@@ -0,0 +1 @@\n+a\n\\ No newline at end of file\n")), Completed)
	want(t, w.run(patchOp(".env", "*** Begin Patch\n*** Add File: .env\n+KEY=2\n*** End Patch")), Failed, ".env exists already")
	want(t, w.run(patchOp("missing.txt", "@@ -1 +1 @@\n-a\n+b\n")), Failed, "missing.txt does not exist, but the diff shows lines of it")
	for p, text := range map[string]string{"n.txt": "a\nb\n", "d/m.txt": "a\n", "open.txt": "a", ".env": "KEY=1\n", "missing.txt": "<none>"} {
		if got := w.get(p); got != text {
			t.Errorf("%s is %q, want %q", p, got, text)
		}
	}
}

func TestACancelledCallDoesNothing(t *testing.T) {
	w := newWorld(t, map[string]string{"f": "a\n"})
	w.run(readOp("f"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, op := range []Op{readOp("f"), writeOp("f", "b\n"), patchOp("f", "@@ -1 +1 @@\n-a\n+b\n"), execOp("touch", "g"), gitOp("status")} {
		want(t, w.Run(ctx, op, ""), Cancelled)
	}
	if w.get("f") != "a\n" || w.get("g") != "<none>" {
		t.Error("something was done")
	}
}

func TestWriteFileKeepsWhatItWasNotToldOf(t *testing.T) {
	w := newWorld(t, map[string]string{"f": "a\n"})
	root := w.ws.Root()
	for name, e := range map[string]Edit{
		"another text":       {Path: "f", Before: "b\n", After: "x"},
		"a start of it":      {Path: "f", Before: "a", After: "x"},
		"more than it":       {Path: "f", Before: "a\nb", After: "x"},
		"exists":             {Path: "f", Create: true, After: "x"},
		"is not there":       {Path: "g", Before: "", After: "x"},
		"is not there, deep": {Path: "g/h", Before: "", After: "x"},
	} {
		err := WriteFile(root, e)
		if err == nil || name != "is not there, deep" && !errors.Is(err, ErrStale) {
			t.Errorf("%s: %v, want ErrStale", name, err)
		}
	}
	if w.get("f") != "a\n" || w.get("g") != "<none>" {
		t.Error("something was written")
	}
	want(t, w.run(readOp(".")), Completed, "f")
	if got := w.run(readOp(".")).Text; got != "f" {
		t.Errorf("left behind: %s", got)
	}
}

func TestWhatTheModelHasNotSeenIsNotTakenForKnown(t *testing.T) {
	w := newWorld(t, map[string]string{"f": "1\n2\n3\n", "g": "1\n2\n3\n", "empty": ""})
	// A patch shows the model only its own lines.
	if got := w.run(patchOp("f", "@@ -1 +1 @@\n-1\n+one\n")); got.State != Completed || got.ReadHash != Unread {
		t.Errorf("the patch: %+v", got)
	}
	want(t, w.run(writeOp("f", "one\ntwo\n")), Failed, "read it first")
	// A rebased edit leaves lines of someone else's, which the model's next whole
	// text does not have.
	w.run(readOp("g"))
	w.put("g", "1\n2\n3\nuser\n")
	got := w.run(writeOp("g", "one\n2\n3\n"))
	want(t, got, Completed, "rebased")
	if got.ReadHash != hashText("one\n2\n3\n") {
		t.Errorf("the model's view is %q", got.ReadHash)
	}
	want(t, w.run(writeOp("g", "one\ntwo\n3\n")), Completed, "rebased")
	want(t, w.run(patchOp("g", "@@ -1 +1 @@\n-one\n+ONE\n")), Completed, "rebased")
	want(t, w.run(patchOp("g", "@@ -4 +4 @@\n-user\n+user!\n")), Completed)
	want(t, w.run(writeOp("g", "ONE\ntwo\nthree\n")), Completed, "rebased")
	if w.get("g") != "ONE\ntwo\nthree\nuser!\n" {
		t.Errorf("g holds %q", w.get("g"))
	}
	if got := w.run(writeOp("new", "x\n")); got.ReadHash != "" || got.Edit == nil {
		t.Errorf("a new file: %+v", got)
	}
	want(t, w.run(writeOp("empty", "x\n")), Completed, "wrote empty")
	want(t, w.run(writeOp("empty", "y\n")), Completed, "wrote empty")
}

func TestRememberTakesAnyNameOfAFile(t *testing.T) {
	posix(t)
	w := newWorld(t, map[string]string{"d/f": "a\n", "gone": "a\n"})
	link(t, w, "l", "d")
	w.Remember(map[string]string{w.dir + "/l/f": hashText("a\n"), "./gone": hashText("a\n")})
	w.Remember(map[string]string{"gone": Unread})
	want(t, w.run(writeOp("d/f", "b\n")), Completed)
	want(t, w.run(writeOp("gone", "b\n")), Failed, "read it first")
}
