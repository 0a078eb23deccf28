package tools

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/agent-lsp/agent-lsp/tools/diff"
)

// patchTool is the tool patch.
type patchTool struct{ *Executor }

type patchArgs struct {
	Path string `json:"path,omitzero" about:"the one file that it changes; leave it out when the diff names its files"`
	Diff string `json:"diff" about:"a unified diff with @@ hunks and three lines of context, or *** Begin Patch … *** End Patch"`
}

func (patchTool) Definition() Definition {
	return Define[patchArgs]("patch", "Change files by a diff, which may also add, delete and rename files. The lines of a hunk must be those of the file, in one place only; all is applied or nothing.", Write)
}

func (t patchTool) Decide(ctx context.Context, c Call) Decision {
	op := Arguments[patchArgs](c)
	if op.Path != "" {
		return t.decider().decideEdit(FamilyPatch, op.Path, t.draft(ctx, op))
	}
	edits, err := t.files(ctx, op.Diff)
	if err != nil { // the call itself tells the model why
		return Decision{Title: "Patch files", Detail: op.Diff, Effect: Write, Verdict: Allow}
	}
	return t.decider().decideAll(FamilyPatch, edits)
}

func (t patchTool) Run(ctx context.Context, c Call) Outcome {
	op := Arguments[patchArgs](c)
	if op.Path != "" {
		return t.editor().edit(ctx, op.Path, c.Label, t.draft(ctx, op))
	}
	edits, err := t.files(ctx, op.Diff)
	if err != nil {
		return failf("nothing was patched: %s", err)
	}
	return t.editor().editAll(ctx, c.Label, edits)
}

// draft returns a drafter that applies a patch to the one file that it names.
func (t patchTool) draft(ctx context.Context, op patchArgs) drafter {
	return func(f file) (draft, error) {
		d := draft{verb: "patched"}
		given, err := relative(t.ws.Dir(), op.Path)
		if err != nil {
			return d, err
		}
		files, err := diff.Parse(op.Diff)
		if err != nil {
			return d, fmt.Errorf("%s was not patched: %w", f.path, err)
		}
		for _, p := range files {
			if err := t.isFor(p, given); err != nil {
				return d, fmt.Errorf("%s was not patched: %w", f.path, err)
			}
		}
		return t.draftOf(ctx, f, diff.Merge(files))
	}
}

// isFor checks that a patch changes the text of the file at path, a clean path, and
// does nothing else.
func (t patchTool) isFor(p diff.File, path string) error {
	switch {
	case p.Moved:
		return fmt.Errorf("the diff renames %s to %s (Move to, rename), but with the argument path a patch only changes the text of that file; leave path out", p.Old, p.New)
	case p.Kind == diff.Delete:
		return errors.New("the diff deletes the file (Delete File, /dev/null), but with the argument path a patch only changes the text of that file; leave path out")
	}
	for _, name := range []string{p.Old, p.New} {
		if filepath.IsAbs(name) {
			if inside, err := relative(t.ws.Dir(), name); err == nil {
				name = inside
			}
		}
		if p.Exact && name != "" && filepath.ToSlash(filepath.Clean(name)) != path || !diff.IsFor(name, path) {
			return fmt.Errorf("the diff names the file %q, but the argument path is %s; leave path out to change several files", name, path)
		}
	}
	return nil
}

// draftOf applies what a patch does to one file.
func (t patchTool) draftOf(ctx context.Context, f file, p diff.File) (draft, error) {
	d := draft{verb: "patched"}
	if !f.exists {
		text, ok := p.NewText()
		if !ok {
			return d, fmt.Errorf("%s does not exist, but the diff shows lines of it%s", f.path, nearNames(ctx, t.ws, f.path))
		}
		d.verb, d.after, d.view, d.known = "created", text, text, true
		return d, nil
	}
	if err := textOnly(f); err != nil {
		return d, err
	}
	if p.Kind == diff.Add && f.text != "" {
		if text, ok := p.NewText(); ok && text == f.text {
			d.after, d.note = f.text, "the patch is already applied"
			d.view, d.known = text, true
			return d, nil
		}
		return d, fmt.Errorf("%s exists already, but the diff makes a new file; nothing was applied", f.path)
	}
	return t.editor().place(d, f, func(text string) (string, []string, error) { return diff.Apply(text, p) })
}

// placer makes an edit of a text; see diff.Apply.
type placer func(text string) (after string, notes []string, err error)

// place makes an edit of a file that may have changed since the model read it. Then it
// is made of the text that the model knows, if it fits there, and merged.
func (e editor) place(d draft, f file, apply placer) (draft, error) {
	k, ok := e.seen.lookup(f.path, f.text)
	moved := ok && k.hash != hashText(f.text)
	if moved && k.hasText {
		if wanted, notes, err := apply(k.text); err == nil {
			merged, places := merge3(k.text, f.text, wanted)
			if len(places) == 0 {
				d.after, d.view, d.known = merged, wanted, true
				d.note = lenient(notes, rebased)
				if merged == f.text {
					d.note = "someone else made the same change already"
				}
				return d, nil
			}
			if _, _, err := apply(f.text); err != nil {
				return d, collision(f, k.text, places)
			}
		}
	}
	d.view, d.known = k.text, ok && k.hasText // what it knows of a file that moved on stays
	after, notes, err := apply(f.text)
	switch {
	case errors.Is(err, diff.ErrApplied):
		d.after, d.note = f.text, "the patch is already applied"
		return d, nil
	case err != nil && moved:
		return d, fmt.Errorf("%s was changed since you read it, and %w", f.path, err)
	case err != nil:
		return d, fmt.Errorf("%s was not %s: %w", f.path, d.verb, err)
	}
	d.after = after
	switch {
	case after == f.text:
		d.note = "the edit changes nothing"
	case moved:
		d.note = lenient(notes, rebased)
	default:
		d.note = lenient(notes, "")
	}
	if !moved {
		d.view = after
	}
	return d, nil
}

// lenient is the note of an edit that was forgiven something.
func lenient(notes []string, note string) string {
	if len(notes) == 0 {
		return note
	}
	text := "Taken although " + strings.Join(notes, "; ") + "."
	if note == "" {
		return text
	}
	return text + "\n" + note
}
