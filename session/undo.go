package session

import (
	"bytes"
	"context"
	"fmt"
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
	if err := s.work.applyAll(ctx, plan); err != nil {
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
	index, turn   uint64
	path          string
	created       bool
	before, after string
}

// edits are those that an undo request names, in order, and the files that
// commands changed in the same turn.
func (j *journal) edits(ctx context.Context, r UndoRequest) ([]madeEdit, []string, error) {
	results := map[uint64]*event.Result{}
	bases := map[uint64]string{}
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
			bases[p.ID] = p.Edit.Base
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
		made, err := restoreEdit(i, p, bases[p.ID])
		if err != nil {
			return nil, nil, err
		}
		out = append(out, made)
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
func restoreEdit(index uint64, p *event.Result, base string) (madeEdit, error) {
	made := madeEdit{index: index, turn: p.Turn, path: p.Edit.Path, created: p.Edit.Before == ""}
	fail := func(err error) (madeEdit, error) {
		return made, fmt.Errorf("cannot undo the edit of %s: its text before is not kept: %w", made.path, err)
	}
	if !made.created {
		var err error
		if made.before, err = inflate(base); err != nil {
			return fail(err)
		}
	}
	diff := p.Edit.Diff
	if p.Edit.Bytes != "" {
		var err error
		if diff, err = inflate(p.Edit.Bytes); err != nil {
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
	if hashOf(made.after) != p.Edit.After || !made.created && hashOf(made.before) != p.Edit.Before {
		return fail(fmt.Errorf("what was kept has another hash"))
	}
	return made, nil
}

// revert computes one edit a file that takes the edits back, the last one first.
func (w *workspace) revert(edits []madeEdit) ([]tools.Edit, error) {
	var plan []tools.Edit
	at := map[string]int{}
	for _, e := range slices.Backward(edits) {
		i, ok := at[e.path]
		if !ok {
			now, err := w.textNow(e.path)
			if err != nil {
				return nil, err
			}
			i = len(plan)
			at[e.path] = i
			plan = append(plan, now)
		}
		p := &plan[i]
		switch {
		case p.Delete:
			return nil, &ConflictError{Path: e.path, Why: "was made again since"}
		case e.created && p.After == e.after:
			p.Delete, p.After = true, ""
		case e.created:
			return nil, &ConflictError{Path: e.path, Why: "was created by this turn and changed since"}
		default:
			text, clashes := tools.Revert(p.After, e.before, e.after)
			if len(clashes) > 0 {
				return nil, &ConflictError{Path: e.path, Lines: clashes, Why: "was changed since"}
			}
			p.After = text
		}
	}
	return plan, nil
}

// textNow is an edit of a file that changes nothing yet.
func (w *workspace) textNow(path string) (tools.Edit, error) {
	if doc, ok := w.Buffer(path); ok {
		return tools.Edit{Path: path, Before: doc.Text, After: doc.Text, Open: true}, nil
	}
	text, err := tools.ReadText(w.Root(), path)
	if err != nil {
		return tools.Edit{}, &ConflictError{Path: path, Why: "cannot be read any more (" + err.Error() + ")"}
	}
	return tools.Edit{Path: path, Before: text, After: text}, nil
}

// applyAll performs the edits as one step where the editor can.
func (w *workspace) applyAll(ctx context.Context, edits []tools.Edit) error {
	ws := w.Workspace
	if b, ok := ws.(tools.Batcher); ok {
		return b.ApplyAll(ctx, edits)
	}
	for i, e := range edits {
		if _, err := ws.Apply(ctx, e); err != nil {
			return fmt.Errorf("%s: %w (%d of %d files were reverted before)", e.Path, err, i, len(edits))
		}
	}
	return nil
}
