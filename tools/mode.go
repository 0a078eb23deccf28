package tools

import (
	"fmt"
	"slices"
)

// Mode says what runs without a person's word.
type Mode string

// The modes. Reading, and git where it only reads, runs in every one.
const (
	ModePlan  Mode = "plan"  // what changes something is refused; the model may give a plan
	ModeAsk   Mode = "ask"   // all that changes something is asked; the default
	ModeEdits Mode = "edits" // edits run unasked
	ModeAuto  Mode = "auto"  // edits run unasked, and so do commands that the sandbox confines wholly
	ModeAll   Mode = "all"   // everything runs, except what always asks

	// ModeReadOnly is another name of ModePlan.
	ModeReadOnly Mode = "read-only"
)

// Modes are the modes, from the narrowest to the widest.
func Modes() []Mode { return []Mode{ModePlan, ModeAsk, ModeEdits, ModeAuto, ModeAll} }

// ParseMode returns the mode of a name; "" is ModeAsk. It fails for any other text
// than a mode's.
func ParseMode(name string) (Mode, error) {
	m := Mode(name).plain()
	if !slices.Contains(Modes(), m) {
		return "", fmt.Errorf("there is no mode %q: use plan, ask, edits, auto or all", name)
	}
	return m, nil
}

// plain returns the mode by its own name.
func (m Mode) plain() Mode {
	switch m {
	case "":
		return ModeAsk
	case ModeReadOnly:
		return ModePlan
	}
	return m
}

// edits reports whether edits run unasked.
func (m Mode) edits() bool { return m == ModeEdits || m == ModeAuto || m == ModeAll }

// Told is what a model is told of a mode, one sentence.
func (m Mode) Told() string {
	switch m.plain() {
	case ModePlan:
		return "The session is in the mode plan: read and look only, nothing is written or run; when you know enough, give your plan with the tool plan and end your turn."
	case ModeEdits:
		return "The session is in the mode edits: your edits run unasked, and the person is asked about commands and the network."
	case ModeAuto:
		return "The session is in the mode auto: your edits, and commands in a sandbox without network, run unasked; the person is asked about the network, about protected files, and about git calls that change refs or reach a remote."
	case ModeAll:
		return "The session is in the mode all: your calls run unasked but for a few that always ask."
	}
	return "The session is in the mode ask: the person is asked about each edit, each command and the network."
}

// NotOffered is the error for the mode auto where commands cannot be confined wholly.
type NotOffered struct{}

func (NotOffered) Error() string {
	return "the mode auto is not offered here, because commands cannot be confined wholly (see agent-lsp doctor): use edits"
}

// SetMode sets the mode of the calls that follow, in place of the policy's. It fails,
// and changes nothing, for an unknown mode, and with NotOffered for ModeAuto where
// commands cannot be confined wholly.
func (e *Executor) SetMode(m Mode) error {
	m, err := ParseMode(string(m))
	if err != nil {
		return err
	}
	if m == ModeAuto && !e.confinesWholly() {
		return NotOffered{}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.mode = m
	return nil
}

// Mode returns the mode that is in force.
func (e *Executor) Mode() Mode { return e.policy().Mode }

// policy returns the policy that is in force. Where the mode auto is not offered,
// edits is in its place.
func (e *Executor) policy() Policy {
	e.mu.Lock()
	defer e.mu.Unlock()
	p := e.cfg.Policy
	if e.mode != "" {
		p.Mode = e.mode
	}
	p.Mode = p.Mode.plain()
	if p.Mode == ModeAuto && !e.confinesWholly() {
		p.Mode = ModeEdits
	}
	return p
}

// confinesWholly reports whether commands can do nothing outside of what the sandbox
// gives them, so that a mode may run them unasked.
func (e *Executor) confinesWholly() bool { return e.cfg.Exec.Sandbox != nil && e.cfg.Exec.Whole }

// runsUnasked reports whether the mode auto runs a command without a question: the
// sandbox confines it wholly, without network. Git as a program follows the rules of
// the tool git.
func (t execTool) runsUnasked(op execArgs) bool {
	if !t.confinesWholly() || t.connects(op) || t.cfg.Exec.Sandbox.Network && !t.cfg.Exec.AskNetwork {
		return false
	}
	return !slices.ContainsFunc(unfold(op.Argv).commands, func(argv []string) bool {
		if programName(argv[0]) != "git" {
			return false
		}
		c, err := parseGit(argv[1:])
		return err != nil || !c.reads && !c.runsUnasked()
	})
}

// gitLocal are the subcommands that change files of the work tree and the index alone:
// no ref, no settings, no remote.
var gitLocal = []string{"add", "mv", "rm"}

// runsUnasked reports whether the mode auto runs a call of git that changes something
// without a question.
func (c gitCommand) runsUnasked() bool { return slices.Contains(gitLocal, c.name) }
