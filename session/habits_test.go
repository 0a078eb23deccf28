package session

import (
	"fmt"
	"strings"
	"testing"
)

// TestACallOfHabitRunsAndIsToldItsName calls a tool by a name of habit.
func TestACallOfHabitRunsAndIsToldItsName(t *testing.T) {
	r := start(t, map[string]string{"a.txt": "one\ntwo\n"}, `
version: 1
entries:
  - calls: [{raw: {id: a, name: view_file, arguments: '{"file_path": "a.txt"}'}}, {read: {path: a.txt}}]
  - text: Seen.
`)
	id, res := r.run("go")
	if res.Text != "Seen." {
		t.Fatalf("turn ended %+v", res)
	}
	text := r.transcriptText(id)
	if !strings.Contains(text, `"text":"one\ntwo\n[view_file is called read here; file_path is called path]"`) || !strings.Contains(text, `"text":"one\ntwo\n"`) {
		t.Errorf("the transcript is\n%s", text)
	}
}

// TestOnlyTheSameMisfitEndsATurn has replies whose calls fit no tool, more than
// four of them.
func TestOnlyTheSameMisfitEndsATurn(t *testing.T) {
	wrong := func(i int) string {
		return fmt.Sprintf("  - calls: [{raw: {id: a, name: nope%d, arguments: \"{}\"}}]\n", i)
	}
	for name, c := range map[string]struct {
		misfits []int
		outcome string
		says    string
	}{
		"each another one":       {[]int{1, 2, 3, 4, 5, 6, 7}, "complete", "Done."},
		"the same three times":   {[]int{1, 1, 1, 2, 1, 1, 1}, "complete", "Done."},
		"the same four times":    {[]int{1, 2, 2, 2, 2}, "failed", `4 times in a row in the same way: there is no tool "nope2"`},
		"as often as a turn may": {[]int{1, 2, 3, 4, 5, 6, 7, 8, 9}, "failed", "9 times, as often as a turn may ask it"},
	} {
		t.Run(name, func(t *testing.T) {
			script := "version: 1\nentries:\n"
			for _, i := range c.misfits {
				script += wrong(i)
			}
			if c.outcome == "complete" {
				script += "  - text: Done.\n"
			}
			r := start(t, nil, script)
			settings := r.cfg.Settings
			settings.MaxRounds = 9
			r.Configure(settings)
			if _, res := r.run("go"); res.Outcome != c.outcome || !strings.Contains(res.Text, c.says) {
				t.Errorf("turn ended %+v", res)
			}
		})
	}
}
