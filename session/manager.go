package session

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agent-lsp/agent-lsp/checker"
	"github.com/agent-lsp/agent-lsp/core"
	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/agent-lsp/agent-lsp/session/history"
	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/agent-lsp/agent-lsp/session/store"
	"github.com/google/uuid"
)

// Manager owns the sessions of one editor. Its methods are safe for concurrent
// use.
type Manager struct {
	cfg    Config
	editor Editor
	ctx    context.Context // ends with the manager
	stop   context.CancelFunc

	offering  sync.Mutex // one offer of a profile at a time; taken before mu
	reporting sync.Mutex // locked while a check is shown, so that the newest is shown last

	mu       sync.Mutex // guards what follows
	settings Settings
	picked   string // the profile that the person picked in this process
	earlier  string // the one that they picked last in an earlier one
	declined bool   // nobody replied to the offer of a profile
	sessions map[uuid.UUID]*Session
	changing map[uuid.UUID]chan struct{} // closed when its making, resuming or ending is over
	recent   map[string]uuid.UUID        // by root
	checks   map[string]checker.Result
	closed   bool

	coreState, storeState string // for Status

	wg sync.WaitGroup // the goroutine that waits for the store
}

// NewManager makes a manager; Shutdown ends it and every session it runs.
func NewManager(cfg Config, editor Editor) *Manager {
	m := &Manager{
		cfg: cfg, editor: editor, settings: cfg.Settings,
		sessions: map[uuid.UUID]*Session{}, changing: map[uuid.UUID]chan struct{}{}, recent: map[string]uuid.UUID{}, checks: map[string]checker.Result{},
	}
	m.ctx, m.stop = context.WithCancel(context.Background())
	m.coreState = "ready"
	m.cfg.Core = m.openCore(cfg.Core)
	m.watch(&m.storeState, func(ctx context.Context) error {
		st, err := cfg.Store(ctx)
		if err != nil {
			return err
		}
		m.recall(ctx, st)
		if cfg.Unsaved == nil {
			return nil
		}
		return cfg.Unsaved()
	})
	return m
}

// openCore returns an open that keeps for Status why the core cannot be opened. A
// session calls it when it begins; m.mu is not locked then.
func (m *Manager) openCore(open func(context.Context) (*core.Core, error)) func(context.Context) (*core.Core, error) {
	return func(ctx context.Context) (*core.Core, error) {
		c, err := open(ctx)
		if ctx.Err() == nil {
			state := "ready"
			if err != nil {
				state = err.Error()
			}
			m.mu.Lock()
			m.coreState = state
			m.mu.Unlock()
		}
		return c, err
	}
}

// watch keeps a state for Status: opening, ready, or what went wrong.
func (m *Manager) watch(state *string, open func(context.Context) error) {
	*state = "opening"
	m.wg.Go(func() {
		now := "ready"
		if err := open(m.ctx); err != nil {
			now = err.Error()
		}
		m.mu.Lock()
		*state = now
		m.mu.Unlock()
	})
}

// Configure takes new settings; turns that run keep theirs.
func (m *Manager) Configure(settings Settings) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.settings = settings
	for _, s := range m.sessions {
		s.mu.Lock()
		s.settings = settings.of(s.root)
		s.mu.Unlock()
	}
}

// Shutdown suspends every session: running work is stopped, nothing is lost, and
// a later process can resume. It waits for their goroutines.
func (m *Manager) Shutdown() {
	m.mu.Lock()
	m.closed = true
	sessions := slices.Collect(maps.Values(m.sessions))
	m.mu.Unlock()
	m.stop()
	for _, s := range sessions {
		s.close()
	}
	m.wg.Wait()
}

// Prompt starts a turn and returns at once.
func (m *Manager) Prompt(ctx context.Context, p Prompt) (uuid.UUID, uint64, error) {
	if err := fitPrompt(p); err != nil {
		return uuid.Nil, 0, err
	}
	user := &event.User{Text: p.Text, Context: p.Context}
	event.Valid(user)
	p.Text, p.Context = user.Text, user.Context
	s, err := m.target(ctx, p)
	if err != nil {
		return uuid.Nil, 0, err
	}
	turn, err := s.prompt(p)
	if err != nil {
		return uuid.Nil, 0, err
	}
	return s.id, turn, nil
}

