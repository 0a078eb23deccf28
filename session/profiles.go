package session

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agent-lsp/agent-lsp/session/model"
)

// Profiles answers what a person can pick from, by name.
func (m *Manager) Profiles() []ProfileInfo {
	m.mu.Lock()
	defer m.mu.Unlock()
	selected := m.picked
	if selected == "" {
		selected = m.settings.Profile
	}
	out := []ProfileInfo{}
	for _, name := range slices.Sorted(maps.Keys(m.settings.Profiles)) {
		p := m.settings.Profiles[name]
		out = append(out, ProfileInfo{Name: name, Provider: p.Provider, Model: p.Model, Selected: name == selected})
	}
	return out
}

// SelectProfile picks the profile of new sessions and remembers it for the
// subject.
func (m *Manager) SelectProfile(ctx context.Context, name string) error {
	m.mu.Lock()
	profiles, subject := m.settings.Profiles, m.settings.Subject
	m.mu.Unlock()
	if _, ok := profiles[name]; !ok {
		return &ArgumentError{"profile", fmt.Sprintf("no profile is named %q; the configuration has %s", name, profileNames(profiles))}
	}
	st, err := m.cfg.Store(ctx)
	if err == nil {
		err = st.SetDefaultHarness(ctx, subject, name)
	}
	if err != nil {
		return fmt.Errorf("remember profile %s: %w", name, err)
	}
	m.mu.Lock()
	m.picked = name
	m.mu.Unlock()
	return nil
}

func profileNames(profiles map[string]model.Profile) string {
	names := slices.Sorted(maps.Keys(profiles))
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
