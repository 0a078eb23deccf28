package tools

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/agent-lsp/agent-lsp/tools/proc"
)

// The defaults of a Config.
const (
	DefaultExecTimeout   = 120 * time.Second
	DefaultOutput        = 16000   // characters of each stream of a command
	DefaultMaxRead       = 2 << 20 // bytes of a file that is read into memory as a whole
	DefaultMaxFile       = 64 << 20
	DefaultBrowseBytes   = 2_000_000
	DefaultBrowseTimeout = 30 * time.Second
)

// Config is what an Executor works with. The zero value of a member means its
// default.
type Config struct {
	// Workspace is where everything happens. The caller owns and closes it.
	Workspace Workspace
	Policy    Policy
	// Tools are the session's own, behind the built-in ones.
	Tools  []Tool
	Exec   ExecConfig
	Browse BrowseConfig
	// MaxRead bounds the bytes of a file that a Read has in memory.
	MaxRead int64
	// State are absolute paths of the server's own files, its store and its
	// configuration for instance: nothing is written at or below them.
	State []string
}

// ExecConfig bounds the programs that Exec and Git run.
type ExecConfig struct {
	Timeout time.Duration // of one command
	Output  int           // characters kept of each stream
	// Env is the environment that is chosen from; nil means the server's.
	Env []string
	// Secrets are names of variables that no command gets, e.g. those of model keys.
	Secrets []string
	// Keep are names of variables that commands get besides those of
	// proc.Environment; Secrets win.
	Keep []string
	// Sandbox confines commands, besides in their workspace; nil confines none. See
	// package sandbox.
	Sandbox *proc.Sandbox
	// AskNetwork gives the network only to commands that request it in their
	// arguments, each after a person's approval.
	AskNetwork bool
	// Whole says that Sandbox confines files, network, sockets and processes alike, so
	// that the mode auto may run commands unasked.
	Whole bool
}

// BrowseConfig bounds what Browse fetches.
type BrowseConfig struct {
	// AllowPrivate permits addresses of the machine itself and of private networks.
	AllowPrivate bool
	MaxBytes     int64 // of a body, before it becomes text
	Output       int   // characters of the text
	Timeout      time.Duration
}

// Executor performs calls for one session in one workspace, and remembers what
// the session's model has read. It is safe for concurrent use; calls that change
// things are to be run one after the other.
type Executor struct {
	cfg   Config
	ws    Workspace
	seen  memory
	tools Registry
	plans Registry // the tool plan alone, which only one mode has
	repos repositories
	jobs  jobs
	// outer is git's directory outside the root that commands may write to, found
	// once: what they change in the workspace gives them no other.
	outer string
	// dial says whether an address may be dialled; it is BrowseConfig.mayDial.
	dial func(address string) error

	mu      sync.Mutex // guards what follows, and cfg.Policy
	granted []Lasting
	bound   int  // bytes of a result; 0: no bound
	mode    Mode // that SetMode set; "" is the policy's
}

// New makes an executor. It fails for a Config without a Workspace, with two tools
// of one name, or with a rule that names no tool.
func New(cfg Config) (*Executor, error) {
	if cfg.Workspace == nil {
		return nil, errors.New("tools: no workspace")
	}
	def(&cfg.Exec.Timeout, DefaultExecTimeout)
	def(&cfg.Exec.Output, DefaultOutput)
	def(&cfg.Browse.MaxBytes, DefaultBrowseBytes)
	def(&cfg.Browse.Output, DefaultOutput)
	def(&cfg.Browse.Timeout, DefaultBrowseTimeout)
	def(&cfg.MaxRead, DefaultMaxRead)
	e := &Executor{cfg: cfg, ws: cfg.Workspace, repos: repositories{cfg.Workspace, cfg.Exec}}
	e.dial = cfg.Browse.mayDial
	e.outer = e.repos.outer()
	if err := e.tools.Add(slices.Concat(builtin(e), cfg.Tools)...); err != nil {
		return nil, err
	}
	if err := e.plans.Add(planTool{e}); err != nil {
		return nil, err
	}
	if err := cfg.Policy.validate(&e.tools); err != nil {
		return nil, err
	}
	return e, nil
}

