package tools

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// patchTool is the tool patch.
type patchTool struct{ *Executor }

type patchArgs struct {
	Path string `json:"path" about:"relative to the workspace root"`
	Diff string `json:"diff" about:"unified diff with @@ hunks and three lines of context"`
}

func (patchTool) Definition() Definition {
	return Define[patchArgs]("patch", "Change one file by a unified diff. Context lines must match the file exactly and in one place only; all hunks apply or none.", Write)
}

func (t patchTool) Decide(ctx context.Context, c Call) Decision {
	op := Arguments[patchArgs](c)
	return t.decideEdit(ctx, FamilyPatch, op.Path, t.draft(ctx, op))
}

func (t patchTool) Run(ctx context.Context, c Call) Outcome {
	op := Arguments[patchArgs](c)
	return t.edit(ctx, op.Path, c.Label, t.draft(ctx, op))
}

// draft returns a drafter that applies a unified diff.
func (t patchTool) draft(ctx context.Context, op patchArgs) drafter {
	return func(f file) (draft, error) {
		d := draft{verb: "patched"}
		given, err := relative(t.ws.Dir(), op.Path)
		if err != nil {
			return d, err
		}
		diff, err := parseDiff(op.Diff, given)
		if err != nil {
			return d, fmt.Errorf("%s was not patched: %w", f.path, err)
		}
		if !f.exists {
			d.verb = "created"
			d.after, err = newText(f.path, diff)
			if err != nil {
				return d, fmt.Errorf("%w%s", err, nearNames(ctx, t.ws, f.path))
			}
			d.view, d.known = d.after, true
			return d, nil
		}
		if err := textOnly(f); err != nil {
			return d, err
		}
		if diff.create && f.text != "" {
			if text, err := newText(f.path, diff); err == nil && text == f.text {
				d.after, d.note = f.text, "the patch is already applied"
				d.view, d.known = text, true
				return d, nil
			}
			return d, fmt.Errorf("%s exists already, but the diff makes a new file; nothing was applied", f.path)
		}
		d, err = t.patched(d, f, diff)
		if errors.Is(err, errApplied) {
			d.after, d.note = f.text, "the patch is already applied"
			return d, nil
		}
		if err == nil && d.after == f.text && d.note == "" {
			d.note = "the patch changes nothing"
		}
		return d, err
	}
}

// patched applies a diff to a file that may have changed since the model read it.
// Then the diff is applied to the text that the model knows, if it fits there.
func (t patchTool) patched(d draft, f file, diff fileDiff) (draft, error) {
	k, ok := t.seen.lookup(f.path, f.text)
	moved := ok && k.hash != hashText(f.text)
	var clash error
	if moved && k.hasText {
		if wanted, err := applyDiff(k.text, diff); err == nil {
			d.after, d.view, d.known = wanted, wanted, true
			merged, places := merge3(k.text, f.text, wanted)
			if len(places) == 0 {
				d.after, d.note = merged, rebased
				if merged == f.text {
					d.note = "someone else made the same change already"
				}
				return d, nil
			}
			if _, err := applyDiff(f.text, diff); err != nil {
				clash = collision(f, k.text, places)
			}
		}
	}
	if clash != nil {
		return d, clash
	}
	d.view, d.known = k.text, ok && k.hasText // what it knows of a file that moved on stays
	after, err := applyDiff(f.text, diff)
	if err != nil {
		if moved && !errors.Is(err, errApplied) {
			return d, fmt.Errorf("%s was changed since you read it, and %w", f.path, err)
		}
		if !errors.Is(err, errApplied) {
			err = fmt.Errorf("%s was not patched: %w", f.path, err)
		}
		return d, err
	}
	d.after = after
	if moved {
		d.note = rebased
	} else {
		d.view = after
	}
	return d, nil
}

// newText returns the text of a file that a diff creates.
func newText(p string, d fileDiff) (string, error) {
	if len(d.hunks) != 1 || len(d.hunks[0].side('-')) > 0 || len(d.hunks[0].anchors) > 0 {
		return "", fmt.Errorf("%s does not exist, but the diff shows lines of it", p)
	}
	lines := d.hunks[0].lines
	var b strings.Builder
	for i, l := range lines {
		b.WriteString(l.text)
		if i < len(lines)-1 || !l.open {
			b.WriteByte('\n')
		}
	}
	return b.String(), nil
}
