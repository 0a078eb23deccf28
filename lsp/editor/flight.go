package editor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/agent-lsp/agent-lsp/tools"
)

// stage is the progress of an edit that was sent to the client, by the text of its
// document or file, whatever the client replies.
type stage int

const (
	sent    stage = iota // the text is still the one from before
	foreign              // the text is another one: the person typed, or the client changed the edit
	landed               // the edit's text is there, or was
)

// flight is one edit on its way to its document.
type flight struct {
	w     *workspace
	edit  tools.Edit
	watch *landing

	stage     stage
	states    int    // how many states the document has had
	reply     *reply // of the client; nil before it came
	cancelled bool   // the caller no longer waits
	deadline  time.Time
	rest      time.Time // a foreign text is final if it has not changed until then
}

// awaitLanding waits for the text of an edit that was sent to the client.
func (w *workspace) awaitLanding(ctx context.Context, e tools.Edit, watch *landing, replies <-chan reply) error {
	f := &flight{w: w, edit: e, watch: watch}
	done := ctx.Done()
	for {
		if over, err := f.decide(ctx); over {
			return err
		}
		wait := time.NewTimer(w.editor.limits.Poll)
		select {
		case r := <-replies:
			if errors.Is(r.err, ErrGone) {
				wait.Stop()
				return orphaned(ctx, e)
			}
			f.receive(r)
		case <-watch.wake:
		case <-wait.C:
		case <-done:
			done = nil
			f.cancel()
		case <-w.editor.client.Gone():
			wait.Stop()
			return orphaned(ctx, e)
		}
		wait.Stop()
	}
}

// receive stores the client's reply, which only decides how long to wait.
func (f *flight) receive(r reply) {
	if f.cancelled {
		return
	}
	l := f.w.editor.limits
	f.reply, f.deadline, f.rest = &r, time.Now().Add(l.Landing), time.Now().Add(l.Settle)
}

// cancel ends the wait after a moment: the text may still arrive, and a client does
// not revert it.
func (f *flight) cancel() {
	f.cancelled, f.deadline = true, time.Now().Add(f.w.editor.limits.Settle)
}

// decide checks the document and reports whether the edit's outcome is known: err is
// nil if it landed.
func (f *flight) decide(ctx context.Context) (over bool, err error) {
	f.observe()
	late := !time.Now().Before(f.deadline)
	switch {
	case f.stage == landed:
		return f.decideLanded(late), nil
	case f.cancelled && late:
		return true, fmt.Errorf("edit of %s: %w while waiting for the editor; %s", f.edit.Path, ctx.Err(), f.w.describe(f.edit))
	case f.cancelled || f.reply == nil:
		return false, nil
	}
	final := (f.reply.refused() || f.stage == foreign) && !time.Now().Before(f.rest)
	if late || final {
		return true, f.w.missed(f.edit, *f.reply)
	}
	return false, nil
}

// decideLanded reports whether an edit whose text is there is finished: the client's
// reply may still be needed to know that the file was saved, too.
func (f *flight) decideLanded(late bool) bool {
	if f.deadline.IsZero() {
		f.deadline = time.Now().Add(f.w.editor.limits.Settle)
		if f.w.editor.client.SavesEdits() {
			f.deadline = time.Now().Add(f.w.editor.limits.Landing)
		}
		return false
	}
	return f.cancelled || f.reply != nil || late
}

// observe updates the stage.
func (f *flight) observe() {
	l, states := f.w.editor.docs.landingState(f.watch)
	if states != f.states {
		f.states, f.rest = states, time.Now().Add(f.w.editor.limits.Settle)
	}
	f.stage = sent
	x := f.w.document(f.edit.Path)
	switch {
	case f.edit.Delete:
		l = f.w.disk.removed(f.edit)
	case x != nil:
		now := x.Text.String()
		l = l || now == f.edit.After
		if now != f.edit.Before && (!f.edit.Create || now != "\n") {
			f.stage = foreign
		}
	case !l:
		disk, err := f.w.disk.read(f.edit.Path)
		l = err == nil && disk == f.edit.After
	}
	if l {
		f.stage = landed
	}
}
