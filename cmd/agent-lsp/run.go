package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/agent-lsp/agent-lsp/lsp/wire"
	"github.com/agent-lsp/agent-lsp/server"
	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/go-json-experiment/json/jsontext"
)

// runCommand is agent-lsp run: one prompt without an editor.
type runCommand struct {
	Dir      string `short:"C" default:"." placeholder:"DIR" help:"The workspace."`
	Profile  string `placeholder:"NAME" xor:"model" help:"The model profile to ask; the configured one by default."`
	Script   string `placeholder:"FILE" xor:"model" help:"Answer from a script instead of a model."`
	Record   string `placeholder:"FILE" help:"Write the model's answers as a script that replays them."`
	RealTime bool   `help:"Sleep the latencies that a script declares."`
	Trust    bool   `help:"Trust the workspace for this run: commands and checks may run programs of it."`
	Yes      bool   `short:"y" xor:"approve" help:"Allow whatever would be asked about, trust in the workspace included."`
	Deny     bool   `xor:"approve" help:"Deny whatever would be asked about."`
	Copy     bool   `help:"Work on a temporary copy of the workspace and leave the original as it is."`
	JSON     bool   `help:"Print one transcript event a line, as JSON."`
	Prompt   string `arg:"" help:"What the agent should do."`
}

// The exit codes of run.
const (
	exitDone     = 0 // the turn completed and the last check found nothing
	exitFindings = 1 // findings remain, or the last check did not run
	exitError    = 2 // the turn did not complete
)

// Run performs the command and answers the exit code.
func (r *runCommand) Run(_ *cli, std stdio) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	context.AfterFunc(ctx, stop) // a second interrupt ends the program
	code, err := r.run(ctx, std)
	if err != nil {
		fmt.Fprintln(std.err, "agent-lsp run:", err)
		return exitError
	}
	return code
}

func (r *runCommand) run(ctx context.Context, std stdio) (code int, err error) {
	dir, err := filepath.Abs(r.Dir)
	if err != nil {
		return 0, fmt.Errorf("workspace: %w", err)
	}
	if info, err := os.Stat(dir); err != nil {
		return 0, fmt.Errorf("workspace: %w", err)
	} else if !info.IsDir() {
		return 0, fmt.Errorf("workspace: %s is not a directory", dir)
	}
	if r.Trust = r.Trust || r.Yes; !r.Trust && !server.TrustKnown(dir) && !r.Deny && !isTerminal(std.in) {
		return 0, fmt.Errorf("%s is not trusted yet, and there is no terminal to ask on: --trust trusts it for this run, --yes also allows whatever would be asked about, and --deny runs nothing of it", plain(dir))
	}
	if r.Copy {
		r.Trust = r.Trust || server.TrustKept(dir) // the copy is another path
		var remove func()
		if dir, remove, err = copyWorkspace(dir); err != nil {
			return 0, err
		}
		defer remove()
	}
	options, err := r.options()
	if err != nil {
		return 0, err
	}

	srv := server.New(std.err, server.Config{Record: r.Record, Virtual: !r.RealTime, NoOffers: r.Yes || r.Deny})
	srv.Warm() // the prompt comes at once
	toServer, in := wire.Pipe()
	fromServer, out := wire.Pipe()
	served := make(chan struct{})
	go func() {
		defer close(served)
		serveLSP(context.WithoutCancel(ctx), srv, toServer, out, 0)
	}()
	defer func() { <-served }()

	show := &printer{out: std.out, json: r.JSON, people: people{w: std.out, calls: map[uint64]string{}}, done: make(chan struct{}), wanted: srv.StoreNamed}
	ask := r.asker(std)
	c := &client{transcript: show.event, approve: ask.approve, choose: ask.choose, question: ask.question, unsaved: make(chan string, 1)}
	connect(context.WithoutCancel(ctx), c, fromServer, in)
	defer in.Close() //nolint:errcheck // the server's end of it is what matters
	return r.turn(ctx, c, dir, options, show)
}

