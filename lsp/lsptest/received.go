package lsptest

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-lsp/agent-lsp/lsp/text"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.lsp.dev/protocol"
)

// received is what the server's notifications brought; conn.mu guards it.
type received struct {
	*conn
	progress map[string]*Progress
	findings map[string]Diagnostics // by text.Key
	events   []Event
	deltas   []Delta
}

// Progress is what was reported under one token.
type Progress struct {
	Created bool     // and replied to with success
	Kinds   []string // begin, report, end
	Title   string
	Last    string // the last message
	early   bool   // reported before the reply to create, or after a refusal
}

// check finds a report that must not have been sent.
func (p *Progress) check() error {
	if p.early {
		return errors.New("reported without a successful create")
	}
	for i, k := range p.Kinds {
		switch {
		case (k == "begin") != (i == 0):
			return fmt.Errorf("%s as number %d of %v", k, i, p.Kinds)
		case i > 0 && p.Kinds[i-1] == "end":
			return fmt.Errorf("%s after the end", k)
		}
	}
	return nil
}

// Open says that it has begun and not ended.
func (p *Progress) Open() bool { return len(p.Kinds) > 0 && p.Kinds[len(p.Kinds)-1] != "end" }

func (r *received) token(name string) *Progress {
	if r.progress[name] == nil {
		r.progress[name] = &Progress{}
	}
	return r.progress[name]
}

// Progresses is what was reported, by token as JSON.
func (r *received) Progresses() map[string]Progress {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := map[string]Progress{}
	for k, p := range r.progress {
		out[k] = *p
	}
	return out
}

// Event is one entry of a session's transcript.
type Event struct {
	Session string         `json:"session"`
	Index   uint64         `json:"index"`
	At      jsontext.Value `json:"at"`
	Event   jsontext.Value `json:"event"`
}

// Kind is the event's kind.
func (x Event) Kind() string { return get[string](x.Event, "kind") }

// Delta is streamed text.
type Delta struct {
	Session string `json:"session"`
	Turn    uint64 `json:"turn"`
	Text    string `json:"text"`
}

// Diagnostics is what was published last for a document.
type Diagnostics struct {
	URI         string                `json:"uri"` // as the server spelled it
	Version     *int32                `json:"version"`
	Diagnostics []protocol.Diagnostic `json:"-"`
	Raw         []jsontext.Value      `json:"diagnostics"`
	Times       int                   `json:"-"` // how often anything was published
}

// notified handles a notification of the server; the caller has locked mu.
func (r *received) notified(m Message) {
	switch m.Method {
	case "agent/transcript":
		r.unless(r.options.Transcript, m)
		var x Event
		if err := json.Unmarshal(m.Params, &x); err != nil {
			r.fault("%s does not decode: %s", m.Method, err)
		}
		r.events = append(r.events, x)
	case "agent/delta":
		r.unless(r.options.Transcript, m)
		var x Delta
		if err := json.Unmarshal(m.Params, &x); err != nil {
			r.fault("%s does not decode: %s", m.Method, err)
		}
		r.deltas = append(r.deltas, x)
	case "agent/usage":
		r.unless(r.options.Transcript, m)
	case "textDocument/publishDiagnostics":
		r.published(m)
	case "$/progress":
		r.unless(!r.options.NoProgress, m)
		value := get[jsontext.Value](m.Params, "value")
		p := r.token(string(get[jsontext.Value](m.Params, "token")))
		p.early = p.early || !p.Created
		p.Kinds = append(p.Kinds, get[string](value, "kind"))
		if t := get[string](value, "title"); t != "" {
			p.Title = t
		}
		if t := get[string](value, "message"); t != "" {
			p.Last = t
		}
	case "window/logMessage", "window/showMessage", "$/logTrace", "telemetry/event", "$/cancelRequest":
	default:
		if !strings.HasPrefix(m.Method, "$/") {
			r.fault("unknown notification %s", m.Method)
		}
	}
}

func (r *received) published(m Message) {
	var d Diagnostics
	err := json.Unmarshal(m.Params, &d)
	for _, r := range d.Raw {
		var x protocol.Diagnostic
		if err == nil {
			err = protocol.Unmarshal(r, &x)
		}
		d.Diagnostics = append(d.Diagnostics, x)
	}
	if err != nil {
		r.fault("%s does not decode: %s", m.Method, err)
		return
	}
	key := text.Key(d.URI)
	if old, ok := r.findings[key]; ok && old.URI != d.URI {
		r.fault("diagnostics of one document under two spellings, %s and %s", old.URI, d.URI)
	}
	d.Times = r.findings[key].Times + 1
	r.findings[key] = d
}

// Diagnostics is what was published last for a document, under any spelling.
func (r *received) Diagnostics(uri string) Diagnostics {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.findings[text.Key(uri)]
}

// AllDiagnostics is what was published last for each document, by its URI.
func (r *received) AllDiagnostics() map[string]Diagnostics {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := map[string]Diagnostics{}
	for _, d := range r.findings {
		out[d.URI] = d
	}
	return out
}

// WaitDiagnostics waits until a document has n findings, after at least one
// publication for it.
func (r *received) WaitDiagnostics(uri string, n int) (d Diagnostics) {
	r.wait(fmt.Sprintf("%d diagnostics of %s", n, uri), func() bool {
		d = r.findings[text.Key(uri)]
		return d.Times > 0 && len(d.Raw) == n
	})
	return d
}

// Events are the transcript's entries that were pushed, in order of arrival.
func (r *received) Events() []Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.events)
}

// Deltas are the pieces of streamed text, in order of arrival.
func (r *received) Deltas() []Delta {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.deltas)
}

// WaitEvent waits for a pushed transcript entry.
func (r *received) WaitEvent(what string, match func(Event) bool) (found Event) {
	r.wait("a transcript event: "+what, func() bool {
		for _, x := range r.events {
			if match(x) {
				found = x
				return true
			}
		}
		return false
	})
	return found
}
