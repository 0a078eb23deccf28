package event_test

import (
	"testing"

	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/google/go-cmp/cmp"
)

// TestEachFormOfAnIntentIsRead has the forms in which programs stored what an edit
// was about to do, and approvals that are none.
func TestEachFormOfAnIntentIsRead(t *testing.T) {
	edit := &event.Edit{Path: "a", Before: "1", After: "2", Base: "S0o="}
	for name, tt := range map[string]struct {
		stored string
		want   event.Payload
	}{
		"today's": {
			`{"kind":"intent","turn":1,"id":2,"text":"wrote a","edit":{"path":"a","before":"1","after":"2","base":"S0o="}}`,
			&event.Intent{Turn: 1, ID: 2, Text: "wrote a", Edit: edit},
		},
		"that of an approval": {
			`{"kind":"approval","turn":1,"id":2,"state":"answered","detail":"wrote a","decision":"performed","edit":{"path":"a","before":"1","after":"2","base":"S0o="}}`,
			&event.Intent{Turn: 1, ID: 2, Text: "wrote a", Edit: edit},
		},
		"a question": {
			`{"kind":"approval","turn":1,"id":2,"state":"asked","title":"Change a","detail":"+1"}`,
			&event.Approval{Turn: 1, ID: 2, State: "asked", Title: "Change a", Detail: "+1"},
		},
		"an answer": {
			`{"kind":"approval","turn":1,"id":2,"state":"answered","decision":"allow_once","edit":null}`,
			&event.Approval{Turn: 1, ID: 2, State: "answered", Decision: "allow_once"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := event.Decode([]byte(tt.stored))
			if d := cmp.Diff(tt.want, got); err != nil || d != "" {
				t.Errorf("%v (-want +got):\n%s", err, d)
			}
		})
	}
}
