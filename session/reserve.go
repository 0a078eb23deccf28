package session

import (
	"context"

	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/agent-lsp/agent-lsp/session/store"
	"github.com/google/uuid"
)

// freshID is an id that the store has no session of, reserved for the caller until
// release. A store that fails says so at the first write.
func (m *Manager) freshID(ctx context.Context, st store.Store, p model.Profile) (id uuid.UUID, release func(), err error) {
	for n := 1; ; n++ {
		if id, err = m.cfg.NewID(p, n); err != nil {
			return uuid.Nil, nil, err
		}
		m.mu.Lock()
		_, used := m.sessions[id]
		_, taken := m.changing[id]
		if !used && !taken {
			release = m.reserve(id)
		}
		m.mu.Unlock()
		if used || taken {
			continue
		}
		if _, ok, err := st.Get(ctx, id); !ok && err == nil || err != nil && ctx.Err() == nil {
			return id, release, nil
		}
		release()
		if err := ctx.Err(); err != nil {
			return uuid.Nil, nil, err
		}
	}
}

// alone makes the caller the one that resumes or ends a session, until release.
func (m *Manager) alone(ctx context.Context, id uuid.UUID) (release func(), err error) {
	for {
		m.mu.Lock()
		other, taken := m.changing[id]
		if !taken {
			release = m.reserve(id)
		}
		m.mu.Unlock()
		if !taken {
			return release, nil
		}
		select {
		case <-other:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// reserve marks a session as being changed. The caller has locked mu.
func (m *Manager) reserve(id uuid.UUID) (release func()) {
	done := make(chan struct{})
	m.changing[id] = done
	return func() {
		m.mu.Lock()
		delete(m.changing, id)
		m.mu.Unlock()
		close(done)
	}
}
