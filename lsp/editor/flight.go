package editor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/agent-lsp/agent-lsp/tools"
)

// stage is how far an edit that the client was asked for has come, by what its
// document or file shows. What the client answers is another matter.
type stage int

const (
	sent    stage = iota // the text from before still stands
	foreign              // another text stands: the person typed, or the client made something else of it
	landed               // the edit's text is there, or was
)

// flight is one edit on its way to its document.
type flight struct {
	w     *workspace
	edit  tools.Edit
	watch *landing

	stage     stage
	states    int     // of the document, that went by
	answered  *answer // what the client said; nil before
	cancelled bool    // nobody waits for it any more
	deadline  time.Time
	rest      time.Time // a foreign text is final when it stood until then
}

// awaitLanding waits for the text of an edit that was sent to the client.
func (w *workspace) awaitLanding(ctx context.Context, e tools.Edit, watch *landing, answers <-chan answer) error {
	f := &flight{w: w, edit: e, watch: watch}
	done := ctx.Done()
	for {
		if over, err := f.decide(ctx); over {
			return err
		}
		wait := time.NewTimer(w.editor.limits.Poll)
		select {
		case a := <-answers:
			if errors.Is(a.err, ErrGone) {
				wait.Stop()
				return orphaned(ctx, e)
			}
			f.answer(a)
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

// answer takes what the client said, which only says how long to look on.
func (f *flight) answer(a answer) {
	if f.cancelled {
		return
	}
	l := f.w.editor.limits
	f.answered, f.deadline, f.rest = &a, time.Now().Add(l.Landing), time.Now().Add(l.Settle)
}

// cancel looks on for a moment: the text may be on its way, and a client does not
// take back what it shows.
func (f *flight) cancel() {
	f.cancelled, f.deadline = true, time.Now().Add(f.w.editor.limits.Settle)
}

// decide looks at the document and reports whether the edit's fate is known: nil is
// that it landed.
func (f *flight) decide(ctx context.Context) (over bool, err error) {
	f.look()
	late := !time.Now().Before(f.deadline)
	switch {
	case f.stage == landed:
		return f.decideLanded(late), nil
	case f.cancelled && late:
		return true, fmt.Errorf("edit of %s: %w while waiting for the editor; %s", f.edit.Path, ctx.Err(), f.w.look(f.edit))
	case f.cancelled || f.answered == nil:
		return false, nil
	}
	final := (f.answered.refused() || f.stage == foreign) && !time.Now().Before(f.rest)
	if late || final {
		return true, f.w.missed(f.edit, *f.answered)
	}
	return false, nil
}

// decideLanded reports whether an edit whose text is there needs no further look:
// the client's answer may still bring that it was saved, too.
func (f *flight) decideLanded(late bool) bool {
	if f.deadline.IsZero() {
		f.deadline = time.Now().Add(f.w.editor.limits.Settle)
		if f.w.editor.client.SavesEdits() {
			f.deadline = time.Now().Add(f.w.editor.limits.Landing)
		}
		return false
	}
	return f.cancelled || f.answered != nil || late
}

// look brings the stage up to date.
func (f *flight) look() {
	l, states := f.w.editor.docs.seen(f.watch)
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
