package server

import (
	"errors"
	"fmt"

	"github.com/agent-lsp/agent-lsp/config"
	"github.com/agent-lsp/agent-lsp/session"
	"github.com/agent-lsp/agent-lsp/tools"
)

// Rule is an allow rule of the configuration as it is written there, and where that is.
type Rule struct{ Text, Origin string }

// AllowRules returns the allow rules of the configuration in the order of its layers.
func (srv *Server) AllowRules() []Rule {
	r := srv.settings(srv.firstFolder())
	out := make([]Rule, len(r.Config.Rules.Allow))
	for i, rule := range r.Config.Rules.Allow {
		out[i] = Rule{rule.String(), r.AllowedBy[i].String()}
	}
	return out
}

// allowAlways adds a rule to the person's own file and returns when it is in effect.
func (srv *Server) allowAlways(rule tools.Rule) error {
	return srv.changeRules(config.AddRule, config.Rule{Tool: string(rule.Family), Prefix: rule.Match})
}

// RemoveRule takes an allow rule, as AllowRules spells it, out of the person's own file
// and returns when that is in effect.
func (srv *Server) RemoveRule(text string) error {
	r := srv.settings(srv.firstFolder())
	origin := ""
	for i, rule := range r.Config.Rules.Allow {
		if rule.String() != text {
			continue
		}
		if r.AllowedBy[i].Layer == config.UserFile {
			return srv.changeRules(config.RemoveRule, rule)
		}
		origin = r.AllowedBy[i].String()
	}
	if origin != "" {
		return &session.ArgumentError{Member: "remove", Text: fmt.Sprintf("%s is not in your own file but comes from %s: take it out there", text, origin)}
	}
	return &session.ArgumentError{Member: "remove", Text: fmt.Sprintf("there is no rule %q: agent.rules lists them", text)}
}

func (srv *Server) changeRules(change func(path string, r config.Rule) error, rule config.Rule) error {
	path, err := config.UserFilePath()
	if err != nil {
		return err
	}
	made := srv.change(func() {
		if err = change(path, rule); err == nil {
			srv.reload()
		}
	})
	if !made {
		return errors.New("the server is ending")
	}
	return err
}
