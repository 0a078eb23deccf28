package tools

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-lsp/agent-lsp/core/abi"
)

// fileEdit is one of several edits that are made together: all or none.
type fileEdit struct {
	name string // as the model gave it
	make drafter
}

// prepareAll computes all edits, and applies nothing. It leaves out those that would
// change nothing.
func (e editor) prepareAll(edits []fileEdit) (drafts []draft, err error) {
	for _, f := range edits {
		d, err := e.prepare(f.name, f.make)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(drafts, func(o draft) bool { return o.path == d.path }) {
			return nil, fmt.Errorf("two of the files are %s", d.path)
		}
		if !d.unchanged() {
			drafts = append(drafts, d)
		}
	}
	return drafts, nil
}

// editAll makes several edits, all or none, and tries again when a text changes
// meanwhile.
func (e editor) editAll(ctx context.Context, label string, edits []fileEdit) Outcome {
	for range tries {
		drafts, err := e.prepareAll(edits)
		switch {
		case ctx.Err() != nil:
			return cancelled()
		case err != nil && len(edits) > 1:
			return refused(fmt.Errorf("nothing was changed in any file: %w", err))
		case err != nil:
			return refused(err)
		case len(drafts) == 0:
			return Outcome{State: Completed, Text: "nothing is changed: all files are as the patch makes them"}
		}
		out := outcomeOfAll(drafts)
		var all []Edit
		for _, d := range drafts {
			all = append(all, d.edit(label, out.Text))
		}
		err = ApplyAll(ctx, e.ws, all)
		switch {
		case errors.Is(err, ErrStale):
			continue
		case err != nil && ctx.Err() != nil:
			return cancelled()
		case err != nil:
			return failf("nothing was changed in any file: %s", err)
		}
		for i, c := range out.Changes() {
			if c.Deleted {
				e.seen.restore(map[string]string{c.Path: ""})
				continue
			}
			c.ReadHash = e.rememberEdit(drafts[i])
		}
		return out
	}
	return failf("nothing was changed in any file: one is being changed by someone else all the time")
}

// outcomeOfAll returns the outcome of edits that were made together.
func outcomeOfAll(drafts []draft) Outcome {
	out := Outcome{State: Completed}
	var texts []string
	for _, d := range drafts {
		one := editOutcome(d, Applied{})
		texts = append(texts, one.Text)
		if out.Edit == nil {
			out.Edit = one.Edit
		} else {
			out.More = append(out.More, one.Edit)
		}
	}
	out.Text = strings.Join(texts, "\n")
	return out
}

// decideAll decides a call that makes several edits: what one of them needs, all need.
func (e decider) decideAll(family Family, edits []fileEdit) Decision {
	_, failing := e.editor().prepareAll(edits)
	var out Decision
	var titles, details, guarded []string
	for i, f := range edits {
		d := e.decideEdit(family, f.name, f.make)
		if !contained(f.name) {
			d.Verdict, d.Reason = Deny, abi.Refused(f.name)
		}
		if d.Verdict == Deny {
			return d
		}
		if i == 0 {
			out = d
		}
		if d.Verdict == Ask {
			out.Verdict = Ask
		}
		titles = append(titles, d.Title)
		details = append(details, d.Detail)
		if len(d.Lasting.Rule.Match) > 0 {
			out.Lasting = d.Lasting
			guarded = append(guarded, d.Lasting.Rule.Match...)
		}
	}
	if failing != nil { // the call itself tells the model why
		out.Verdict = Allow
	}
	if len(edits) == 1 {
		return out
	}
	if len(guarded) > 0 {
		out.Lasting = Lasting{Words: "every edit of " + strings.Join(guarded, ", "), Rule: Rule{FamilyWrite, guarded}}
	}
	const shown = 4
	if n := len(titles); n > shown {
		titles = append(titles[:shown:shown], fmt.Sprintf("and %d more files", n-shown))
	}
	out.Title = strings.Join(titles, ", ")
	out.Detail = strings.Join(details, "\n")
	return out
}
