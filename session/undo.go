package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/agent-lsp/agent-lsp/tools"
	"github.com/bluekeyes/go-gitdiff/gitdiff"
)

// ConflictError says that what was to be undone was changed since.
type ConflictError struct {
	Path  string
	Lines []tools.Lines // of the current text; none when the whole file is meant
	Why   string
}

func (e *ConflictError) Error() string {
	where := make([]string, len(e.Lines))
	for i, l := range e.Lines {
		where[i] = fmt.Sprintf("%d-%d", l.First, max(l.First, l.Last))
	}
	if len(where) == 0 {
		return fmt.Sprintf("cannot undo: %s %s; nothing was reverted", e.Path, e.Why)
	}
	return fmt.Sprintf("cannot undo: %s %s in lines %s; nothing was reverted", e.Path, e.Why, strings.Join(where, ", "))
}

// Undo reverts a turn's edits, or one of them, in the texts as they are now: what
// was typed elsewhere in the files stays. When any of it collides nothing is
// reverted and the error is a *ConflictError.
func (m *Manager) Undo(ctx context.Context, r UndoRequest) (Undone, error) {
	s, err := m.undoable(r)
	if err != nil {
		return Undone{}, err
	}
	s.undoing.Lock()
	defer s.undoing.Unlock()
	edits, touched, err := s.journal.edits(ctx, r)
	if err != nil {
		return Undone{}, err
	}
	turn := edits[len(edits)-1].turn
	plan, err := s.work.revert(edits)
	if err != nil {
		return Undone{}, err
	}
	for i := range plan {
		plan[i].Label = fmt.Sprintf("Undo agent turn %d", turn)
	}
	if err := tools.ApplyAll(ctx, s.work.Workspace, plan); err != nil {
		return Undone{}, fmt.Errorf("undo turn %d: %w", turn, err)
	}
	out := Undone{Session: s.id, Turn: turn, NotCovered: touched, Files: []string{}}
	note := &event.Note{Turn: turn, Model: true}
	seen := map[string]string{}
	for _, e := range plan {
		out.Files = append(out.Files, e.Path)
		seen[e.Path] = "" // the model has not seen the reverted text
	}
	s.tools.Remember(seen)
	for _, e := range edits {
		note.Undid = append(note.Undid, e.index)
	}
	note.Undid = slices.Compact(note.Undid)
	note.Text = fmt.Sprintf("the user undid the edits of turn %d in %s", turn, strings.Join(out.Files, ", "))
	if _, err := s.journal.record(ctx, note); err != nil {
		return out, fmt.Errorf("record the undo: %w", err)
	}
	return out, nil
}

// undoable is the session that an undo is about.
func (m *Manager) undoable(r UndoRequest) (*Session, error) {
	s, err := m.latest(r.Session, r.Root)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(s.running(), func(t RunningTurn) bool { return t.Doing != queuedDoing }) {
		return nil, &ArgumentError{"session", "a turn is running; cancel it or wait for its end, then undo"}
	}
	return s, nil
}

// madeEdit is an edit of the transcript that stands.
type madeEdit struct {
	index, turn      uint64 // of the result, which may have several
	path             string
	created, deleted bool
	before, after    string
}

// baseOf names the text before an edit: by its call and path.
type baseOf struct {
	call uint64
	path string
}

// edits are those that an undo request names, in order, and the files that
// commands changed in the same turn.
func (j *journal) edits(ctx context.Context, r UndoRequest) ([]madeEdit, []string, error) {
	results := map[uint64]*event.Result{}
	bases := map[baseOf]string{}
	var order []uint64
	undone := map[uint64]bool{}
	for e, err := range j.events(ctx, nil) {
		if err != nil {
			return nil, nil, fmt.Errorf("read the transcript: %w", err)
		}
		p, err := event.Decode(e.Payload.Data)
		if err != nil {
			return nil, nil, err
		}
		switch p := p.(type) {
		case *event.Result:
			if p.Edit != nil || len(p.Changed) > 0 {
				results[e.Index] = p
				order = append(order, e.Index)
			}
		case *event.Intent:
			bases[baseOf{p.ID, p.Edit.Path}] = p.Edit.Base
		case *event.Note:
			for _, i := range p.Undid {
				undone[i] = true
			}
		}
	}
	turn, err := chosenTurn(r, order, results, undone)
	if err != nil {
		return nil, nil, err
	}
	var out []madeEdit
	touched := []string{}
	for _, i := range order {
		p := results[i]
		if p.Turn != turn {
			continue
		}
		touched = append(touched, p.Changed...)
		if p.Edit == nil || undone[i] || r.Edit != nil && *r.Edit != i {
			continue
		}
		for _, e := range p.Edits() {
			made, err := restoreEdit(e, bases[baseOf{p.ID, e.Path}])
			if err != nil {
				return nil, nil, err
			}
			made.index, made.turn = i, p.Turn
			out = append(out, made)
		}
	}
	slices.Sort(touched)
	return out, slices.Compact(touched), nil
}

