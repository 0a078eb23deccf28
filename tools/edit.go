package tools

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"github.com/agent-lsp/agent-lsp/tools/diff"
	"github.com/agent-lsp/agent-lsp/workspace"
)

// tries bounds how often an edit is computed again because the text changed
// under it.
const tries = 5

// draft is the edit of a Write or Patch before it is applied.
type draft struct {
	file
	after string
	// deleted says that no file is to be there afterwards.
	deleted bool
	verb    string // "created", "wrote" or "patched"
	note    string // added to the result's text for the model
	// view is the whole text as the model takes it to be after the edit, without
	// what others changed and it has not seen; known is false when it has never
	// seen the whole.
	view  string
	known bool
	// linked says that the file has other names, which the edit does not reach.
	linked bool
}

// unchanged reports a draft that would change nothing.
func (d draft) unchanged() bool { return d.exists && !d.deleted && d.after == d.text }

// edit returns the draft as the workspace takes it. Label names the turn, and told is
// the text of the result.
func (d draft) edit(label, told string) Edit {
	return Edit{
		Path: d.path, Create: !d.exists, Delete: d.deleted, Before: d.text, After: d.after,
		Open: d.open, Label: label, Told: told,
	}
}

// editor computes and applies the edits of the tools that change files.
type editor struct{ *Executor }

func (e *Executor) editor() editor { return editor{e} }

// rememberEdit records an applied edit in the memory and returns the result's
// ReadHash: the hash of the model's view where that differs from after.
func (e editor) rememberEdit(d draft) (readHash string) {
	if !d.known {
		return Unread
	}
	hash := e.seen.store(d.path, d.view)
	if d.view == d.after {
		return ""
	}
	return hash
}

// drafter computes a draft's after, verb and note from the current text. An error
// is the refusal for the model.
type drafter func(f file) (draft, error)

// refusal is an error that shows the model the current text of a file. Whole says
// that it shows all that is new to the model. The memory is updated only when the
// model gets the error: Decide makes refusals too, which the model never sees.
type refusal struct {
	text  string
	file  file
	whole bool
}

func (r *refusal) Error() string { return r.text }

// prepare computes the edit of the file that a model names, and applies nothing.
func (e editor) prepare(name string, make drafter) (draft, error) {
	p, err := e.find(name)
	if err != nil {
		return draft{}, err
	}
	if err := e.mayWrite(name, p); err != nil {
		return draft{}, err
	}
	f, err := e.load(p, DefaultMaxFile)
	if err != nil {
		return draft{}, pathError(p, err)
	}
	d, err := make(f)
	d.file = f
	if err == nil {
		err = keepsEncoding(f, d.after)
	}
	d.linked = f.exists && !f.open && e.hasOtherNames(p)
	return d, err
}

// hasOtherNames reports whether a file has further names, which are hard links: they
// keep its text when a new one takes this name's place.
func (e editor) hasOtherNames(p string) bool {
	info, err := e.ws.Root().Stat(filepath.FromSlash(p))
	return err == nil && linksKnown && links(info) > 1
}

// mayWrite fails for paths that no tool may write to. Both the name given and the
// path that its links lead to are checked.
func (e editor) mayWrite(name, p string) error {
	if p == "." {
		return errors.New("the workspace itself is a directory, not a file with text")
	}
	if strings.HasSuffix(name, "/") {
		return fmt.Errorf("%s names a directory, not a file with text", name)
	}
	if strings.HasPrefix(name, "untitled:") {
		return fmt.Errorf("%s is a document without a file, which no tool can change: ask the user to save it first", name)
	}
	given, err := relative(e.ws.Dir(), name)
	if err != nil {
		return err
	}
	for _, spelled := range []string{given, p} {
		for element := range strings.SplitSeq(spelled, "/") {
			if isGitDir(element) {
				return fmt.Errorf("%s is inside git's own directory, which is never written to; use the git tool", name)
			}
			if plainName(element) == ".agent-lsp" {
				return fmt.Errorf("%s belongs to the agent's own state, which is never written to", name)
			}
		}
	}
	abs := filepath.Join(e.ws.Dir(), filepath.FromSlash(p))
	for _, s := range e.cfg.State {
		if within(s, abs) {
			return fmt.Errorf("%s belongs to the agent's own state, which is never written to", name)
		}
	}
	return nil
}

// within reports whether name is dir or lies below it, as the disk spells both.
func within(dir, name string) bool {
	if _, ok := workspace.Below(dir, name); ok {
		return true
	}
	_, ok := workspace.Below(workspace.RealPath(dir), workspace.RealPath(name))
	return ok
}

