package server

import (
	"time"

	"github.com/agent-lsp/agent-lsp/config"
	"github.com/agent-lsp/agent-lsp/tools"
	"github.com/agent-lsp/agent-lsp/tools/proc"
)

// newTools makes the executor of one session. State are the server's own places.
func newTools(ws tools.Workspace, c *config.Config, state []string, box *proc.Sandbox) (*tools.Executor, error) {
	return tools.New(toolsConfig(ws, c, state, box))
}

// toolsConfig is the tools' part of a configuration.
func toolsConfig(ws tools.Workspace, c *config.Config, state []string, box *proc.Sandbox) tools.Config {
	return tools.Config{
		Workspace: ws,
		Policy:    policy(c),
		State:     state,
		Exec: tools.ExecConfig{
			Timeout: time.Duration(c.Exec.Timeout), Output: c.Exec.Output, Secrets: keyNames(c), Keep: c.Exec.KeepEnv,
			Sandbox: box, AskNetwork: c.Exec.Network == "ask", Whole: proc.SandboxSupport().Whole,
		},
		Browse: tools.BrowseConfig{
			AllowPrivate: c.Browse.AllowPrivate, MaxBytes: int64(c.Browse.MaxBytes), Timeout: time.Duration(c.Browse.Timeout),
		},
	}
}

// policy is the part of a configuration that decides about calls.
func policy(c *config.Config) tools.Policy {
	return tools.Policy{
		Mode: tools.Mode(c.Approvals), Allow: rules(c.Rules.Allow), Deny: rules(c.Rules.Deny), Untrusted: !c.Trusted,
	}
}

// confined says whether commands are kept from writing elsewhere: where the
// configuration wants it and the kernel can.
func confined(c *config.Config) bool {
	return c.Exec.Sandbox && proc.SandboxSupport().Mechanism != proc.NoMechanism
}

// SandboxState describes what confines commands under a configuration: the mechanism,
// or why there is none.
func SandboxState(c *config.Config) string {
	if !c.Exec.Sandbox {
		return "switched off"
	}
	return proc.SandboxSupport().String()
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
