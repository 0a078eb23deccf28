package session

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/agent-lsp/agent-lsp/checker"
	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/google/go-cmp/cmp"
)

func TestTheNewestCheckOfARootIsShownLast(t *testing.T) {
	r := start(t, nil, `{version: 1, entries: [{text: none}]}`)
	now := time.Now()
	check := func(text, root, ecosystem string, began time.Time) checker.Result {
		return checker.Result{Outcome: checker.Found, Text: text, Root: root, Ecosystem: ecosystem, Began: began}
	}
	replaced := check("replaced", "a", checker.Go, now.Add(time.Hour))
	replaced.Superseded = true
	for _, x := range []checker.Result{
		check("second", "a", checker.Go, now),
		check("first", "a", checker.Go, now.Add(-time.Second)),
		replaced,
		check("of another tool", "a", checker.Node, now.Add(-time.Minute)),
		check("of another root", "b", checker.Go, now.Add(-time.Minute)),
		check("third", "a", checker.Go, now.Add(time.Second)),
		check("at no time", "a", checker.Go, time.Time{}),
	} {
		r.Report(r.dir, x)
	}
	var shown []string
	for _, x := range r.findings {
		shown = append(shown, x.Text)
	}
	want := []string{"second", "of another tool", "of another root", "third", "at no time"}
	if d := cmp.Diff(want, shown); d != "" {
		t.Error(d)
	}
}

// notedChecker finds nothing, in what it looked at.
type notedChecker struct{ Checker }

func (notedChecker) AfterEdit(_ context.Context, workspace string, _ []string) []checker.Result {
	return []checker.Result{{Outcome: checker.Clean, Root: workspace, Note: "checked the saved text: b is not saved yet"}}
}

// TestALimitedCleanIsNoPlainOne edits beside a buffer that the checker did not see:
// the model and the transcript say so.
func TestALimitedCleanIsNoPlainOne(t *testing.T) {
	r := start(t, nil, `{version: 1, entries: [
		{calls: [{write: {path: a, text: "a\n"}}]},
		{when: "checked the saved text", text: seen}]}`)
	r.cfg.Checker = notedChecker{r.cfg.Checker}
	r.Shutdown()
	r.Manager = NewManager(r.cfg, r)
	if _, out := r.run("go"); out.Text != "seen" {
		t.Errorf("%+v", out)
	}
	for _, p := range r.events {
		if c, ok := p.(*event.Check); ok && (c.Outcome != "clean" || !strings.Contains(c.Text, "b is not saved")) {
			t.Errorf("the transcript has %+v", c)
		}
	}
}
