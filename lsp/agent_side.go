package lsp

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/agent-lsp/agent-lsp/checker"
	"github.com/agent-lsp/agent-lsp/lsp/editor"
	"github.com/agent-lsp/agent-lsp/session"
	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/agent-lsp/agent-lsp/session/store"
	"github.com/agent-lsp/agent-lsp/tools"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"
	"go.lsp.dev/protocol"
)

// The notifications of a client that declares experimental.agent.transcript.
const (
	methodTranscript = "agent/transcript"
	methodDelta      = "agent/delta"
	methodUsage      = "agent/usage"
)

// transcriptParams are those of agent/transcript: one event, as it was stored.
type transcriptParams struct {
	Session uuid.UUID      `json:"session"`
	Index   uint64         `json:"index"`
	At      time.Time      `json:"at"`
	Event   jsontext.Value `json:"event"`
}

// deltaParams are those of agent/delta: text that streams and is not stored.
type deltaParams struct {
	Session uuid.UUID `json:"session"`
	Turn    uint64    `json:"turn"`
	Text    string    `json:"text"`
}

// agentSide is the server as the session engine sees it: the editor of its sessions.
type agentSide struct{ *Server }

var _ session.Editor = agentSide{}

// Workspace implements session.Editor.
func (s agentSide) Workspace(root string) (tools.Workspace, error) {
	x := s.editor.Folders.Named(root)
	if x == nil {
		return nil, fmt.Errorf("%s is not a workspace folder of this editor", root)
	}
	return x.Workspace()
}

// Event implements session.Editor.
func (s agentSide) Event(id uuid.UUID, root string, e store.Event, p event.Payload) {
	s.roots.learn(id, root)
	if s.client.transcript {
		s.notify(methodTranscript, transcriptParams{Session: id, Index: e.Index, At: e.At, Event: e.Payload.Data})
	} else {
		s.logEvent(p)
	}
	s.turns.update(s.Server, id, p)
	switch p := p.(type) {
	case *event.Done:
		s.refresh(id)
	case *event.Plan:
		s.showPlan(id, p)
	}
}

// Delta implements session.Editor.
func (s agentSide) Delta(id uuid.UUID, turn uint64, text string) {
	if s.client.transcript {
		s.notify(methodDelta, deltaParams{Session: id, Turn: turn, Text: text})
	}
}

// Usage implements session.Editor.
func (s agentSide) Usage(m session.Meter) {
	if s.client.transcript {
		s.notify(methodUsage, m)
	}
}

// logEvent writes an event to the client's log, for a person without a transcript
// view; a failure is also shown as a message.
func (s agentSide) logEvent(p event.Payload) {
	level, line := slog.LevelInfo, ""
	switch p := p.(type) {
	case *event.User:
		line = "you: " + p.Text
	case *event.Message:
		if p.Text != nil {
			line = strings.TrimSpace(*p.Text)
		}
	case *event.Call:
		line = callTitle(p)
	case *event.Result:
		if p.State != event.Completed {
			level, line = slog.LevelWarn, string(p.State)+": "+p.Text
		}
	case *event.Check:
		// Findings reports once what was not checked.
		if p.Outcome == checker.Found.String() || p.Outcome == checker.Clean.String() {
			line = p.Heading()
			if p.Text != "" {
				line += "\n" + p.Text
			}
		}
	case *event.Done:
		line = "done: " + p.Outcome
	case *event.Note:
		line = p.Text
	case *event.Mode:
		line = p.Heading()
	case *event.Plan:
		line = "plan:\n" + p.Text
	case *event.Error:
		s.notify(protocol.MethodWindowShowMessage, &protocol.ShowMessageParams{
			Type: protocol.MessageTypeError, Message: "agent: " + p.Source + ": " + p.Message,
		})
	}
	if line != "" {
		s.logLine(level, line)
	}
}

// callTitle returns a short title of a call.
func callTitle(c *event.Call) string { return oneLine(upperFirst(c.Heading()), 120) }

// upperFirst returns a text with its first letter in upper case.
func upperFirst(text string) string {
	r, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(r)) + text[size:]
}

// Unsaved implements session.Editor.
func (s agentSide) Unsaved(root string) map[string]string {
	x := s.editor.Folders.Named(root)
	return s.editor.Unsaved(func(d *editor.Document, f *editor.Folder) bool {
		if x != nil {
			return f == x
		}
		_, ok := editor.Below(editor.RealPath(root), d.Real)
		return ok
	})
}

// State implements session.Editor.
func (s agentSide) State(root string) string {
	x := s.editor.Folders.Named(root)
	if x == nil {
		return ""
	}
	unsaved := s.Unsaved(root)
	var open []string
	for _, d := range s.editor.Snapshot() {
		if d.Path == "" {
			continue
		}
		if f, rel := s.editor.Folders.Holding(d.Path); f == x {
			if _, ok := unsaved[x.Abs(rel)]; ok {
				rel += " (unsaved changes)"
			}
			open = append(open, rel)
		}
	}
	slices.Sort(open)
	var b strings.Builder
	writeList(&b, "Open in the editor:", open)
	writeList(&b, "Problems known now:", s.findings.lines(x))
	return strings.TrimSuffix(b.String(), "\n")
}

// maxState limits the length of each list of State.
const maxState = 50

func writeList(b *strings.Builder, title string, items []string) {
	if len(items) == 0 {
		return
	}
	b.WriteString(title + "\n")
	for i, item := range items {
		if i == maxState {
			fmt.Fprintf(b, "- and %d more\n", len(items)-i)
			break
		}
		b.WriteString("- " + item + "\n")
	}
}

// sessionRoots maps sessions to the folders that they belong to.
type sessionRoots struct {
	mu    sync.Mutex // guards roots
	roots map[uuid.UUID]string
}

func (r *sessionRoots) learn(id uuid.UUID, root string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.roots == nil {
		r.roots = map[uuid.UUID]string{}
	}
	r.roots[id] = root
}

func (r *sessionRoots) of(id uuid.UUID) (string, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	root, ok := r.roots[id]
	return root, ok
}
