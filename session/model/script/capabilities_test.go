package script

import (
	"testing"
	"time"

	"github.com/agent-lsp/agent-lsp/session/model"
)

type capable struct{ model.Model }

func (capable) Capabilities(p model.Profile) model.Capabilities {
	return model.Capabilities{Sealed: p.Name == "sealing"}
}

func TestARecorderCanWhatItsModelCan(t *testing.T) {
	for name, want := range map[string]bool{"sealing": true, "other": false} {
		for where, m := range map[string]model.Model{"recorded": Record(capable{}, "", time.Time{}), "bare": capable{}} {
			if got := model.CapabilitiesOf(m, model.Profile{Name: name}).Sealed; got != want {
				t.Errorf("%s, %s: sealed %v, want %v", name, where, got, want)
			}
		}
	}
	if model.CapabilitiesOf(struct{ model.Model }{}, model.Profile{}) != (model.Capabilities{}) {
		t.Error("a model that does not say can do something")
	}
}
