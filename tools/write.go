package tools

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/agent-lsp/agent-lsp/workspace"
)

// rebased tells the model that its edit met another one.
const rebased = "The file had been changed since you read it: the edit was rebased onto the current text, the other change is kept."

// writeTool is the tool write.
type writeTool struct{ *Executor }

type writeArgs struct {
	Path string `json:"path" about:"relative to the workspace root"`
	Text string `json:"text" about:"the whole new text"`
}

func (writeTool) Definition() Definition {
	return Define[writeArgs]("write", "Create a file, or replace the whole text of one you have read.", Write)
}

func (t writeTool) Decide(ctx context.Context, c Call) Decision {
	op := Arguments[writeArgs](c)
	return t.decider().decideEdit(FamilyWrite, op.Path, t.draft(op))
}

func (t writeTool) Run(ctx context.Context, c Call) Outcome {
	op := Arguments[writeArgs](c)
	return t.editor().edit(ctx, op.Path, c.Label, t.draft(op))
}

// draft makes a file hold a whole new text, without losing what the model
// has not seen.
func (t writeTool) draft(op writeArgs) drafter {
	return func(f file) (draft, error) {
		d := draft{after: op.Text, view: op.Text, known: true, verb: "wrote"}
		if strings.IndexByte(op.Text, 0) >= 0 {
			return d, errors.New("the text has NUL bytes in it; only text can be written")
		}
		if !f.exists {
			d.verb = "created"
			return d, nil
		}
		if err := textOnly(f); err != nil {
			return d, err
		}
		if !utf8.ValidString(f.text) {
			return d, fmt.Errorf("%s is not UTF-8: to write it whole would change bytes that cannot be shown; patch the lines that are to change", f.path)
		}
		d.note = "it holds this text already"
		k, ok := t.seen.lookup(f.path, f.text)
		if !ok {
			d.after = adopt(f.text, op.Text)
			d.view = d.after
			if d.after != f.text && strings.TrimPrefix(f.text, workspace.ByteOrderMark) != "" {
				return d, fmt.Errorf("%s exists and was not read in this session: read it first, so that nothing is overwritten unseen", f.path)
			}
			if d.after != f.text {
				d.note = ""
			}
			return d, nil
		}
		if !k.hasText {
			return d, fmt.Errorf("%s was changed since you read it: read it again, nothing was written", f.path)
		}
		d.after = adopt(k.text, op.Text)
		d.view = d.after
		if k.text == f.text {
			if d.after != f.text {
				d.note = ""
			}
			return d, nil
		}
		return rebase(d, f, k.text)
	}
}

// rebase makes a draft computed from base one of the current text.
func rebase(d draft, f file, base string) (draft, error) {
	merged, clash := merge3(base, f.text, d.after)
	if len(clash) > 0 {
		return d, collision(f, base, clash)
	}
	d.after, d.note = merged, rebased
	if merged == f.text {
		d.note = "someone else made the same change already"
	}
	return d, nil
}

// textOnly refuses files whose bytes are no text.
func textOnly(f file) error {
	if strings.IndexByte(f.text, 0) >= 0 {
		return fmt.Errorf("%s is a binary file (%s); only text can be changed", f.path, binaryKind(f.text))
	}
	return nil
}
