package lsp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/lsp/lsptest"
	"github.com/agent-lsp/agent-lsp/lsp/text"
	"github.com/agent-lsp/agent-lsp/tools"
	"go.lsp.dev/protocol"
)

// edit is the edit of a file as a tool would compute it now.
func (r *rig) edit(name, after string) tools.Edit {
	r.t.Helper()
	e := tools.Edit{Path: name, After: after, Label: "turn 1"}
	if d, ok := r.workspace().Buffer(name); ok {
		e.Before, e.Open = d.Text, true
		return e
	}
	disk, err := tools.ReadText(r.workspace().Root(), name)
	e.Create, e.Before = errors.Is(err, os.ErrNotExist), disk
	return e
}

const (
	before = "one\ntwo\nthree\n"
	after  = "one\n2\nthree\n"
)

// TestADocumentWhoseChangeCannotBeReadIsNotEdited sends changes of which the server
// does not know what they did; the whole text, or opening it anew, repairs it.
func TestADocumentWhoseChangeCannotBeReadIsNotEdited(t *testing.T) {
	for name, repair := range map[string]func(*rig, string){
		"the whole text": func(r *rig, uri string) { r.Change(uri, text.Change{Text: before}) },
		"opened anew":    func(r *rig, uri string) { r.CloseDocument(uri); r.OpenText(uri, before, 1) },
	} {
		for _, e := range []tools.Edit{{After: after}, {Delete: true}} {
			t.Run(fmt.Sprintf("%s, deletion %v", name, e.Delete), func(t *testing.T) {
				r := start(t, lsptest.Options{}, map[string]string{"a.txt": before})
				uri := text.URI(r.path("a.txt"))
				r.OpenText(uri, before, 1)
				r.Notify("textDocument/didChange", `{"textDocument":{"uri":"`+uri+`","version":2},"contentChanges":[{"range":{"start":{"line":"x"}},"text":"?"}]}`)
				r.Barrier()
				e.Path, e.Before, e.Open = "a.txt", before, true
				if _, err := r.workspace().Apply(t.Context(), e); err == nil || !strings.Contains(err.Error(), "cannot be read: close it and open it again") {
					t.Errorf("the edit returned %v", err)
				}
				if got := r.read("a.txt"); got != before {
					t.Errorf("the file is %q", got)
				}
				repair(r, uri)
				r.Barrier()
				if _, err := r.workspace().Apply(t.Context(), e); err != nil {
					t.Errorf("after the repair: %v", err)
				}
			})
		}
	}
}

