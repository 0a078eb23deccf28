package session

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agent-lsp/agent-lsp/core"
	"github.com/agent-lsp/agent-lsp/session/clock"
	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/agent-lsp/agent-lsp/session/store"
	"github.com/agent-lsp/agent-lsp/tools"
	"github.com/google/uuid"
)

// Session drives one core session. One goroutine, the loop behind the mailbox,
// owns everything marked so below and is the only one that steps the core; model
// calls and tools run in goroutines of their own and post back what they found.
type Session struct {
	manager   *Manager
	id        uuid.UUID
	root      string
	editor    Editor
	cfg       *Config
	log       *slog.Logger
	clock     clock.Clock
	journal   *journal
	tools     Tools
	work      *workspace
	requests  *requester
	resumed   bool
	leased    store.Lease // nil when the store could not be written at the start
	undoing   sync.Mutex  // one undo at a time
	builds    builds
	todo      todo
	inquiries atomic.Uint64 // counts the model's questions to the person
	unsaved   sync.Once     // guards the one question whether to go on unsaved
	mode      mode
	questions tally

	ctx  context.Context // ends with the session
	stop context.CancelFunc
	mail *mailbox
	wg   sync.WaitGroup // the loop and every goroutine it started

	// Owned by the loop.
	core *core.Session
	ledger
	backlog backlog
	broken  error // why the core cannot be stepped any more
	// recovered says that the core was made anew and has not taken a step since.
	recovered bool
	asking    chan struct{} // closed when the last ask has come back; nil before the first

	mu       sync.Mutex // guards what follows
	settings Settings
	choice   string // the profile of the turns that begin from now on; "": the one before
	nextTurn uint64
	turns    map[uint64]*turn // every turn of this process, for those who wait
	record   store.Session
	doing    string
	endedBy  error // why the session does not go on in this process
}

// turn is one prompt on its way.
type turn struct {
	id       uint64
	core     uint64 // its number in the core
	prompt   string // guarded by the session's mu until the turn begins
	settings Settings
	profile  string          // that it asks first
	ctx      context.Context // nil until the turn begins; set with the session's mu locked
	cancel   context.CancelFunc
	done     chan struct{} // closed when result is final
	ended    bool          // guarded by the session's mu

	// Owned by the loop.
	round  int              // model calls so far
	calls  map[uint64]*call // dispatched, without a result
	result TurnResult
	// finished is ended as the loop sees it.
	finished bool
	layers   layers
	// What repeats itself among the calls that were performed, and among those that
	// the core refused, whose results come before those of their reply's others.
	guard, refused guard
	// described are the titles and effects of the calls of the reply that comes next
	// to the core, in order.
	described []described
	granted   float64 // beyond its limit on cost; guarded by the requester's mu
	// stopping ends the turn at its next model call, and says why.
	stopping *event.Note
}

// call is one action that awaits its result, or one that the core refused.
type call struct {
	id      uint64
	index   uint64 // of its event in the transcript
	name    string
	args    string
	effect  string // as journaled; "" for one of a transcript of before
	op      tools.Op
	refused bool          // by the core, which makes its result itself
	began   atomic.Int64  // when its tool started, in Unix nanoseconds; 0 before
	lost    *event.Result // what the core could not take
}

// start runs the loop. The session ends with parent or by close.
func (s *Session) start(parent context.Context) {
	s.ctx, s.stop = context.WithCancel(parent)
	s.mail = newMailbox()
	if s.leased != nil {
		s.wg.Go(s.keepLease)
	}
	s.wg.Go(func() {
		s.mail.run(s.ctx)
		if s.core != nil {
			// The session's context has ended; the instance still has to go.
			if err := s.core.Close(context.WithoutCancel(s.ctx)); err != nil {
				s.log.Warn("close core session", "session", s.id, "err", err)
			}
		}
	})
}

// close suspends the session: running work is stopped, nothing is returned to
// the core, and a later resume goes on from the journal.
func (s *Session) close() {
	s.stop()
	s.wg.Wait()
	s.closeTools()
}

// open makes the core's session if there is none yet. Loop only.
func (s *Session) open() error {
	if s.broken != nil {
		return s.broken
	}
	if s.core != nil {
		return nil
	}
	c, err := s.cfg.Core(s.ctx)
	if err == nil {
		s.core, err = c.New(s.ctx, core.Config{})
	}
	if err != nil {
		s.broken = fmt.Errorf("open the agent's core: %w", err)
	}
	return s.broken
}

// prompt accepts a turn and returns its id at once.
func (s *Session) prompt(p Prompt) (uint64, error) {
	if err := s.ended(); err != nil {
		return 0, err
	}
	s.mu.Lock()
	t := s.backlog.turn(p)
	// Posted under mu, so that prompts stand in the order of their turns.
	ok := s.mail.post(func() { s.backlog.accept(t, p) })
	s.mu.Unlock()
	if !ok {
		return 0, errClosed
	}
	return t.id, nil
}

// ended returns why the session does not go on in this process, or nil. A resume
// makes it anew.
func (s *Session) ended() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.endedBy == nil {
		return nil
	}
	return fmt.Errorf("session %s does not go on here; resume it or make a new one: %w", s.id, s.endedBy)
}

// begin steps the core with a prompt. Loop only.
func (s *Session) begin(t *turn, p Prompt) {
	s.mu.Lock()
	t.ctx, t.cancel = context.WithCancel(s.ctx)
	t.settings, t.profile = s.settings, s.profile
	if s.choice != "" {
		t.profile = s.choice
	}
	s.mu.Unlock()
	s.profile = t.profile
	user := &event.User{Turn: t.id, Text: p.Text, Context: p.Context}
	if t.id <= s.highest {
		user.Core = s.highest + 1
	}
	s.enter(t, user.InCore())
	if err := s.open(); err != nil {
		s.lose(err, user)
		return
	}
	s.step(core.Event{Turn: &core.Turn{ID: t.core, Prompt: promptText(user)}}, user)
	s.touch(func(r *store.Session) {
		r.Turns, r.Harness = max(r.Turns, t.id), t.profile
		if r.Title == nil {
			r.Title = new(titleOf(t.prompt))
		}
	})
}

