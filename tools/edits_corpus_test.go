package tools

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
)

// malformed is an edit as a model wrote it, and what must become of it.
type malformed struct {
	ID       string  `json:"id"`
	Kind     string  `json:"kind"`
	Path     string  `json:"path"`
	Exists   bool    `json:"exists"`
	File     string  `json:"file"`
	Diff     string  `json:"diff"`
	Want     *string `json:"want"` // null: refused
	Note     string  `json:"note"`
	Encoding string  `json:"encoding"`
}

func malformedEdits(t *testing.T) []malformed {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "edits.json"))
	if err != nil {
		t.Fatal(err)
	}
	var out []malformed
	if err := json.Unmarshal(raw, &out, json.RejectUnknownMembers(true)); err != nil {
		t.Fatal(err)
	}
	for i := range out {
		if out[i].Encoding == "latin-1" {
			var b []byte
			for _, r := range out[i].File {
				b = append(b, byte(r))
			}
			out[i].File = string(b)
		}
	}
	return out
}

// TestMalformedEditsLandRightlyOrAreRefused: none lands in a wrong place, most of
// those that are clear land, and what is refused says why in few bytes.
func TestMalformedEditsLandRightlyOrAreRefused(t *testing.T) {
	right, clear, wrong := 0, 0, 0
	for _, m := range malformedEdits(t) {
		files := map[string]string{}
		if m.Exists {
			files[m.Path] = m.File
		}
		w := newWorld(t, files)
		out := w.run(patchOp(m.Path, strings.ReplaceAll(m.Diff, "{WS}", w.dir)))
		got, before := w.get(m.Path), m.File
		if !m.Exists {
			before = "<none>"
		}
		if m.Want != nil {
			clear++
		}
		switch {
		case m.Want != nil && got == *m.Want:
			right++
			if out.State != Completed {
				t.Errorf("%s (%s) landed, but: %s", m.ID, m.Kind, out.Text)
			}
		case got != before || out.State == Completed:
			wrong++
			t.Errorf("%s (%s) is wrong: %s\ngot  %q\nfile %q", m.ID, m.Kind, out.Text, got, before)
		case m.Want != nil:
			t.Logf("%s (%s) is refused: %s", m.ID, m.Kind, out.Text)
		default:
			t.Logf("%s (%s) is rightly refused: %s", m.ID, m.Kind, out.Text)
		}
		if out.State != Completed && len(out.Text) > 600 {
			t.Errorf("%s: the refusal has %d bytes: %s", m.ID, len(out.Text), out.Text)
		}
	}
	t.Logf("%d of %d clear ones are right, %d wrong", right, clear, wrong)
	if 100*right < 95*clear {
		t.Errorf("only %d of the %d clear ones land", right, clear)
	}
}
