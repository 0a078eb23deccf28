package session

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/session/model"
)

// TestLookingAroundAsksNothing explores in 200 calls, in the mode ask: nobody is asked.
// Its first request, with a prelude and all tools, is below 10 KB.
func TestLookingAroundAsksNothing(t *testing.T) {
	files := map[string]string{"src/a.go": "package a\n\nfunc A() {}\n", "src/b.go": "package a\n\nfunc B() { A() }\n"}
	var looks [4]model.Response
	for i := range 200 {
		call := [...]model.FunctionCall{
			{Name: "read", Arguments: fmt.Sprintf(`{"path":"src/a.go","offset":%d,"limit":1}`, i%3+1)},
			{Name: "search", Arguments: fmt.Sprintf(`{"pattern":"A\\(\\)","max":%d}`, i+1)},
			{Name: "find", Arguments: fmt.Sprintf(`{"glob":"**/*%d.go"}`, i)},
			{Name: "ls", Arguments: `{}`},
		}[i%4]
		call.ID = fmt.Sprint("look", i)
		looks[i/50].Calls, looks[i/50].Finish = append(looks[i/50].Calls, call), "tool_calls"
	}
	m := &answers{replies: append(looks[:], model.Response{Text: new("Seen."), Finish: "stop"})}
	r := start(t, files, "version: 1\nentries: []\n")
	withModel(r, m, 0)
	settings := r.cfg.Settings
	settings.Prelude = strings.Repeat("A rule of the prelude. ", 100) // longer than the default one
	r.Configure(settings)
	if _, res := r.run("look around"); res.Text != "Seen." {
		t.Fatalf("turn ended %+v", res)
	}
	if len(r.asked) > 0 || strings.Count(r.kinds(), "\nresult") < 200 {
		t.Errorf("%d questions, %d results", len(r.asked), strings.Count(r.kinds(), "\nresult"))
	}
	bytes := size(m.requests[0].Messages) + size(m.requests[0].Tools)
	if t.Logf("the first request has %d bytes", bytes); bytes > 10_000 || bytes < len(settings.Prelude) ||
		!strings.Contains(string(m.requests[0].Messages[0]), settings.Prelude) {
		t.Errorf("the first request has %d bytes, more than 10,000, or lacks its prelude", bytes)
	}
}
