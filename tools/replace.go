package tools

import (
	"context"
	"fmt"
	"strings"

	"github.com/agent-lsp/agent-lsp/tools/diff"
)

// familyEdit is what rules call the tool edit.
const familyEdit Family = "edit"

// editTool is the tool edit.
type editTool struct{ *Executor }

type editArgs struct {
	Path string `json:"path" about:"relative to the workspace root"`
	Old  string `json:"old" about:"the text that is there now, with enough lines around the change to stand in the file once"`
	New  string `json:"new" about:"what is to be there instead"`
	All  bool   `json:"all,omitzero" about:"replace every place"`
}

func (editTool) Definition() Definition {
	return Define[editArgs]("edit", "Replace a text in a file, which must be in it exactly once, or every place with all.", Write)
}

func (t editTool) Decide(ctx context.Context, c Call) Decision {
	op := Arguments[editArgs](c)
	d := t.decider().decideEdit(familyEdit, op.Path, t.draft(ctx, op))
	d.Path = op.Path
	return d
}

func (t editTool) Run(ctx context.Context, c Call) Outcome {
	op := Arguments[editArgs](c)
	return t.editor().edit(ctx, op.Path, c.Label, t.draft(ctx, op))
}

// draft returns a drafter that replaces a text.
func (t editTool) draft(ctx context.Context, op editArgs) drafter {
	return func(f file) (draft, error) {
		d := draft{verb: "edited"}
		if !f.exists {
			return d, fmt.Errorf("%s does not exist%s", f.path, nearNames(ctx, t.ws, f.path))
		}
		if err := textOnly(f); err != nil {
			return d, err
		}
		places := 0
		d, err := t.editor().place(d, f, func(text string) (after string, notes []string, err error) {
			after, places, notes, err = diff.Replace(text, op.Old, op.New, op.All)
			return after, notes, err
		})
		if err == nil && op.All {
			d.note = strings.TrimPrefix(d.note+"\n"+count(places, "place")+" replaced", "\n")
		}
		return d, err
	}
}
