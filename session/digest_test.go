package session

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/session/model"
)

// TestOldResultsBecomeDigestsInOneStep reads in three turns more than a window's share:
// the results of earlier turns become digests when a turn begins with more than 60 % of
// the window, those of the turn that runs never do, and within a turn each request
// begins with the one before it.
func TestOldResultsBecomeDigestsInOneStep(t *testing.T) {
	files := map[string]string{}
	var calls [7]model.Response
	for i := range calls {
		name := fmt.Sprintf("f%d.txt", i)
		files[name] = fmt.Sprintf("first line of %d\n", i) + strings.Repeat(fmt.Sprintf("text of %d\n", i), 1500)
		calls[i] = model.Response{Calls: []model.FunctionCall{{ID: name, Name: "read", Arguments: `{"path":"` + name + `"}`}}, Finish: "tool_calls"}
	}
	said := model.Response{Text: new("ok"), Finish: "stop"}
	m := &answers{replies: []model.Response{calls[0], said, calls[1], calls[2], said, calls[3], said, calls[4], said}}
	r := start(t, files, "version: 1\nentries: []\n")
	withModel(r, m, 20_000) // of which 60 % are 48,000 bytes, three results
	id, _ := r.run("one")
	for _, text := range []string{"two", "three", "four"} {
		if res := r.result(id, must(r.Prompt(t.Context(), Prompt{Session: &id, Text: text}))); res.Outcome != "complete" {
			t.Fatalf("%s ended %+v", text, res)
		}
	}
	for i, want := range []string{" ", "0 ", "0 ", "01 ", "012 ", " 012", "3 012", "3 012", "34 012"} {
		text := ""
		for _, msg := range m.requests[i].Messages {
			text += string(msg)
		}
		var whole, digest string
		for n := range calls {
			if strings.Contains(text, fmt.Sprintf(`text of %d\ntext of %d`, n, n)) {
				whole += fmt.Sprint(n)
			}
			if strings.Contains(text, fmt.Sprintf(`[an earlier result of read {\"path\":\"f%d.txt\"}, `, n)) &&
				strings.Contains(text, fmt.Sprintf("which began: first line of %d; call it again", n)) {
				digest += fmt.Sprint(n)
			}
		}
		if got := whole + " " + digest; got != want {
			t.Errorf("request %d has whole and as digests %q, want %q", i+1, got, want)
		}
	}
	for _, pair := range [][2]int{{0, 1}, {2, 3}, {3, 4}, {5, 6}, {7, 8}} { // of one turn each
		for n, msg := range m.requests[pair[0]].Messages {
			if string(m.requests[pair[1]].Messages[n]) != string(msg) {
				t.Errorf("request %d does not begin with request %d: message %d differs", pair[1]+1, pair[0]+1, n+1)
			}
		}
	}
}