// turn runs the prompt to its end.
func (r *runCommand) turn(ctx context.Context, c *client, dir string, options any, show *printer) (int, error) {
	live := context.WithoutCancel(ctx) // an interrupt cancels the turn, not the conversation
	if err := c.initialize(live, dir, options); err != nil {
		return 0, err
	}
	defer func() {
		end, cancel := context.WithTimeout(live, 5*time.Second)
		defer cancel()
		c.end(end) //nolint:errcheck // the pipe's end stops the server as well
	}()
	ended := make(chan error, 1)
	go func() {
		var end struct {
			Text string `json:"text"`
		}
		err := c.command(live, "agent.prompt", map[string]any{"text": r.Prompt, "wait": true}, &end)
		select {
		case <-show.done: // came before
		default:
			err = cmp.Or(err, errors.New("the turn's end was not recorded: "+end.Text))
		}
		ended <- err
	}()
	if err := r.wait(ctx, c, show, ended); err != nil {
		return 0, err
	}
	code, err := show.verdict()
	if err == nil && show.wanted() {
		err = saved(live, c)
	}
	return code, err
}

// wait returns when the turn has ended, with an error when it never will: it was
// refused, its session was suspended, or it cannot be saved.
func (r *runCommand) wait(ctx context.Context, c *client, show *printer, ended <-chan error) error {
	interrupted := ctx.Done()
	for {
		select {
		case <-show.done:
			return nil
		case err := <-ended:
			return err
		case why := <-c.unsaved:
			return errors.New(why)
		case <-interrupted:
			interrupted = nil
			if err := c.command(context.WithoutCancel(ctx), "agent.cancel", map[string]any{}, nil); err != nil {
				return fmt.Errorf("cancel the turn: %w", err)
			}
		}
	}
}

// saved is an error when the session is not kept where somebody wanted it kept.
func saved(ctx context.Context, c *client) error {
	var status struct {
		Store string `json:"store"`
	}
	if err := c.command(ctx, "agent.status", map[string]any{}, &status); err != nil {
		return err
	}
	if status.Store != "ready" {
		return fmt.Errorf("the turn is complete, but its session is not saved: %s", status.Store)
	}
	return nil
}

// options are the initializationOptions of the server.
func (r *runCommand) options() (map[string]any, error) {
	options := map[string]any{}
	if r.Trust {
		options["trusted"] = true
	}
	switch {
	case r.Script != "":
		script, err := filepath.Abs(r.Script)
		if err != nil {
			return nil, fmt.Errorf("script: %w", err)
		}
		options["profile"] = map[string]any{"provider": "script", "script": script}
	case r.Profile != "":
		options["profile"] = r.Profile
	}
	return options, nil
}

// printer shows the transcript and remembers how the turn went. Its methods are
// called from the connection's reader, one at a time, until done is closed.
type printer struct {
	out  io.Writer
	json bool
	people
	done   chan struct{} // closed at the turn's end
	wanted func() bool   // somebody named the store of the session

	outcome string
	failure string
	last    map[string]bool // by root: the last check looked and found nothing
}

func (p *printer) event(index uint64, at time.Time, payload event.Payload, raw jsontext.Value) {
	switch e := payload.(type) {
	case *event.Check:
		if p.last == nil {
			p.last = map[string]bool{}
		}
		p.last[e.Root] = e.Outcome == "clean" && len(e.Unseen) == 0
	case *event.Error:
		p.failure = e.Message
	case *event.Note:
		if e.Cancels {
			p.failure = e.Text
		}
	}
	if p.json {
		printJSON(p.out, index, at, raw) //nolint:errcheck // who reads the output is gone
	} else {
		p.people.event(payload)
	}
	if d, ok := payload.(*event.Done); ok && p.outcome == "" {
		p.outcome = d.Outcome
		close(p.done)
	}
}

// verdict is the exit code of a finished turn.
func (p *printer) verdict() (int, error) {
	if p.outcome != "complete" {
		if p.failure == "" {
			p.failure = "the turn was cancelled"
		}
		return exitError, errors.New(p.failure)
	}
	for _, clean := range p.last {
		if !clean {
			return exitFindings, nil
		}
	}
	return exitDone, nil
}
