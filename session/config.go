package session

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"github.com/agent-lsp/agent-lsp/checker"
	"github.com/agent-lsp/agent-lsp/core"
	"github.com/agent-lsp/agent-lsp/session/clock"
	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/agent-lsp/agent-lsp/session/store"
	"github.com/agent-lsp/agent-lsp/tools"
	"github.com/google/uuid"
)

// Limits that apply unless the settings say otherwise.
const (
	// DefaultMaxRounds bounds the model calls of one turn.
	DefaultMaxRounds = 50
	// MaxPrompt bounds a prompt with its context, in bytes: the core keeps whole
	// conversations in a few MiB, and a prompt is paid for at every round.
	MaxPrompt = 4 << 20
	// maxRepeats is how many identical calls with identical results in a row end
	// a turn.
	maxRepeats = 3
	// maxRefusals is how often in a row a model may send calls that do not fit in the
	// same way within one ask before the ask counts as failed.
	maxRefusals = 3
)

// Tools performs calls for one session. *tools.Executor implements it. One that is
// an io.Closer, too, is closed when its session ends.
type Tools interface {
	Decide(ctx context.Context, op tools.Op) tools.Decision
	Run(ctx context.Context, op tools.Op, label string) tools.Outcome
	// Add appends tools that the session itself provides.
	Add(more ...tools.Tool) error
	// Definitions are those of the session's tools, in order.
	Definitions() []tools.Definition
	// Typed reads a call as a provider sent it; an error is a sentence for the model.
	Typed(name, arguments string) (tools.Op, error)
	// Habit returns what the result of a call says that Typed took for one of ours, and
	// nothing for others.
	Habit(name, arguments string) string
	// Jobs are what runs in the background, in order.
	Jobs() []tools.Job
	// DecideCheck decides about the check after edits, as Decide does about a call: code
	// are the edited files that it may run, manifests those that say how it runs.
	DecideCheck(code, manifests []string) tools.Decision
	// Grant allows what a Decision's Lasting covers for the rest of the session.
	Grant(l tools.Lasting)
	// SetBound sets how many bytes the results of the calls that follow may have.
	SetBound(bytes int)
	// SetMode sets the mode of the calls that follow; it fails where a mode is not
	// offered. Mode returns the one that is in force.
	SetMode(m tools.Mode) error
	Mode() tools.Mode
	// Remember takes what the model has read before: hashes of texts by path.
	Remember(hashes map[string]string)
}

// Checker checks the roots of workspaces.
type Checker interface {
	// AfterEdit checks the roots of the edited files, one result each.
	AfterEdit(ctx context.Context, workspace string, edited []string) []checker.Result
	// Hold ends checks of the edited files' roots that nobody requests, until one is
	// requested. It reports whether a check of them runs anything.
	Hold(workspace string, edited []string) bool
	// Check checks one root of a workspace now.
	Check(ctx context.Context, workspace, root string) checker.Result
	// Roots lists what can be checked in a workspace; with an error, what was found
	// until then.
	Roots(ctx context.Context, workspace string) ([]string, error)
}

// Settings are what a person configured. The manager takes a new value at any
// time; a running turn keeps the one it started with.
type Settings struct {
	Profile string // of new sessions, unless the person picked another
	// ProfileGiven says that Profile was named for this very process, so that what
	// was picked in an earlier one does not count.
	ProfileGiven bool
	Profiles     map[string]model.Profile
	// Offered names profiles that the person never spoke of, because a key for them is
	// in the environment: the first session asks whether to use one.
	Offered []string
	// Complete adds to a profile what is known of its model, and Models are those of its
	// provider; both may be nil.
	Complete  func(*model.Profile)
	Models    func(*model.Profile) []model.Known
	Untrusted bool   // the workspace is not trusted: its instructions are not read
	Prelude   string // standing instructions; the base layer of every request, none when empty
	MaxRounds int    // 0: DefaultMaxRounds
	// RequestTimeout bounds one model call on the session's clock, a provider's own
	// repeats included; 0: no bound.
	RequestTimeout time.Duration
	// TurnCost and SessionCost are what a turn and a session may cost before the
	// person is asked, in US dollars; 0: no limit.
	TurnCost, SessionCost float64
	Subject               string // whose sessions these are, e.g. the user's login name
	// Roots are the settings of single workspace folders, by directory, whole; the
	// others have those above.
	Roots map[string]Settings
}

// profile returns a profile by its name, or by that of a profile and another model of
// its provider's: openai/gpt-5.
func (s Settings) profile(name string) (model.Profile, bool) {
	p, ok := s.Profiles[name]
	if !ok {
		of, other, both := strings.Cut(name, "/")
		if p, ok = s.Profiles[of]; !ok || !both || p.Provider == "script" {
			return model.Profile{}, false
		}
		p.Model, p.Context, p.MaxOutput, p.Vision, p.Price = other, 0, 0, false, model.Price{}
		if s.Complete != nil {
			s.Complete(&p)
		}
	}
	p.Name = name
	return p, true
}

// of are the settings of a workspace folder.
func (s Settings) of(root string) Settings {
	if own, ok := s.Roots[root]; ok {
		return own
	}
	return s
}

// ProviderEnv is what a provider gets beside its profile.
type ProviderEnv struct {
	Session uuid.UUID
	Clock   clock.Clock
	Resumed bool // the session was begun by an earlier process
}

// Config is what a Manager is made of. It owns none of it: whoever opened the
// core and the store closes them after Manager.Shutdown.
type Config struct {
	// Core and Store return what is opened once for all sessions; they may block
	// until it is. Core is called first when a session begins or is resumed.
	Core  func(context.Context) (*core.Core, error)
	Store func(context.Context) (store.Store, error)
	// Unsaved returns why the store forgets, for every new session to say so, or
	// nil. It is called once Store has returned, and may be nil itself.
	Unsaved func() error
	// Provider makes the model of a profile for one session.
	Provider func(ctx context.Context, p model.Profile, env ProviderEnv) (model.Model, error)
	// Tools makes the executor of one session over its workspace.
	Tools   func(ws tools.Workspace) (Tools, error)
	Checker Checker
	// AllowAlways adds an allow rule to the person's configuration and returns when it
	// is in effect; nil where there is none to write to, and then no question offers it.
	AllowAlways func(tools.Rule) error
	// Trusts reports whether programs may run in a workspace folder. It may ask the
	// person, and then calls asking before. Nil trusts every folder.
	Trusts func(ctx context.Context, root string, asking func()) bool
	// Clock makes the clock of a session with this profile.
	Clock func(p model.Profile) (clock.Clock, error)
	// NewID makes the nth id, from 1, of a session with this profile. It is asked
	// for the next one when the store has a session of that id.
	NewID    func(p model.Profile, n int) (uuid.UUID, error)
	Settings Settings
	// LeaseTTL is how long a session stays with a process that no longer renews;
	// 0: DefaultLeaseTTL.
	LeaseTTL time.Duration
	Log      *slog.Logger

	// agreed is called before each request with whether the folded transcript and the
	// core's own conversation are the same. Tests only: it costs a walk of both.
	agreed func(error)
	// stepTime bounds one step of the core; 0: defaultStepTime. Tests only.
	stepTime time.Duration
	// retryTime is the first time between attempts at a store that fails; 0:
	// firstRetry. Tests only.
	retryTime time.Duration
}

// defaultStepTime is far more than a step takes, which is microseconds and, with a
// prompt of many megabytes, a second: one that takes longer would never end.
const defaultStepTime = 30 * time.Second
