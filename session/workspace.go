package session

import (
	"bytes"
	"compress/flate"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/agent-lsp/agent-lsp/tools"
	"github.com/aymanbagabas/go-udiff"
)

// maxBase bounds the text before an edit that is kept for undo, in bytes.
const maxBase = 8 << 20

// workspace journals what an edit is about to do before the editor does it, so
// that a resume after a crash sees from the file whether it was done.
type workspace struct {
	tools.Workspace
	journal *journal

	mu         sync.Mutex // guards the call whose edits come through
	turn, call uint64
}

// begin names the call whose edits follow; calls that change something run one
// at a time.
func (w *workspace) begin(turn, call uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.turn, w.call = turn, call
}

// Opened implements tools.Opener.
func (w *workspace) Opened() []string {
	if o, ok := w.Workspace.(tools.Opener); ok {
		return o.Opened()
	}
	return nil
}

// Apply implements tools.Workspace.
func (w *workspace) Apply(ctx context.Context, e tools.Edit) (tools.Applied, error) {
	if _, err := w.journal.record(ctx, w.intent(e)); err != nil {
		return tools.Applied{}, fmt.Errorf("journal the edit of %s: %w", e.Path, err)
	}
	return w.Workspace.Apply(ctx, e)
}

// ApplyAll implements tools.Batcher. All intents are in the transcript, in one append,
// before the first edit is made.
func (w *workspace) ApplyAll(ctx context.Context, edits []tools.Edit) error {
	var intents []event.Payload
	for _, e := range edits {
		intents = append(intents, w.intent(e))
	}
	if _, err := w.journal.record(ctx, intents...); err != nil {
		return fmt.Errorf("journal the edits of %d files: %w", len(edits), err)
	}
	return tools.ApplyAll(ctx, w.Workspace, edits)
}

// intent is the event of an edit that is about to be made.
func (w *workspace) intent(e tools.Edit) *event.Intent {
	w.mu.Lock()
	defer w.mu.Unlock()
	ev := &event.Intent{Turn: w.turn, ID: w.call, Text: e.Told, Edit: editEvent(e.Path, e.Create, e.Delete, e.Before, e.After)}
	// What undo and resume need is kept here, once; the result has the diff.
	if !e.Create && len(e.Before) <= maxBase {
		ev.Edit.Base = deflate(e.Before)
	}
	return ev
}

// resultOf is a call's outcome as the transcript keeps it.
func resultOf(t *turn, c *call, out tools.Outcome) *event.Result {
	r := &event.Result{
		Turn: t.id, ID: c.id, Call: c.index, State: event.State(out.State), Text: out.Text,
		Read: out.ReadHash, Changed: out.Touched,
	}
	for i, ch := range out.Changes() {
		e := editEvent(ch.Path, ch.Created, ch.Deleted, ch.Before, ch.After)
		e.Diff = udiff.Unified("a/"+ch.Path, "b/"+ch.Path, ch.Before, ch.After)
		if !utf8.ValidString(e.Diff) {
			e.Bytes = deflate(e.Diff)
		}
		e.Read = ch.ReadHash
		if i == 0 {
			r.Edit = e
		} else {
			r.More = append(r.More, e)
		}
	}
	return r
}

// editEvent is an edit as the transcript keeps it.
func editEvent(path string, created, deleted bool, before, after string) *event.Edit {
	e := &event.Edit{Path: path}
	if !created {
		e.Before = hashOf(before)
	}
	if !deleted {
		e.After = hashOf(after)
	}
	return e
}

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func deflate(text string) string {
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.DefaultCompression)
	if err != nil {
		panic(err) // only a bad level fails
	}
	io.WriteString(w, text) //nolint:errcheck // a bytes.Buffer takes everything
	w.Close()               //nolint:errcheck // likewise
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

func inflate(base string) (string, error) {
	raw, err := base64.StdEncoding.DecodeString(base)
	if err != nil {
		return "", fmt.Errorf("decode the text before an edit: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(raw)), maxBase+1))
	if err != nil {
		return "", fmt.Errorf("inflate the text before an edit: %w", err)
	}
	return string(text), nil
}

// sortedCalls returns the outstanding calls in the order of their ids.
func sortedCalls(calls map[uint64]*call) []*call {
	out := make([]*call, 0, len(calls))
	for _, c := range calls {
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b *call) int { return int(int64(a.id) - int64(b.id)) })
	return out
}

// remove returns the queue without t, in a new slice.
func remove(queue []*turn, t *turn) []*turn {
	return slices.DeleteFunc(slices.Clone(queue), func(o *turn) bool { return o == t })
}
