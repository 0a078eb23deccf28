package lsp

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/lsp/lsptest"
	"github.com/agent-lsp/agent-lsp/lsp/text"
	"github.com/agent-lsp/agent-lsp/tools"
)

// TestWhatChangesBehindABufferIsNeitherLostNorStale has a command change or delete a
// file that is open, and an edit follow at once. Saves is an editor that writes what
// an edit touched, such as VS Code; none takes no edits.
func TestWhatChangesBehindABufferIsNeitherLostNorStale(t *testing.T) {
	const (
		start0  = "one\ntwo\nthree\n"
		sameLen = "one\nTWO\nthree\n"
		longer  = "one\ntwo and more\nthree\n"
	)
	saves, plain, none := lsptest.Options{SavesEdits: true}, lsptest.Options{}, lsptest.Options{NoApplyEdit: true}
	for _, tt := range []struct {
		name     string
		options  lsptest.Options
		at       string // what the file holds as it is opened; start0 when empty
		from, to string // what the person types and does not save
		disk     string // what the command makes of the file; "" deletes it
		read     string // what is read then; "" is nothing
		buffer   string // of the editor, after an edit of the first line
		after    string // on the disk, after it
		err      string // of the edit
	}{
		{name: "saves, clean", options: saves, disk: sameLen, read: sameLen, buffer: "ONE\nTWO\nthree\n", after: "ONE\nTWO\nthree\n"},
		{name: "saves, clean, another size", options: saves, disk: longer, read: longer, buffer: "ONE\ntwo and more\nthree\n", after: "ONE\ntwo and more\nthree\n"},
		{name: "saves, typed elsewhere", options: saves, from: "three", to: "typed", disk: sameLen, read: "one\nTWO\ntyped\n", buffer: "ONE\nTWO\ntyped\n", after: "ONE\nTWO\ntyped\n"},
		{
			name: "saves, typed in the same line", options: saves, from: "two", to: "typed", disk: sameLen, read: "one\ntyped\nthree\n", buffer: "one\ntyped\nthree\n", after: sameLen,
			err: "a.txt has changes in the editor that are not saved, and the file on the disk was changed since as well in the lines 2-2",
		},
		{
			name: "saves, bytes that the editor decodes", options: saves, at: "one\ncaf\xe9\n", from: "café\n", to: "café\ntyped\n", disk: "one\nth\xe9\n", read: "one\ncafé\ntyped\n", buffer: "one\ncafé\ntyped\n", after: "one\nth\xe9\n",
			err: "a.txt has changes in the editor that are not saved",
		},
		{name: "saves, deleted", options: saves, buffer: "made\n", after: "made\n"},
		{name: "saves, typed and deleted", options: saves, from: "three", to: "typed", read: "one\ntwo\ntyped\n", buffer: "ONE\ntwo\ntyped\n", after: "ONE\ntwo\ntyped\n"},
		{name: "does not save, clean", options: plain, disk: sameLen, read: sameLen, buffer: "ONE\nTWO\nthree\n", after: "ONE\nTWO\nthree\n"},
		{name: "does not save, typed elsewhere", options: plain, from: "three", to: "typed", disk: sameLen, read: "one\ntwo\ntyped\n", buffer: "ONE\ntwo\ntyped\n", after: sameLen},
		{name: "does not save, deleted", options: plain, buffer: "made\n", after: "made\n"},
		{name: "takes no edits, clean", options: none, disk: sameLen, read: sameLen, buffer: start0, after: "ONE\nTWO\nthree\n"},
		{name: "takes no edits, typed", options: none, from: "three", to: "typed", disk: sameLen, read: "one\ntwo\ntyped\n", buffer: "one\ntwo\ntyped\n", after: sameLen, err: "save it first"},
		{name: "takes no edits, deleted", options: none, buffer: start0, after: "made\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.at == "" {
				tt.at = start0
			}
			r := start(t, tt.options, map[string]string{"a.txt": tt.at})
			uri := text.URI(r.path("a.txt"))
			r.OpenText(uri, strings.ReplaceAll(tt.at, "\xe9", "é"), 1)
			if tt.from != "" {
				r.Replace(uri, tt.from, tt.to)
			}
			r.Barrier()
			if tt.disk == "" {
				if err := os.Remove(r.path("a.txt")); err != nil {
					t.Fatal(err)
				}
			} else {
				write(t, r.path("a.txt"), tt.disk)
			}
			d, ok := r.workspace().Buffer("a.txt")
			if d.Text != tt.read || ok != (tt.read != "") {
				t.Errorf("read %q, %v, want %q", d.Text, ok, tt.read)
			}
			e := tools.Edit{Path: "a.txt", Before: d.Text, After: strings.Replace(d.Text, "one", "ONE", 1), Open: ok, Create: !ok}
			if e.Create {
				e.After = "made\n"
			}
			_, err := r.workspace().Apply(t.Context(), e)
			if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("the edit gave %v, want %q", err, tt.err)
			}
			r.Barrier()
			if s, _ := r.Text(uri); s != tt.buffer {
				t.Errorf("the buffer holds %q, want %q", s, tt.buffer)
			}
			if s := r.read("a.txt"); s != tt.after {
				t.Errorf("the disk holds %q, want %q", s, tt.after)
			}
		})
	}
}

// TestAFileThatTheEditorReadsAgainIsInStep goes on typing after the editor followed
// the disk: nothing of it is a clash.
func TestAFileThatTheEditorReadsAgainIsInStep(t *testing.T) {
	r := start(t, lsptest.Options{SavesEdits: true}, map[string]string{"a.txt": before})
	uri := r.Open(r.path("a.txt"))
	r.Barrier()
	write(t, r.path("a.txt"), "one\nTWO\nthree\n")
	r.SetText(uri, "one\nTWO\nthree\n")
	r.Replace(uri, "three", "typed")
	r.Barrier()
	if _, err := r.workspace().Apply(t.Context(), r.edit("a.txt", "ONE\nTWO\ntyped\n")); err != nil {
		t.Fatal(err)
	}
	if s := r.read("a.txt"); s != "ONE\nTWO\ntyped\n" {
		t.Errorf("disk %q", s)
	}
}

// TestACancelledEditThatShowsIsTold cancels while the text is in the buffer and the
// editor has not replied: it asks the person, or saves slowly.
func TestACancelledEditThatShowsIsTold(t *testing.T) {
	for _, saves := range []bool{true, false} {
		r := start(t, lsptest.Options{Edits: lsptest.EditHold, SavesEdits: saves}, map[string]string{"a.txt": before})
		uri := r.Open(r.path("a.txt"))
		r.Barrier()
		e := r.edit("a.txt", after)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			_, err := r.workspace().Apply(ctx, e)
			done <- err
		}()
		r.WaitHeld(1)
		r.SetText(uri, after)
		r.Barrier()
		cancel()
		if err := <-done; err != nil {
			t.Errorf("saves %v: %v, though the text shows", saves, err)
		}
	}
}