// touch keeps the session's record as change leaves it. Loop only.
func (s *Session) touch(change func(*store.Session)) {
	s.mu.Lock()
	s.record.UpdatedAt = s.clock.Now().UTC().Truncate(time.Microsecond)
	change(&s.record)
	rec := s.record
	s.mu.Unlock()
	if s.journal.failure() != nil {
		return
	}
	if err := s.journal.store.Put(s.ctx, rec); err != nil && s.ctx.Err() == nil {
		s.log.Warn("update the session's record", "session", s.id, "err", err)
	}
}

const cancelledByUser = "cancelled by the user"

// cancelTurn ends a running turn, 0 is the one that runs, or takes a prompt that
// waits out. Behind a turn that was cancelled nothing begins by itself. It returns false
// when there is no such turn under way. What a turn does stops at once, also while
// its end waits until it can be stored.
func (s *Session) cancelTurn(ctx context.Context, id uint64) (bool, error) {
	found := false
	cancel := func() {
		if i := s.backlog.find(id); i >= 0 {
			found = true
			s.backlog.withdraw(i, cancelledByUser)
			return
		}
		for i, t := range s.queue {
			if id == 0 || t.id == id {
				found = true
				s.backlog.paused = s.backlog.paused || i == 0
				s.end(t, &event.Note{Turn: t.id, Text: cancelledByUser, Cancels: true})
				return
			}
		}
	}
	if s.journal.stopped() != nil && s.stopWork(id) {
		return s.mail.post(cancel), nil
	}
	if err := s.mail.do(ctx, cancel); err != nil {
		return false, err // cancel may still run
	}
	return found, nil
}

// stopWork ends the context of a turn under way.
func (s *Session) stopWork(id uint64) (found bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.turns {
		if !t.ended && t.ctx != nil && (id == 0 || t.id == id) {
			t.cancel()
			found = true
		}
	}
	return found
}

// end cancels a turn in the core; why says so in the transcript. Loop only.
func (s *Session) end(t *turn, why event.Payload) {
	t.cancel()
	if t.finished {
		return
	}
	event.Valid(why)
	switch w := why.(type) {
	case *event.Note:
		t.result.Text = w.Text
	case *event.Error:
		t.result.Text = w.Message
	}
	payloads := append([]event.Payload{why}, t.cutOff()...)
	if s.broken != nil {
		s.lose(s.broken, why)
		return
	}
	s.step(core.Event{Cancel: &core.Cancel{Turn: t.core}}, payloads...)
}

// cutOff are the results of a turn's calls that have none, which get no other.
func (t *turn) cutOff() []event.Payload {
	var out []event.Payload
	for _, c := range sortedCalls(t.calls) {
		r := &event.Result{Turn: t.id, ID: c.id, Call: c.index, State: event.Cancelled, Text: c.cancelled()}
		if c.lost != nil {
			r.Edit, r.More, r.Changed = c.lost.Edit, c.lost.More, c.lost.Changed
		}
		out = append(out, r)
	}
	t.calls = map[uint64]*call{}
	return out
}

// ending takes a turn off what is under way, before its end is reported: whoever
// reads of the end finds the session at rest. Loop only.
func (s *Session) ending(t *turn) {
	if t.cancel != nil {
		t.cancel()
	}
	t.finished = true
	s.queue = remove(s.queue, t)
	s.requests.releasePictures(t)
	s.mu.Lock()
	defer s.mu.Unlock()
	t.ended = true
	if len(s.queue) == 0 {
		s.doing = ""
	}
}

// finish makes a turn's result final, once its end is recorded. Whoever waits for
// it finds the session's record up to date. Loop only.
func (s *Session) finish(t *turn, outcome string) {
	s.touch(func(*store.Session) {})
	t.result.Outcome = outcome
	close(t.done)
}

// wait returns how a turn ended.
func (s *Session) wait(ctx context.Context, id uint64) (TurnResult, error) {
	s.mu.Lock()
	t, ok := s.turns[id]
	s.mu.Unlock()
	if !ok {
		return TurnResult{}, &ArgumentError{"turn", fmt.Sprintf("session %s has no turn %d", s.id, id)}
	}
	select {
	case <-t.done:
		return t.result, nil
	case <-ctx.Done():
		return TurnResult{}, ctx.Err()
	case <-s.ctx.Done():
		return TurnResult{}, errors.New("the session was suspended before the turn ended; it can be resumed")
	}
}

// setDoing is what the status bar says that the session is at.
func (s *Session) setDoing(text string) {
	s.mu.Lock()
	s.doing = event.Text(text)
	s.mu.Unlock()
}

// info describes the session for a listing.
func (s *Session) info() Info {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := infoOf(s.record)
	i.State, i.Mode, i.Jobs = "idle", string(s.tools.Mode()), s.tools.Jobs()
	for _, t := range s.turns {
		if !t.ended && t.ctx != nil {
			i.State = "running"
		}
	}
	if strings.HasPrefix(s.doing, waitingPrefix) {
		i.State = "waiting"
	}
	return i
}

// titleOf makes a session's title of its first prompt.
func titleOf(prompt string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(prompt), "\n")
	r := []rune(line)
	if len(r) > 80 {
		return string(r[:79]) + "…"
	}
	return line
}
