package session

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/agent-lsp/agent-lsp/session/store"
	"github.com/google/uuid"
)

// Profiles returns what a person can pick from, by name.
func (m *Manager) Profiles() []ProfileInfo {
	m.mu.Lock()
	defer m.mu.Unlock()
	selected := m.chosen(m.settings)
	out := []ProfileInfo{}
	for _, name := range slices.Sorted(maps.Keys(m.settings.Profiles)) {
		p := m.settings.Profiles[name]
		info := ProfileInfo{Name: name, Provider: p.Provider, Model: p.Model, Context: p.Context, Selected: name == selected}
		if p.Price != (model.Price{}) {
			info.Price = &p.Price
		}
		if m.settings.Models != nil {
			info.Models = m.settings.Models(&p)
		}
		if _, other, ok := strings.Cut(strings.TrimPrefix(selected, name), "/"); ok && strings.HasPrefix(selected, name+"/") {
			info.Selected, info.Model = true, other
		}
		out = append(out, info)
	}
	return out
}

// chosen is the profile of new sessions: the last one that the person picked and
// that is still there, else the configuration's; "" when there are profiles to offer and
// nothing is known of what the person wants. The caller has locked mu.
func (m *Manager) chosen(settings Settings) string {
	picks := []string{m.picked}
	if !settings.ProfileGiven {
		picks = append(picks, m.earlier)
	}
	for _, name := range picks {
		if _, ok := settings.profile(name); ok {
			return name
		}
	}
	if len(settings.Offered) > 0 && !m.declined && m.earlier != demonstration {
		return ""
	}
	return settings.Profile
}

// demonstration is stored as the pick of whoever wants none of the profiles that are
// offered. It names no profile, so that what they configure later holds.
const demonstration = "-"

// keepPick remembers a pick for the next process.
func keepPick(ctx context.Context, open func(context.Context) (store.Store, error), subject, name string) error {
	st, err := open(ctx)
	if err != nil {
		return err
	}
	return st.SetDefaultHarness(ctx, subject, name)
}

// offer asks the person whether to use a profile whose key is in the environment, one
// after the other, and keeps the choice. A question that nobody replies to is not asked
// again in this process.
func (m *Manager) offer(ctx context.Context, settings Settings) string {
	m.offering.Lock()
	defer m.offering.Unlock()
	m.mu.Lock()
	known := m.chosen(settings) // another session's question may have come first
	m.mu.Unlock()
	if known != "" {
		return known
	}
	picked, kept := settings.Profile, false
	for i, name := range settings.Offered {
		p, _ := settings.profile(name)
		choices := []Choice{{AllowOnce, "Use"}, {Deny, "Demonstration"}}
		if i+1 < len(settings.Offered) {
			choices = []Choice{{AllowOnce, "Use"}, {AllowSession, "Other model…"}, {Deny, "Demonstration"}}
		}
		q := Question{
			Plain:   true,
			Title:   fmt.Sprintf("%s is set: use %s by %s?", p.APIKeyEnv, p.Model, hostOf(p)),
			Detail:  "It is used from now on, and what you ask is paid for by its owner. agent.profile.select changes it; the demonstration is a script that costs nothing.",
			Choices: choices,
		}
		for _, c := range choices {
			q.Decisions = append(q.Decisions, c.Decision)
		}
		a := m.editor.Approve(ctx, q)
		if a.Decision == AllowSession {
			continue
		}
		kept = a.Reason == "" // else nobody said it
		if a.Decision == AllowOnce {
			picked = name
		}
		break
	}
	if kept && picked == settings.Profile {
		if err := keepPick(ctx, m.cfg.Store, settings.Subject, demonstration); err != nil {
			m.cfg.Log.Warn("keep the choice of the demonstration", "err", err)
		}
	} else if kept {
		if err := m.SelectProfile(ctx, Selection{Profile: picked}); err != nil {
			m.cfg.Log.Warn("keep the choice of a profile", "err", err)
		}
		return picked
	}
	m.mu.Lock()
	m.declined = true
	m.mu.Unlock()
	return picked
}

// hostOf is the server that a profile's requests go to, as a person knows it.
func hostOf(p model.Profile) string {
	if p.BaseURL == "" {
		return "api." + p.Provider + ".com"
	}
	if u, err := url.Parse(p.BaseURL); err == nil && u.Host != "" {
		return u.Host
	}
	return p.BaseURL
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

// Selection is a choice of a profile.
type Selection struct {
	Profile string
	Model   string     // another one of the profile's provider; "": the profile's own
	Session *uuid.UUID // nil: the sessions of each root that were used last
}

// SelectProfile picks the profile of new sessions and remembers it for the subject. A
// session that runs goes on with it from its next turn on.
func (m *Manager) SelectProfile(ctx context.Context, sel Selection) error {
	name := sel.Profile
	if sel.Model != "" {
		name += "/" + sel.Model
	}
	m.mu.Lock()
	settings, subject := m.settings, m.settings.Subject
	m.mu.Unlock()
	if _, ok := settings.profile(name); !ok {
		if _, ok := settings.Profiles[sel.Profile]; ok {
			return &ArgumentError{"model", fmt.Sprintf("profile %s has no other model than its script", sel.Profile)}
		}
		return &ArgumentError{"profile", fmt.Sprintf("no profile is named %q; the configuration has %s", name, profileNames(settings.Profiles))}
	}
	sessions, err := m.using(sel.Session)
	if err != nil {
		return err
	}
	if err := keepPick(ctx, m.cfg.Store, subject, name); err != nil {
		return fmt.Errorf("remember profile %s: %w", name, err)
	}
	m.mu.Lock()
	m.picked = name
	m.mu.Unlock()
	for _, s := range sessions {
		s.mu.Lock()
		s.choice = name
		s.mu.Unlock()
	}
	return nil
}

// using are the sessions that a selection is about.
func (m *Manager) using(id *uuid.UUID) ([]*Session, error) {
	if id != nil {
		s, err := m.session(*id)
		return []*Session{s}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []*Session
	for _, id := range m.recent {
		if s := m.sessions[id]; s != nil {
			out = append(out, s)
		}
	}
	return out, nil
}

func profileNames(profiles map[string]model.Profile) string {
	names := slices.Sorted(maps.Keys(profiles))
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