// TestAnEditOfAnOpenDocumentIsTrueToTheDocument plays what editors do with an
// edit: whatever they reply, the result says what the document then is.
func TestAnEditOfAnOpenDocumentIsTrueToTheDocument(t *testing.T) {
	for _, tt := range []struct {
		name    string
		options lsptest.Options
		how     lsptest.EditAnswer
		err     string // a part of the error, "" for success
		buffer  string
		disk    string
		unsaved bool
		further bool
		stale   bool // it is to be computed again from what is there
	}{
		{name: "change, then answer", how: lsptest.EditBefore, buffer: after, disk: after},
		{name: "answer, then change", how: lsptest.EditAfter, buffer: after, disk: after},
		{name: "change and no answer", how: lsptest.EditMute, buffer: after, disk: after},
		{name: "saved by the client", options: lsptest.Options{SavesEdits: true}, how: lsptest.EditBefore, buffer: after, disk: after},
		{name: "saved by the client, answer first", options: lsptest.Options{SavesEdits: true}, how: lsptest.EditAfter, buffer: after, disk: after},
		{name: "saved by the client, no answer", options: lsptest.Options{SavesEdits: true}, how: lsptest.EditMute, buffer: after, disk: after},
		{name: "no documentChanges", options: lsptest.Options{NoDocumentChanges: true}, how: lsptest.EditBefore, buffer: after, disk: after},
		{name: "no resource operations", options: lsptest.Options{NoCreate: true}, how: lsptest.EditBefore, buffer: after, disk: after},
		{name: "UTF-8", options: lsptest.Options{Encodings: []text.Encoding{text.UTF8}}, how: lsptest.EditBefore, buffer: after, disk: after},
		{name: "no metadata", options: lsptest.Options{Capabilities: []byte(`{"workspace":{"workspaceEdit":{"metadataSupport":false}}}`)}, how: lsptest.EditBefore, buffer: after, disk: after},
		{name: "true and nothing done", how: lsptest.EditSkip, err: "the editor said that it was applied, but its document (version 1) still holds the text from before", buffer: before, disk: before},
		{name: "true and another text", how: lsptest.EditOther, err: "but its document (version 2) holds another text, which differs from the edit's in line 3", buffer: "one\n2\n// put in by a hook\nthree\n", disk: before},
		{name: "formatted as it is saved", options: lsptest.Options{SavesEdits: true}, how: lsptest.EditFormatted, buffer: "formatted\n" + after, disk: "formatted\n" + after, further: true},
		{name: "formatted and not saved", how: lsptest.EditFormatted, buffer: "formatted\n" + after, disk: before, unsaved: true},
		{name: "half of it and false", how: lsptest.EditHalf, err: "holds another text", buffer: "one\n2three\n", disk: before, stale: true},
		{name: "refused", how: lsptest.EditRefuse, err: "the editor refused it (the editor refuses edits); its document (version 1) still holds the text from before", buffer: before, disk: before},
		{name: "error", how: lsptest.EditError, err: "the editor answered with an error", buffer: before, disk: before},
		{name: "no answer ever", how: lsptest.EditNever, err: "the editor did not answer within", buffer: before, disk: before},
		{name: "stale and refused", how: lsptest.EditTyped, err: "refused", buffer: "typed meanwhile\n" + before, disk: before, stale: true},
		{name: "stale and answered true", how: lsptest.EditTypedTrue, err: "holds another text, which differs from the edit's in line 1", buffer: "typed meanwhile\n" + before, disk: before},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.options.Edits = tt.how
			r := start(t, tt.options, map[string]string{"a.txt": before})
			uri := r.Open(r.path("a.txt"))
			r.Barrier()
			got, err := r.workspace().Apply(t.Context(), r.edit("a.txt", after))
			if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("error %v, want %q in it", err, tt.err)
			}
			if errors.Is(err, tools.ErrStale) != tt.stale {
				t.Errorf("%v: to be computed again: %v, want %v", err, !tt.stale, tt.stale)
			}
			if got.Unsaved != tt.unsaved || got.Further != tt.further {
				t.Errorf("%+v, want unsaved %v, further %v", got, tt.unsaved, tt.further)
			}
			r.Barrier()
			if s, _ := r.Text(uri); s != tt.buffer {
				t.Errorf("the buffer holds %q, want %q", s, tt.buffer)
			}
			if s := r.read("a.txt"); s != tt.disk {
				t.Errorf("the disk holds %q, want %q", s, tt.disk)
			}
			if d, ok := r.workspace().Buffer("a.txt"); !ok || d.Text != tt.buffer {
				t.Errorf("the server believes in %q, want %q", d.Text, tt.buffer)
			}
		})
	}
}

