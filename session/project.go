package session

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"
	"unicode/utf8"

	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/agent-lsp/agent-lsp/session/history"
	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/agent-lsp/agent-lsp/session/projection"
	"github.com/agent-lsp/agent-lsp/tools"
)

// agentsFile has a repository's own instructions for agents.
const (
	agentsFile    = "AGENTS.md"
	maxAgentsFile = 32 << 10
)

// promptText is a prompt with its context as the core and the model read it.
func promptText(u *event.User) string { return history.Prompt(u.Text, u.Context) }

// layers are what a turn's requests have beside the conversation. They are taken
// once a turn, so that each request of it starts with the bytes of the one before
// and a provider's prompt cache keeps hitting.
type layers struct {
	once   sync.Once
	system projection.System
}

// project makes the messages of the turn's next request.
func (q *requester) project(t *turn, p model.Profile, can model.Capabilities) (projected, error) {
	begins := false
	t.layers.once.Do(func() { t.layers.system, begins = q.system(t), true })
	m := projection.Model{PromptCache: p.PromptCache, Sealed: can.Sealed, Profile: p.Name}
	cfg := projection.Default()
	cfg.Media.MaxEncoded, cfg.Media.Notes = maxEncoded, true
	switch p.ReasoningEcho {
	case "both":
		cfg.ReasoningEcho = projection.Both
	case "off":
		cfg.ReasoningEcho = projection.Off
	}
	h := q.s.journal.history()
	q.projecting.Lock()
	defer q.projecting.Unlock()
	q.pictures.begin(t.id)
	var hooks projection.Hooks
	g := &requestPictures{pictures: &q.pictures, work: q.s.work, profile: p.Name}
	if p.Vision {
		m.Capabilities = append(m.Capabilities, "vision")
		hooks.Media = g
	}
	sys := t.layers.system
	sys.Reminder = q.s.reminder()
	if cfg.MaxToolResult = q.digests.limit(); cfg.MaxToolResult != nil {
		hooks.Digest = q.digests
	}
	conversation, messages, err := q.projector.Conversation(t.ctx, h, sys, m, cfg, hooks)
	if err == nil && begins && q.fills(p, size(messages)) && q.digests.advance(h, t.id) {
		cfg.MaxToolResult, hooks.Digest = q.digests.limit(), q.digests
		conversation, messages, err = q.projector.Conversation(t.ctx, h, sys, m, cfg, hooks)
	}
	return projected{messages, conversation, g.shown}, err
}

// system reads the layers of a turn.
func (q *requester) system(t *turn) projection.System {
	sys := projection.System{Base: t.settings.Prelude}
	if text, err := q.agents(t); err != nil {
		q.leaveOut(t, err)
	} else if text != "" {
		sys.Static = append(sys.Static, "The workspace's "+agentsFile+":\n\n"+text)
	}
	if state := q.s.editor.State(q.s.root); state != "" {
		sys.Dynamic = append(sys.Dynamic, event.Text(state))
	}
	return sys
}

// leaveOut says why the root's AGENTS.md is not read, once for each reason.
func (q *requester) leaveOut(t *turn, why error) {
	text := agentsFile + " is left out: " + why.Error()
	q.mu.Lock()
	said := q.leftOut == text
	q.leftOut = text
	q.mu.Unlock()
	if said {
		return
	}
	if _, err := q.s.journal.record(t.ctx, &event.Note{Turn: t.id, Text: text}); err != nil && t.ctx.Err() == nil {
		q.s.log.Error("record a note", "session", q.s.id, "note", text, "err", err)
	}
}

// agents reads the root's AGENTS.md, the open buffer first. What an untrusted
// workspace tells agents to do is not read.
func (q *requester) agents(t *turn) (string, error) {
	if t.settings.Untrusted {
		if _, err := q.s.work.Root().Lstat(agentsFile); err == nil {
			return "", errors.New("the workspace is not trusted")
		}
		return "", nil
	}
	if doc, ok := q.s.work.Buffer(agentsFile); ok {
		return doc.Text, nil
	}
	f, err := tools.Open(q.s.work.Root(), agentsFile)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // only read
	text, err := io.ReadAll(io.LimitReader(f, maxAgentsFile+1))
	switch {
	case err != nil:
		return "", err
	case len(text) > maxAgentsFile:
		return "", fmt.Errorf("it is over %d bytes", maxAgentsFile)
	case !utf8.Valid(text):
		return "", errors.New("it is not UTF-8")
	}
	return string(text), nil
}

// profileOf is the profile that a turn asks first.
func (l *ledger) profileOf(t *turn) string {
	switch {
	case t.profile != "":
		return t.profile
	case l.profile != "":
		return l.profile
	}
	return t.settings.Profile
}