// edit computes and applies an edit, and tries again when the text changes meanwhile.
func (e editor) edit(ctx context.Context, name, label string, make drafter) Outcome {
	for range tries {
		d, err := e.prepare(name, make)
		if ctx.Err() != nil {
			return cancelled()
		}
		if err != nil {
			out := refused(err)
			if r, ok := errors.AsType[*refusal](err); ok && r.whole {
				out.ReadHash = e.seen.store(r.file.path, r.file.text)
			}
			return out
		}
		if d.unchanged() {
			out := Outcome{State: Completed, Text: fmt.Sprintf("%s is unchanged: %s", d.path, d.note)}
			if d.known {
				out.ReadHash = e.seen.store(d.path, d.view)
			}
			return out
		}
		applied, err := e.ws.Apply(ctx, d.edit(label, editOutcome(d, Applied{}).Text))
		switch {
		case errors.Is(err, ErrStale):
			continue
		case err != nil && ctx.Err() != nil:
			return cancelled()
		case err != nil:
			return failf("%s was not changed: %s", d.path, err)
		}
		out := editOutcome(d, applied)
		out.ReadHash = e.rememberEdit(d)
		return out
	}
	return failf("%s was not changed: it is being changed by someone else all the time", name)
}

// refused returns the outcome of an edit that is not made. The model reads why, in at
// most 600 bytes, unless it is shown what others changed.
func refused(err error) Outcome {
	out := failed(err)
	if _, shows := errors.AsType[*refusal](err); !shows {
		const most = 600
		if len(out.Text) > most {
			out.Text = strings.ToValidUTF8(out.Text[:most-len("…")], "") + "…"
		}
	}
	return out
}

// editOutcome returns the outcome of an applied edit, with a text for the model.
func editOutcome(d draft, applied Applied) Outcome {
	text := fmt.Sprintf("%s %s", d.verb, d.path)
	added, removed := countLines(d.text, d.after)
	if d.exists {
		text += fmt.Sprintf(": %s added, %d removed", count(added, "line"), removed)
	} else {
		text += fmt.Sprintf(": %s", count(added, "line"))
	}
	if d.note != "" {
		text += "\n" + d.note
	}
	if d.linked {
		text += "\nThe file had other names (hard links), which keep the old text."
	}
	if applied.Unsaved {
		text += "\nThe new text is in the editor and not saved yet: commands still see the file as it was."
	}
	if applied.Further {
		text += "\nThe editor changed the text further as it saved it, as a formatter does: read the file before you edit it again."
	}
	return Outcome{State: Completed, Text: text, Edit: &Change{
		Path: d.path, Created: !d.exists, Deleted: d.deleted, Before: d.text, After: d.after, Unsaved: applied.Unsaved,
	}}
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// countLines counts the lines that an edit adds and removes.
func countLines(before, after string) (added, removed int) {
	before, after = differing(before, after)
	for _, c := range diffLines(diff.Texts(diff.Split(before)), diff.Texts(diff.Split(after))) {
		added += c.newEnd - c.newStart
		removed += c.end - c.start
	}
	return added, removed
}

// collision returns the refusal of an edit that would overwrite lines which changed
// since the model read them. It shows every such line of the file when there are
// few, else those that the edit meets.
func collision(f file, base string, clash []change) *refusal {
	now := diff.Texts(diff.Split(f.text))
	shown := clash
	all := diffLines(diff.Texts(diff.Split(base)), now)
	total := 0
	for _, c := range all {
		total += c.newEnd - c.newStart + 2*around
	}
	whole := total <= 2*shownLines
	if whole {
		shown = all
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s was changed by someone else since you read it, in the lines that this edit changes; nothing was written. ", f.path)
	if whole {
		b.WriteString("These are all the places that changed, with the current text:")
	} else {
		b.WriteString("The current text there:")
	}
	at := 0
	for _, c := range shown {
		from, to := max(c.newStart-around, at), min(c.newEnd+around, len(now))
		if from >= to {
			continue
		}
		if at > 0 && from > at {
			b.WriteString("\n   ...")
		}
		b.WriteString("\n" + numbered(now, from, to))
		at = to
	}
	if !whole {
		b.WriteString("\nMore was changed elsewhere: read the file again.")
		return &refusal{text: b.String(), file: f}
	}
	b.WriteString("\nThe rest is as you read it. Make the edit again so that it keeps what is new here.")
	return &refusal{text: b.String(), file: f, whole: true}
}

// preview shows a person what an edit would do.
func preview(d draft) string {
	old := "a/" + d.path
	if !d.exists {
		old = "/dev/null"
	}
	diff := udiff.Unified(old, "b/"+d.path, d.text, d.after)
	return strings.ToValidUTF8(diff, "\ufffd")
}