func TestAnEditIsOneMinimalLabelledChange(t *testing.T) {
	r := start(t, lsptest.Options{}, map[string]string{"a.txt": before})
	r.Open(r.path("a.txt"))
	r.Barrier()
	if _, err := r.workspace().Apply(t.Context(), r.edit("a.txt", after)); err != nil {
		t.Fatal(err)
	}
	got := string(r.WaitMethod("workspace/applyEdit", 0).Params)
	want := `{"label":"turn 1","edit":{"documentChanges":[{"textDocument":{"version":1,"uri":"` + text.URI(r.path("a.txt")) +
		`"},"edits":[{"range":{"start":{"line":1,"character":0},"end":{"line":2,"character":0}},"newText":"2\n"}]}]},"metadata":{"isRefactoring":true}}`
	if canonical(got) != canonical(want) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestOtherTextThanTheEditsBaseIsStale(t *testing.T) {
	r := start(t, lsptest.Options{}, map[string]string{"a.txt": before, "b.txt": before})
	uri := r.Open(r.path("a.txt"))
	r.Barrier()
	open := r.edit("a.txt", after)
	closed := r.edit("b.txt", after)
	created := r.edit("c.txt", "new\n")
	r.Replace(uri, "three", "THREE")
	r.Barrier()
	write(t, r.path("b.txt"), "changed\n")
	write(t, r.path("c.txt"), "")
	for _, e := range []tools.Edit{open, closed, created} {
		if _, err := r.workspace().Apply(t.Context(), e); !errors.Is(err, tools.ErrStale) {
			t.Errorf("%s: %v, want it to be stale", e.Path, err)
		}
	}
	r.CloseDocument(uri)
	r.Barrier()
	if _, err := r.workspace().Apply(t.Context(), open); !errors.Is(err, tools.ErrStale) {
		t.Errorf("closed meanwhile: %v", err)
	}
	r.Barrier()
	for _, m := range r.Traffic() {
		if m.Method == "workspace/applyEdit" {
			t.Errorf("a stale edit was sent: %s", m)
		}
	}
	if s := r.read("b.txt"); s != "changed\n" {
		t.Errorf("b.txt: %q", s)
	}
}

func TestUnsavedTextIsNeitherLostNorSaved(t *testing.T) {
	for _, saves := range []bool{false, true} {
		r := start(t, lsptest.Options{SavesEdits: saves}, map[string]string{"a.txt": before})
		uri := r.Open(r.path("a.txt"))
		r.Replace(uri, "one", "user")
		r.Barrier()
		got, err := r.workspace().Apply(t.Context(), r.edit("a.txt", "user\n2\nthree\n"))
		if err != nil {
			t.Fatal(err)
		}
		if s, _ := r.Text(uri); s != "user\n2\nthree\n" {
			t.Errorf("buffer %q", s)
		}
		want := before
		if saves {
			want = "user\n2\nthree\n"
		}
		if s := r.read("a.txt"); s != want || got.Unsaved == saves {
			t.Errorf("saves %v: disk %q, unsaved %v", saves, s, got.Unsaved)
		}
	}
}

func TestTheServerDoesNotWriteOverSomeoneElsesText(t *testing.T) {
	r := start(t, lsptest.Options{Edits: lsptest.EditHold}, map[string]string{"a.txt": before})
	uri := r.Open(r.path("a.txt"))
	r.Barrier()
	type result struct {
		tools.Applied
		err error
	}
	done := make(chan result, 1)
	e := r.edit("a.txt", after)
	go func() {
		got, err := r.workspace().Apply(context.Background(), e)
		done <- result{got, err}
	}()
	r.WaitHeld(1)
	write(t, r.path("a.txt"), "of a build step\n")
	r.Release(lsptest.EditBefore)
	got := <-done
	if got.err != nil || !got.Unsaved {
		t.Errorf("%+v, want it unsaved", got)
	}
	if s := r.read("a.txt"); s != "of a build step\n" {
		t.Errorf("disk %q", s)
	}
	if s, _ := r.Text(uri); s != after {
		t.Errorf("buffer %q", s)
	}
}

func TestTypingRightAfterAnEditDoesNotHideIt(t *testing.T) {
	r := start(t, lsptest.Options{Edits: lsptest.EditHold}, map[string]string{"a.txt": before})
	uri := r.Open(r.path("a.txt"))
	r.Barrier()
	e := r.edit("a.txt", after)
	done := make(chan error, 1)
	go func() {
		_, err := r.workspace().Apply(context.Background(), e)
		done <- err
	}()
	r.WaitHeld(1)
	line := protocol.Range{Start: at(1, 0), End: at(1, 3)}
	r.Change(uri, text.Change{Range: &line, Text: "2"}, text.Change{Range: &protocol.Range{}, Text: "typed\n"})
	r.Release(lsptest.EditSkip)
	if err := <-done; err != nil {
		t.Errorf("%v, though the text was there", err)
	}
	r.Barrier()
	if s := r.read("a.txt"); s != before {
		t.Errorf("disk %q: the buffer was not what is written", s)
	}
}

// TestWithoutApplyEditTheFileIsWrittenUnderTheBuffer but not under unsaved text.
func TestWithoutApplyEditTheFileIsWrittenUnderTheBuffer(t *testing.T) {
	r := start(t, lsptest.Options{NoApplyEdit: true}, map[string]string{"a.txt": before})
	uri := r.Open(r.path("a.txt"))
	r.Barrier()
	if _, err := r.workspace().Apply(t.Context(), r.edit("a.txt", after)); err != nil {
		t.Fatal(err)
	}
	// The next edit is of what was written, not of the buffer that the editor has
	// not read again yet.
	if _, err := r.workspace().Apply(t.Context(), r.edit("a.txt", after+"four\n")); err != nil {
		t.Fatal(err)
	}
	if s := r.read("a.txt"); s != after+"four\n" {
		t.Errorf("disk %q", s)
	}
	r.Replace(uri, "three", "typed")
	r.Barrier()
	if _, err := r.workspace().Apply(t.Context(), r.edit("a.txt", "x")); err == nil || !strings.Contains(err.Error(), "save it first") {
		t.Errorf("under unsaved text: %v", err)
	}
	if s := r.read("a.txt"); s != after+"four\n" {
		t.Errorf("disk %q", s)
	}
}

func TestEditsThroughASymlinkedRoot(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("symlinks need a privilege")
	}
	real := t.TempDir()
	link := filepath.Join(t.TempDir(), "link [x]")
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(real, "a.txt"), before)
	write(t, filepath.Join(real, "target.txt"), before)
	if err := os.Symlink("target.txt", filepath.Join(real, "alias.txt")); err != nil {
		t.Fatal(err)
	}
	r := startWith(t, lsptest.Options{Folders: []string{link}}, link, func(*Config) {})
	uri := "file://" + filepath.Join(link, "a.txt") // not as the server spells it
	r.OpenText(uri, before, 1)
	r.Barrier()
	for _, name := range []string{"a.txt", "alias.txt", "new.txt"} {
		if _, err := r.workspace().Apply(t.Context(), r.edit(name, after)); err != nil {
			t.Fatal(err)
		}
	}
	sent := string(r.WaitMethod("workspace/applyEdit", 0).Params)
	if !strings.Contains(sent, `"`+uri+`"`) {
		t.Errorf("the edit does not name the document as the client does: %s", sent)
	}
	if got := r.read("a.txt") + r.read("target.txt") + r.read("new.txt"); got != after+after+after {
		t.Errorf("disk %q", got)
	}
	if info, err := os.Lstat(filepath.Join(real, "alias.txt")); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link became %v, %v", info.Mode(), err)
	}
}

