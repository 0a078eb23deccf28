package lsp

import "context"

// rules handles agent.rules: {} lists the rules of the settings by which calls run
// unasked, and {remove: rule} takes one out of the person's own file first.
func (s commands) rules(ctx context.Context, a *arguments) (any, error) {
	rule, remove := a.optionalText("remove")
	if _, err := s.on(ctx, a); err != nil {
		return nil, err
	}
	if remove {
		if err := s.config.Host.RemoveRule(rule); err != nil {
			return nil, err
		}
	}
	return struct {
		Rules []Rule `json:"rules"`
	}{append([]Rule{}, s.config.Host.AllowRules()...)}, nil
}
