package main

import (
	"time"

	"github.com/agent-lsp/agent-lsp/config"
	"github.com/agent-lsp/agent-lsp/tools"
)

// newTools makes the executor of one session.
func newTools(ws tools.Workspace, c *config.Config) (*tools.Executor, error) {
	return tools.New(tools.Config{
		Workspace: ws,
		Policy: tools.Policy{
			Mode: tools.Mode(c.Approvals), Allow: rules(c.Rules.Allow), Deny: rules(c.Rules.Deny), Untrusted: !c.Trusted,
		},
		Exec: tools.ExecConfig{
			Timeout: time.Duration(c.Exec.Timeout), Output: c.Exec.Output, Secrets: keyNames(c),
		},
		Browse: tools.BrowseConfig{
			AllowPrivate: c.Browse.AllowPrivate, MaxBytes: int64(c.Browse.MaxBytes), Timeout: time.Duration(c.Browse.Timeout),
		},
	})
}

func rules(in []config.Rule) []tools.Rule {
	out := make([]tools.Rule, len(in))
	for i, r := range in {
		out[i] = tools.Rule{Family: tools.Family(r.Tool), Match: r.Prefix}
	}
	return out
}

// keyNames are the variables that hold the keys of models: no child sees them,
// whatever they are called.
func keyNames(c *config.Config) []string {
	var names []string
	for _, p := range c.Profiles {
		if p.APIKeyEnv != "" {
			names = append(names, p.APIKeyEnv)
		}
	}
	return names
}