// fitPrompt returns an error for a prompt that is empty or too long.
func fitPrompt(p Prompt) error {
	size := len(p.Text)
	for _, c := range p.Context {
		size += len(c.Path) + len(c.Text)
	}
	switch {
	case strings.TrimSpace(p.Text) == "":
		return &ArgumentError{"text", "is empty; say what the agent should do"}
	case size > MaxPrompt:
		return &ArgumentError{"text", fmt.Sprintf("the prompt and its context are %d bytes; at most %d are taken", size, MaxPrompt)}
	}
	return nil
}

// target is the session that a prompt goes to.
func (m *Manager) target(ctx context.Context, p Prompt) (*Session, error) {
	if p.Session != nil {
		return m.session(*p.Session)
	}
	m.mu.Lock()
	id, ok := m.recent[p.Root]
	s := m.sessions[id]
	m.mu.Unlock()
	if ok && s != nil && s.ended() == nil {
		return s, nil
	}
	id, err := m.New(ctx, NewSession{Root: p.Root})
	if err != nil {
		return nil, err
	}
	return m.session(id)
}

// session returns a session of this process.
func (m *Manager) session(id uuid.UUID) (*Session, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s, ok := m.sessions[id]; ok {
		return s, nil
	}
	return nil, &ArgumentError{"session", fmt.Sprintf("%s is not open here; resume it first", id)}
}

// New makes a session. The core starts with its first turn.
func (m *Manager) New(ctx context.Context, n NewSession) (_ uuid.UUID, err error) {
	st, err := m.cfg.Store(ctx)
	if err != nil {
		return uuid.Nil, fmt.Errorf("open the session store: %w", err)
	}
	if n.Profile == "" {
		m.recall(ctx, st)
	}
	m.mu.Lock()
	settings := m.settings.of(n.Root)
	if n.Profile == "" {
		n.Profile = m.chosen(settings)
	}
	m.mu.Unlock()
	if n.Profile == "" {
		n.Profile = m.offer(ctx, settings)
	}
	profile, ok := settings.profile(n.Profile)
	if !ok {
		return uuid.Nil, &ArgumentError{"profile", fmt.Sprintf(
			"no profile is named %q; the configuration has %s", n.Profile, profileNames(settings.Profiles))}
	}
	id, release, err := m.freshID(ctx, st, profile)
	if err != nil {
		return uuid.Nil, err
	}
	defer release()
	s, err := m.make(id, n.Root, profile, st)
	if err != nil {
		return uuid.Nil, err
	}
	defer func() {
		if err != nil {
			s.discard(ctx)
		}
	}()
	now := s.clock.Now().UTC().Truncate(time.Microsecond)
	s.record = store.Session{
		ID: id, Subject: settings.Subject, Harness: n.Profile, Root: n.Root, CreatedAt: now, UpdatedAt: now, Commands: []string{},
	}
	if n.Title != "" {
		s.record.Title = &n.Title
	}
	if err := m.storeFirst(ctx, s, st); err != nil {
		return uuid.Nil, err
	}
	if err := m.adopt(s, nil); err != nil {
		return uuid.Nil, err
	}
	return id, nil
}

// storeFirst stores the record of a new session and takes its lease, or has the person
// decide whether the session begins unsaved.
func (m *Manager) storeFirst(ctx context.Context, s *Session, st store.Store) error {
	if err := st.Put(ctx, s.record); err != nil {
		if _, backend := errors.AsType[*store.BackendError](err); !backend {
			return fmt.Errorf("store session %s: %w", s.id, err)
		}
		if !s.mayGoUnsaved(ctx, err) {
			return fmt.Errorf("the session cannot be saved, so it was not begun: %w", err)
		}
		if err := s.journal.lose(ctx, err); err != nil {
			return err
		}
	} else if err := s.lease(ctx); err != nil {
		return err
	}
	if m.cfg.Unsaved != nil {
		if err := m.cfg.Unsaved(); err != nil {
			if err := s.journal.warn(ctx, err); err != nil {
				return err
			}
		}
	}
	return nil
}