func TestAByteOrderMarkThatTheEditorHidesStays(t *testing.T) {
	r := start(t, lsptest.Options{}, map[string]string{"a.txt": "\uFEFF" + before})
	r.OpenText(text.URI(r.path("a.txt")), before, 1)
	r.Barrier()
	if unsaved := r.side().Unsaved(r.dir); len(unsaved) > 0 {
		t.Error("the buffer counts as unsaved")
	}
	if got, err := r.workspace().Apply(t.Context(), r.edit("a.txt", after)); err != nil || got.Unsaved {
		t.Fatalf("%+v, %v", got, err)
	}
	if s := r.read("a.txt"); s != "\uFEFF"+after {
		t.Errorf("disk %q", s)
	}
}

func TestACancelledEditEndsAndSaysWhatIsThere(t *testing.T) {
	r := start(t, lsptest.Options{Edits: lsptest.EditHold}, map[string]string{"a.txt": before})
	r.Open(r.path("a.txt"))
	r.Barrier()
	e := r.edit("a.txt", after)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := r.workspace().Apply(ctx, e)
		done <- err
	}()
	r.WaitHeld(1)
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "still holds the text from before") {
		t.Error(err)
	}
	r.WaitMethod("$/cancelRequest", 0)
}

// TestTwoServersOnOneFolder edit different lines of one file through two editors.
func TestTwoServersOnOneFolder(t *testing.T) {
	r := start(t, lsptest.Options{}, map[string]string{"a.txt": before})
	other := startWith(t, lsptest.Options{Folders: []string{r.dir}}, r.dir, func(*Config) {})
	uri := r.Open(r.path("a.txt"))
	r.Barrier()
	theirs := other.edit("a.txt", "1\ntwo\nthree\n")
	if _, err := r.workspace().Apply(t.Context(), r.edit("a.txt", after)); err != nil {
		t.Fatal(err)
	}
	if _, err := other.workspace().Apply(t.Context(), theirs); !errors.Is(err, tools.ErrStale) {
		t.Errorf("an edit of the text from before: %v", err)
	}
	if _, err := other.workspace().Apply(t.Context(), other.edit("a.txt", "1\n2\nthree\n")); err != nil {
		t.Error(err)
	}
	// The first editor's buffer is behind the disk now: an edit of it brings along
	// what the other one wrote.
	e := r.edit("a.txt", "1\n2\n3\n")
	got, err := r.workspace().Apply(t.Context(), e)
	if err != nil || got.Unsaved || e.Before != "1\n2\nthree\n" {
		t.Errorf("%+v of %q, %v", got, e.Before, err)
	}
	if s, _ := r.Text(uri); s != "1\n2\n3\n" || r.read("a.txt") != "1\n2\n3\n" {
		t.Errorf("buffer %q, disk %q", s, r.read("a.txt"))
	}
}

func canonical(s string) string {
	var v any
	_ = unmarshal(s, &v)
	return marshal(v)
}