// chosenTurn is the turn of a request: of its edit, its own, or the last one with
// an edit that stands.
func chosenTurn(r UndoRequest, order []uint64, results map[uint64]*event.Result, undone map[uint64]bool) (uint64, error) {
	for _, i := range slices.Backward(order) {
		p := results[i]
		if p.Edit == nil || undone[i] {
			continue
		}
		switch {
		case r.Edit != nil && *r.Edit == i && (r.Turn == nil || *r.Turn == p.Turn),
			r.Edit == nil && r.Turn != nil && *r.Turn == p.Turn,
			r.Edit == nil && r.Turn == nil:
			return p.Turn, nil
		}
	}
	switch {
	case r.Edit != nil:
		return 0, &ArgumentError{"edit", fmt.Sprintf("event %d is no edit that stands", *r.Edit)}
	case r.Turn != nil:
		return 0, &ArgumentError{"turn", fmt.Sprintf("turn %d has no edit that stands", *r.Turn)}
	}
	return 0, &ArgumentError{"session", "it has no edit that stands"}
}

// restoreEdit rebuilds an edit's texts from the one that was kept and its diff.
func restoreEdit(e *event.Edit, base string) (madeEdit, error) {
	made := madeEdit{path: e.Path, created: e.Before == "", deleted: e.After == ""}
	fail := func(err error) (madeEdit, error) {
		return made, fmt.Errorf("cannot undo the edit of %s: its text before is not kept: %w", made.path, err)
	}
	if !made.created {
		var err error
		if made.before, err = inflate(base); err != nil {
			return fail(err)
		}
	}
	diff := e.Diff
	if e.Bytes != "" {
		var err error
		if diff, err = inflate(e.Bytes); err != nil {
			return fail(err)
		}
	}
	files, _, err := gitdiff.Parse(strings.NewReader(diff))
	if err != nil {
		return fail(err)
	}
	made.after = made.before
	if len(files) == 1 {
		var after bytes.Buffer
		if err := gitdiff.Apply(&after, strings.NewReader(made.before), files[0]); err != nil {
			return fail(err)
		}
		made.after = after.String()
	}
	if made.deleted {
		made.after = ""
	}
	if !made.deleted && hashOf(made.after) != e.After || !made.created && hashOf(made.before) != e.Before {
		return fail(fmt.Errorf("what was kept has another hash"))
	}
	return made, nil
}

// takenBack is the edit of one file that an undo makes. Gone says that nothing is there
// once the edits that were looked at so far are taken back.
type takenBack struct {
	tools.Edit
	gone bool
}

// revert computes one edit a file that takes the edits back, the last one first.
func (w *workspace) revert(edits []madeEdit) ([]tools.Edit, error) {
	var files []*takenBack
	at := map[string]*takenBack{}
	for _, e := range slices.Backward(edits) {
		f := at[e.path]
		if f == nil {
			var err error
			if f, err = w.fileNow(e.path, e.deleted); err != nil {
				return nil, err
			}
			at[e.path], files = f, append(files, f)
		}
		if err := f.revert(e); err != nil {
			return nil, err
		}
	}
	var plan []tools.Edit
	for _, f := range files {
		f.Delete = f.gone
		if !f.Create || !f.gone {
			plan = append(plan, f.Edit)
		}
	}
	return plan, nil
}

// revert takes one more edit back.
func (f *takenBack) revert(e madeEdit) error {
	switch {
	case e.deleted != f.gone:
		return &ConflictError{Path: e.path, Why: "was made again since"}
	case e.deleted:
		f.gone, f.After = false, e.before
	case e.created && f.After == e.after:
		f.gone, f.After = true, ""
	case e.created:
		return &ConflictError{Path: e.path, Why: "was created by this turn and changed since"}
	default:
		text, clashes := tools.Revert(f.After, e.before, e.after)
		if len(clashes) > 0 {
			return &ConflictError{Path: e.path, Lines: clashes, Why: "was changed since"}
		}
		f.After = text
	}
	return nil
}

// fileNow is an edit of a file that changes nothing yet. A file that was deleted may be
// gone.
func (w *workspace) fileNow(path string, deleted bool) (*takenBack, error) {
	if doc, ok := w.Buffer(path); ok {
		return &takenBack{Edit: tools.Edit{Path: path, Before: doc.Text, After: doc.Text, Open: true}}, nil
	}
	text, err := tools.ReadText(w.Root(), path)
	switch {
	case deleted && errors.Is(err, fs.ErrNotExist):
		return &takenBack{Edit: tools.Edit{Path: path, Create: true}, gone: true}, nil
	case err != nil:
		return nil, &ConflictError{Path: path, Why: "cannot be read any more (" + err.Error() + ")"}
	}
	return &takenBack{Edit: tools.Edit{Path: path, Before: text, After: text}}, nil
}
