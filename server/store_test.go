package server

import (
	"testing"

	"github.com/agent-lsp/agent-lsp/config"
	"github.com/agent-lsp/agent-lsp/session/model"
)

func TestOnlyTrialsLeaveNothingBehind(t *testing.T) {
	for _, tt := range []struct {
		name     string
		virtual  bool
		provider string
		store    string
		want     string
	}{
		{"run on a script", true, "script", "", "memory:"},
		{"run on a script, with a store", true, "script", "sqlite:x", "sqlite:x"},
		{"run on a model", true, "openai", "", ""},
		{"serve on a script", false, "script", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := &Server{config: Config{Virtual: tt.virtual}}
			c := &config.Config{Store: tt.store, Profile: "p", Profiles: map[string]model.Profile{"p": {Provider: tt.provider}}}
			if got := srv.place(c); got != tt.want {
				t.Errorf("sessions are kept in %q, not %q", got, tt.want)
			}
		})
	}
}