func def[T comparable](v *T, d T) {
	var zero T
	if *v == zero {
		*v = d
	}
}

// SetPolicy replaces the policy for the calls that follow; what was granted for the
// session stays granted. It fails, and changes nothing, for a rule that names
// no tool.
func (e *Executor) SetPolicy(p Policy) error {
	if err := p.validate(&e.tools); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.cfg.Policy = p
	return nil
}

// Seen returns the hash of the text of every file that the model knows, by path
// relative to the root.
func (e *Executor) Seen() map[string]string { return e.seen.hashes() }

// Remember adds files that the model knows by the hash of what it saw, as Seen
// gave them or as results of an earlier run have them: Outcome.ReadHash, and
// where that is empty the hash of a Change's After. An empty hash or Unread makes
// it forget the file. A path may be any that names the file.
func (e *Executor) Remember(hashes map[string]string) {
	found := make(map[string]string, len(hashes))
	for name, hash := range hashes {
		if hash == Unread {
			hash = ""
		}
		if p, err := e.find(name); err == nil {
			name = p
		}
		found[name] = hash
	}
	e.seen.restore(found)
}

// SetBound sets how many bytes the results of the calls that follow may have, which
// is a part of the model's window; 0 is no bound. What a tool cannot make shorter
// itself, its caller cuts.
func (e *Executor) SetBound(bytes int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.bound = bytes
}

// noteRoom is what the last line of a result takes, which says what was left out.
const noteRoom = 200

// room returns how many bytes a tool's text may have that is bounded to most itself.
func (e *Executor) room(most int) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.bound > 0 {
		return max(min(most, e.bound-noteRoom), 1)
	}
	return most
}

// Run performs a call that policy allowed and returns its outcome for the model. It
// does not call Decide, but refuses what no approval can allow. The label names the
// turn, for the editor's undo list. The text depends only on the call and the state
// of the workspace: it contains no times, process numbers or temporary names. When ctx ends the call is stopped and
// the state is Cancelled; an edit that landed is Completed all the same.
func (e *Executor) Run(ctx context.Context, op Op, label string) Outcome {
	if ctx.Err() != nil {
		return cancelled()
	}
	t, c, err := e.open(op)
	if err != nil {
		return failed(err)
	}
	c.Label = label
	return t.Run(ctx, c)
}

// Add appends tools to the built-in ones. A name that another tool has already is an
// error.
func (e *Executor) Add(more ...Tool) error { return e.tools.Add(more...) }

// Definitions returns the definitions of the session's tools, in the order in which models are
// shown them. The last one of the mode plan is the tool plan.
func (e *Executor) Definitions() []Definition {
	defs := e.tools.Definitions()
	if e.Mode() == ModePlan {
		defs = append(defs, e.plans.Definitions()...)
	}
	return defs
}

// Typed reads a call as a provider sent it for the core; see Registry.Typed.
func (e *Executor) Typed(name, arguments string) (Op, error) {
	if name == planName && e.Mode() == ModePlan {
		return e.plans.Typed(name, arguments)
	}
	return e.local(e.tools.Typed(name, arguments))
}

// open returns the tool that a call names, as Registry.open does.
func (e *Executor) open(op Op) (Tool, Call, error) {
	if op.Tool != nil && op.Tool.Name == planName {
		return e.plans.open(op)
	}
	return e.tools.open(op)
}

// Habit returns what the result of a call of habit says; see Registry.Habit.
func (e *Executor) Habit(name, arguments string) string { return e.tools.Habit(name, arguments) }

// env returns the environment of commands: what proc.Environment passes.
func (c ExecConfig) env() []string {
	return proc.Environment(c.baseEnv(), c.Keep, c.Secrets)
}

func (c ExecConfig) baseEnv() []string {
	if c.Env != nil {
		return c.Env
	}
	return os.Environ()
}

func cancelled() Outcome { return Outcome{State: Cancelled, Text: "cancelled"} }

func failf(format string, args ...any) Outcome {
	return Outcome{State: Failed, Text: fmt.Sprintf(format, args...)}
}

// failed returns the outcome of a call that failed; the model reads the error.
func failed(err error) Outcome { return Outcome{State: Failed, Text: err.Error()} }
