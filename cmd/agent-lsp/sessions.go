package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/agent-lsp/agent-lsp/config"
	"github.com/agent-lsp/agent-lsp/server"
	"github.com/agent-lsp/agent-lsp/session"
	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/agent-lsp/agent-lsp/session/store"
	"github.com/google/uuid"
)

// sessionsCommand is agent-lsp sessions: what is kept, without a server.
type sessionsCommand struct {
	Store string `placeholder:"DSN" help:"Where sessions are kept; the configured place by default."`

	List   sessionsList   `cmd:"" default:"1" help:"List the sessions."`
	Show   sessionsShow   `cmd:"" help:"Show a session's transcript."`
	Export sessionsExport `cmd:"" help:"Print a session's transcript, one JSON event a line."`
	Move   sessionsMove   `cmd:"" help:"Make a session one of another workspace folder, e.g. of the same project on this machine."`
	Rm     sessionsRm     `cmd:"" help:"Delete sessions."`
	Prune  sessionsPrune  `cmd:"" help:"Delete the sessions that the configured retention does not keep."`
}

// withStore opens the configured store for one command.
func (c *cli) withStore(std stdio, do func(context.Context, store.Store, *config.Config) error) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	cfg := server.Settings("", logTo(std.err)).Config
	dsn, err := c.Sessions.Store, error(nil)
	if dsn == "" {
		dsn = cfg.Store
	}
	if dsn == "" {
		dsn, err = server.DefaultStore()
	}
	var st store.Store
	if err == nil {
		st, err = store.Open(ctx, dsn)
	}
	if err == nil {
		err = errors.Join(do(ctx, st, &cfg), st.Close())
	}
	if err != nil {
		fmt.Fprintln(std.err, "agent-lsp sessions:", err)
		return exitError
	}
	return exitDone
}

type sessionsList struct{}

// Run lists the sessions, ordered by creation.
func (*sessionsList) Run(c *cli, std stdio) int {
	return c.withStore(std, func(ctx context.Context, st store.Store, _ *config.Config) error {
		l, err := st.List(ctx)
		if err != nil {
			return err
		}
		profile, root := len("PROFILE"), len("WORKSPACE") // how wide the columns are
		for _, s := range l.Sessions {
			profile, root = max(profile, utf8.RuneCountInString(s.Harness)), max(root, utf8.RuneCountInString(plain(s.Root)))
		}
		row := fmt.Sprintf("%%-36v  %%-19s  %%5v  %%-%ds  %%-%ds  %%s\n", profile, root)
		fmt.Fprintf(std.out, row, "SESSION", "LAST USED", "TURNS", "PROFILE", "WORKSPACE", "TITLE")
		for _, s := range l.Sessions {
			title := ""
			if s.Title != nil {
				title = *s.Title
			}
			fmt.Fprintf(std.out, row, s.ID, s.UpdatedAt.Format(time.DateTime), s.Turns, s.Harness, plain(s.Root), plain(strings.ReplaceAll(title, "\t", " ")))
		}
		for _, u := range l.Undecodable {
			fmt.Fprintf(std.out, "%s  cannot be read: %s\n", plain(u.ID), plain(u.Error))
		}
		return nil
	})
}

type sessionsShow struct {
	Session uuid.UUID `arg:"" help:"The session's id."`
}

// Run shows a transcript as run prints it.
func (s *sessionsShow) Run(c *cli, std stdio) int {
	return c.withStore(std, func(ctx context.Context, st store.Store, _ *config.Config) error {
		show := people{w: std.out, calls: map[uint64]string{}}
		return eachEvent(ctx, st, s.Session, func(e store.Event) error {
			p, err := event.Decode(e.Payload.Data)
			if err != nil {
				return fmt.Errorf("event %d: %w", e.Index, err)
			}
			show.event(p)
			return nil
		})
	})
}

type sessionsExport struct {
	Session uuid.UUID `arg:"" help:"The session's id."`
}

