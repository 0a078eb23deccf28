package session

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/agent-lsp/agent-lsp/session/store"
)

// Profiles returns what a person can pick from, by name.
func (m *Manager) Profiles() []ProfileInfo {
	m.mu.Lock()
	defer m.mu.Unlock()
	selected := m.chosen(m.settings)
	out := []ProfileInfo{}
	for _, name := range slices.Sorted(maps.Keys(m.settings.Profiles)) {
		p := m.settings.Profiles[name]
		out = append(out, ProfileInfo{Name: name, Provider: p.Provider, Model: p.Model, Selected: name == selected})
	}
	return out
}

// chosen is the profile of new sessions: the last one that the person picked and
// that is still there, else the configuration's. The caller has locked mu.
func (m *Manager) chosen(settings Settings) string {
	picks := []string{m.picked}
	if !settings.ProfileGiven {
		picks = append(picks, m.earlier)
	}
	for _, name := range picks {
		if _, ok := settings.Profiles[name]; ok {
			return name
		}
	}
	return settings.Profile
}

// recall reads what the person picked in an earlier process. Without it the
// configuration decides.
func (m *Manager) recall(ctx context.Context, st store.Store) {
	m.mu.Lock()
	subject := m.settings.Subject
	m.mu.Unlock()
	name, ok, err := st.DefaultHarness(ctx, subject)
	switch {
	case err != nil && ctx.Err() == nil:
		m.cfg.Log.Warn("read the profile that was picked last", "err", err)
	case err == nil && ok:
		m.mu.Lock()
		m.earlier = name
		m.mu.Unlock()
	}
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
