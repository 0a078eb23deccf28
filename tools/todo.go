package tools

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-lsp/agent-lsp/core/abi"
)

const (
	todoName  = "todo"
	todoItems = 100 // of a list, at most
	todoText  = 300 // characters of an item, at most
)

// todoTool is the tool todo.
type todoTool struct{}

type todoArgs struct {
	Items []todoItem `json:"items" about:"the whole list each time"`
}

type todoItem struct {
	Text  string `json:"text"`
	State string `json:"state" about:"pending, active or done"`
}

// todoMarks are the states of an item, with how each is shown.
var todoMarks = map[string]string{"pending": "[ ] ", "active": "[>] ", "done": "[x] "}

func (todoTool) Definition() Definition {
	return Define[todoArgs](todoName, "Keep a list of the steps of a longer task; the person sees it. Free: nobody is asked.", None)
}

func (todoTool) Decide(_ context.Context, c Call) Decision {
	items := Arguments[todoArgs](c).Items
	done, now := 0, ""
	for _, i := range items {
		if i.State == "done" {
			done++
		}
		if i.State == "active" && now == "" {
			now = ", now: " + i.Text
		}
	}
	return Decision{Title: clip(fmt.Sprintf("To do: %d of %d done%s", done, len(items), now)), Effect: None}
}

func (todoTool) Run(_ context.Context, c Call) Outcome {
	items := Arguments[todoArgs](c).Items
	if len(items) > todoItems {
		return failf("the list has %d items, and at most %d are kept: put steps together", len(items), todoItems)
	}
	for n, i := range items {
		switch _, ok := todoMarks[i.State]; {
		case !ok:
			return failf("the state of item %d is %s: it is pending, active or done", n+1, quoted(i.State))
		case strings.TrimSpace(i.Text) == "":
			return failf("item %d has no text", n+1)
		case len([]rune(i.Text)) > todoText:
			return failf("item %d has %d characters, and at most %d are kept", n+1, len([]rune(i.Text)), todoText)
		}
	}
	if len(items) == 0 {
		return Outcome{State: Completed, Text: "the list is empty"}
	}
	return Outcome{State: Completed, Text: todoShown(items)}
}

func todoShown(items []todoItem) string {
	lines := make([]string, len(items))
	for n, i := range items {
		lines[n] = todoMarks[i.State] + strings.Join(strings.Fields(i.Text), " ")
	}
	return strings.Join(lines, "\n")
}

// Todo returns the list of things to do that a call sets, "" for one on which nothing
// is left to do. It reports false for a call of another tool.
func Todo(op abi.Call) (list string, ok bool) {
	if op.Tool == nil || op.Tool.Name != todoName {
		return "", false
	}
	items := Arguments[todoArgs](Call{Name: todoName, Arguments: op.Tool.Arguments}).Items
	if !slices.ContainsFunc(items, func(i todoItem) bool { return i.State != "done" }) {
		return "", true
	}
	return todoShown(items), true
}