// make builds a session that is not started yet.
func (m *Manager) make(id uuid.UUID, root string, profile model.Profile, st store.Store) (*Session, error) {
	ws, err := m.editor.Workspace(root)
	if err != nil {
		return nil, &ArgumentError{"root", err.Error()}
	}
	clk, err := m.cfg.Clock(profile)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	settings := m.settings.of(root)
	m.mu.Unlock()
	s := &Session{
		manager: m, id: id, root: root, ledger: ledger{profile: profile.Name}, editor: m.editor, cfg: &m.cfg, log: m.cfg.Log, clock: clk,
		settings: settings, turns: map[uint64]*turn{},
	}
	s.backlog.s = s
	s.requests = &requester{s: s, models: map[string]opened{}}
	s.journal = &journal{id: id, store: st, now: clk.Now, folder: new(history.Folder), report: func(e store.Event, p event.Payload) {
		m.editor.Event(id, root, e, p)
	}, metered: func() { m.editor.Usage(s.used()) }, meter: new(meter), stalled: s.stalled, forget: make(chan struct{}), retry: m.cfg.retryTime}
	s.work = &workspace{Workspace: ws, journal: s.journal}
	if s.tools, err = m.cfg.Tools(s.work); err != nil {
		return nil, fmt.Errorf("open the tools of %s: %w", root, err)
	}
	if err := s.tools.Add(questionTool{s}); err != nil {
		return nil, fmt.Errorf("add the session's own tools: %w", err)
	}
	return s, nil
}

// adopt starts a session, has it do what comes first, and lists it.
func (m *Manager) adopt(s *Session, first func()) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return errClosed
	}
	s.start(m.ctx)
	if first != nil {
		s.mail.post(first)
	}
	m.sessions[s.id] = s
	m.recent[s.root] = s.id
	return nil
}

// Wait returns how a turn ended, once it has.
func (m *Manager) Wait(ctx context.Context, id uuid.UUID, turn uint64) (TurnResult, error) {
	s, err := m.session(id)
	if err != nil {
		return TurnResult{}, err
	}
	return s.wait(ctx, turn)
}

// Cancel ends a turn. Without a session the one with a running turn is meant,
// without a turn the one that runs. It returns false when nothing was under way.
func (m *Manager) Cancel(ctx context.Context, id *uuid.UUID, turn *uint64) (bool, error) {
	var n uint64
	if turn != nil {
		n = *turn
	}
	if id != nil {
		s, err := m.session(*id)
		if err != nil {
			return false, err
		}
		return s.cancelTurn(ctx, n)
	}
	cancelled := false
	for _, s := range m.all() {
		ok, err := s.cancelTurn(ctx, n)
		if err != nil && !errors.Is(err, errClosed) {
			return cancelled, err
		}
		cancelled = cancelled || ok
	}
	return cancelled, nil
}

// all returns the sessions of this process, ordered by creation, then id.
func (m *Manager) all() []*Session {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := slices.Collect(maps.Values(m.sessions))
	slices.SortFunc(out, func(a, b *Session) int {
		// Created never changes; the rest of a record is guarded by its session's mu.
		if c := a.record.CreatedAt.Compare(b.record.CreatedAt); c != 0 {
			return c
		}
		return strings.Compare(a.id.String(), b.id.String())
	})
	return out
}

func orderRecords(a, b store.Session) int {
	if c := a.CreatedAt.Compare(b.CreatedAt); c != 0 {
		return c
	}
	return strings.Compare(a.ID.String(), b.ID.String())
}

// Transcript returns a session's events after an index, and the next index.
func (m *Manager) Transcript(ctx context.Context, id uuid.UUID, after *uint64) ([]Entry, uint64, error) {
	m.mu.Lock()
	s, ok := m.sessions[id]
	m.mu.Unlock()
	if ok {
		events, err := entries(s.journal.events(ctx, after))
		return events, s.journal.next(), err
	}
	st, err := m.cfg.Store(ctx)
	if err != nil {
		return nil, 0, fmt.Errorf("open the session store: %w", err)
	}
	if _, ok, err := st.Get(ctx, id); err == nil && !ok {
		return nil, 0, &ArgumentError{"session", fmt.Sprintf("%s is not known", id)}
	}
	events, err := entries(st.Transcript(ctx, id, after))
	if err != nil {
		return nil, 0, err
	}
	head, err := st.Head(ctx, id)
	return events, head, err
}
