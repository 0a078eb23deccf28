package tools

import (
	"strings"
	"testing"
)

func TestTodo(t *testing.T) {
	w := newWorld(t, nil)
	many := make([]todoItem, 101)
	for i := range many {
		many[i] = todoItem{"x", "done"}
	}
	for _, tt := range []struct {
		items []todoItem
		state State
		text  string
		title string
		list  string
	}{
		{[]todoItem{{"plan\nit", "done"}, {"do it", "active"}, {"test", "pending"}}, Completed, "[x] plan it\n[>] do it\n[ ] test", "To do: 1 of 3 done, now: do it", "[x] plan it\n[>] do it\n[ ] test"},
		{[]todoItem{{"plan", "done"}}, Completed, "[x] plan", "To do: 1 of 1 done", ""},
		{[]todoItem{}, Completed, "the list is empty", "To do: 0 of 0 done", ""},
		{[]todoItem{{"plan", "doing"}}, Failed, `the state of item 1 is "doing": it is pending, active or done`, "To do: 0 of 1 done", "plan"},
		{[]todoItem{{"a", "done"}, {" ", "done"}}, Failed, "item 2 has no text", "To do: 2 of 2 done", ""},
		{[]todoItem{{strings.Repeat("x", 301), "done"}}, Failed, "item 1 has 301 characters, and at most 300 are kept", "To do: 1 of 1 done", ""},
		{many, Failed, "the list has 101 items, and at most 100 are kept: put steps together", "To do: 101 of 101 done", ""},
	} {
		op := toolOp(t, todoName, todoArgs{tt.items})
		if d := w.Decide(t.Context(), op); d.Title != tt.title || d.Verdict != Allow || d.Effect != None {
			t.Errorf("%.60v: %+v", tt.items, d)
		}
		if out := w.run(op); out.State != tt.state || out.Text != tt.text {
			t.Errorf("%.60v: %s %s", tt.items, out.State, out.Text)
		}
		if list, ok := Todo(op); !ok || list != tt.list {
			t.Errorf("%.60v: the list is %q, %v", tt.items, list, ok)
		}
	}
	if _, ok := Todo(readOp("a")); ok {
		t.Error("a read sets the list")
	}
	// As other tools of this kind have it.
	op, err := w.Typed("TodoWrite", `{"todos":[{"content":"a","status":"in_progress","activeForm":"b","id":"1"},{"content":"c","status":"completed"}]}`)
	if list, _ := Todo(op); err != nil || list != "[>] a\n[x] c" {
		t.Errorf("%q, %v", list, err)
	}
}