// Run prints a transcript as stored. Damaged events are left out and named, and make
// the whole an error.
func (s *sessionsExport) Run(c *cli, std stdio) int {
	return c.withStore(std, func(ctx context.Context, st store.Store, _ *config.Config) error {
		var damaged []error
		err := eachEvent(ctx, st, s.Session, func(e store.Event) error {
			if err := intact(e); err != nil {
				damaged = append(damaged, fmt.Errorf("event %d is damaged and left out: %s", e.Index, plain(err.Error())))
				return nil
			}
			return printJSON(std.out, e.Index, e.At, e.Payload.Data)
		})
		return errors.Join(append(damaged, err)...)
	})
}

// intact returns why an event cannot be read. One of a kind that a newer program knows
// can be.
func intact(e store.Event) error {
	p, err := event.Decode(e.Payload.Data)
	if u, unknown := p.(*event.Unknown); unknown && u.Name == "" {
		return errors.New("it has no kind")
	}
	return err
}

// eachEvent reads a session's transcript; a session that is not there is an error.
func eachEvent(ctx context.Context, st store.Store, id uuid.UUID, do func(store.Event) error) error {
	head, err := st.Head(ctx, id)
	if err != nil {
		return err
	}
	if _, ok, err := st.Get(ctx, id); err == nil && !ok && head == 0 {
		return &store.NotFoundError{ID: id}
	}
	for e, err := range st.Transcript(ctx, id, nil) {
		if err != nil {
			return err
		}
		if err := do(e); err != nil {
			return err
		}
	}
	return nil
}

// printJSON prints one event a line, as run --json does.
func printJSON(w io.Writer, index uint64, at time.Time, event []byte) error {
	_, err := fmt.Fprintf(w, "{\"index\":%d,\"at\":%q,\"event\":%s}\n", index, at.UTC().Format(time.RFC3339Nano), plainJSON(event))
	return err
}

// plainJSON is JSON that a terminal may be given: the control characters that JSON
// leaves as they are, which only strings have, are escaped.
func plainJSON(text []byte) []byte {
	if bytes.IndexFunc(text, unicode.IsControl) < 0 {
		return text
	}
	out := make([]byte, 0, len(text)+16)
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		if unicode.IsControl(r) {
			out = fmt.Appendf(out, "\\u%04x", r)
		} else {
			out = append(out, text[:size]...)
		}
		text = text[size:]
	}
	return out
}

type sessionsMove struct {
	Session uuid.UUID `arg:"" help:"The session's id."`
	Folder  string    `arg:"" type:"existingdir" help:"The workspace folder to go on in."`
}

// Run moves a session that no process drives.
func (s *sessionsMove) Run(c *cli, std stdio) int {
	return c.withStore(std, func(ctx context.Context, st store.Store, _ *config.Config) error {
		if err := session.Move(ctx, st, s.Session, s.Folder); err != nil {
			return err
		}
		_, err := fmt.Fprintf(std.out, "moved %s to %s\n", s.Session, s.Folder)
		return err
	})
}

type sessionsRm struct {
	Sessions []uuid.UUID `arg:"" help:"The sessions' ids."`
}

// Run deletes sessions that no process drives.
func (s *sessionsRm) Run(c *cli, std stdio) int {
	return c.withStore(std, func(ctx context.Context, st store.Store, _ *config.Config) error {
		for _, id := range s.Sessions {
			if err := session.DeleteStored(ctx, st, id); err != nil {
				return err
			}
			fmt.Fprintln(std.out, "deleted", id)
		}
		return nil
	})
}

type sessionsPrune struct{}

// Run deletes what retention does not keep.
func (*sessionsPrune) Run(c *cli, std stdio) int {
	return c.withStore(std, func(ctx context.Context, st store.Store, cfg *config.Config) error {
		gone, err := session.Prune(ctx, st, server.Retention(cfg), time.Now())
		for _, s := range gone {
			fmt.Fprintln(std.out, "deleted", s.ID)
		}
		return err
	})
}
