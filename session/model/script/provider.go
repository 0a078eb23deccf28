package script

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agent-lsp/agent-lsp/session/clock"
	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Model replies from a script. It is safe for concurrent use, but each session
// needs its own: two that share one race for its entries.
type Model struct {
	script *Script
	clock  clock.Clock

	mu   sync.Mutex // guards used
	used []bool     // by entry
}

var (
	_ model.Model   = (*Model)(nil)
	_ model.Resumer = (*Model)(nil)
)

// New returns a provider at the script's start that sleeps latencies on the clock.
func New(s *Script, c clock.Clock) *Model {
	return &Model{script: s, clock: c, used: make([]bool, len(s.Entries))}
}

// Respond implements model.Model. The entry counts as used as soon as it is
// picked, also when ctx ends the wait for it or had ended before. When no entry
// matches the request, or the one that does was recorded for another request, the
// error is a *model.Error of kind bad_request that names the entry and the step. If ctx
// ends first, its error is returned, wrapped; a deadline that coincides with the
// end of the latency wins.
func (m *Model) Respond(ctx context.Context, req model.Request, delta func(model.Delta)) (model.Response, error) {
	i, err := m.pick(req)
	if err != nil {
		return model.Response{}, err
	}
	e := &m.script.Entries[i]
	if err := m.play(ctx, e, delta); err != nil {
		return model.Response{}, fmt.Errorf("script entry %d (%s:%d) at step %s: %w", i+1, m.script.base(), e.Line, req.Step, err)
	}
	if f := e.Fail; f != nil {
		return model.Response{}, f.err()
	}
	return model.Response{
		Text:       clone(e.Text),
		Reasoning:  clone(e.Reasoning),
		Calls:      append([]model.FunctionCall(nil), e.Calls...),
		Usage:      e.Usage,
		Finish:     e.Finish,
		ProviderID: e.ProviderID,
		Sealed:     e.Sealed.Clone(),
	}, nil
}

// play waits for the entry's latency, in equal parts before each of its chunks,
// and for ever when it hangs.
func (m *Model) play(ctx context.Context, e *Entry, delta func(model.Delta)) error {
	if delta == nil {
		delta = func(model.Delta) {}
	}
	chunks := e.Stream
	if chunks == nil && e.Text != nil && *e.Text != "" {
		chunks = []string{*e.Text}
	}
	parts := time.Duration(max(1, len(chunks)))
	first := e.Latency/parts + e.Latency%parts
	if err := m.clock.Sleep(ctx, first); err != nil {
		return err
	}
	if e.Reasoning != nil && *e.Reasoning != "" {
		delta(model.Delta{Reasoning: *e.Reasoning})
	}
	for i, c := range chunks {
		if i > 0 {
			if err := m.clock.Sleep(ctx, e.Latency/parts); err != nil {
				return err
			}
		}
		delta(model.Delta{Text: c})
	}
	if e.Fail != nil && e.Fail.Kind == FailHang {
		return m.clock.Sleep(ctx, clock.Forever)
	}
	return nil
}

func (f *Fail) err() error {
	e := &model.Error{Kind: f.Error, Message: f.Message}
	if f.Kind == FailTimeout {
		e.Kind = model.Timeout
	}
	if e.Message == "" {
		e.Message = "the script says so"
	}
	return e
}

// pick returns the entry for a request and marks it used.
func (m *Model) pick(req model.Request) (int, error) {
	last := lastText(req.Messages)
	diff := comparer(req)
	m.mu.Lock()
	defer m.mu.Unlock()
	i := m.keyed(req.Step, diff)
	if i < 0 {
		i = m.next(func(e *Entry) bool {
			return e.When != "" && !isStep(e.When) && strings.Contains(last, e.When)
		})
	}
	if i < 0 {
		i = m.next(func(e *Entry) bool { return e.When == "" })
	}
	if i < 0 {
		return 0, m.exhausted(req.Step)
	}
	e := &m.script.Entries[i]
	if d := diff(e); d != "" {
		return 0, &model.Error{Kind: model.BadRequest, Message: fmt.Sprintf(
			"script entry %d (%s:%d) was recorded for another request at step %s: %s", i+1, m.script.base(), e.Line, req.Step, d)}
	}
	m.used[i] = true
	return i, nil
}

// keyed returns the entry with the request's step. Of recorded ones it prefers the
// first that was recorded for this very request: a process that resumes in the
// middle of a step's several requests gets the reply of the one it repeats.
func (m *Model) keyed(step string, diff func(*Entry) string) int {
	if step == "" {
		return -1
	}
	mine := func(e *Entry) bool { return e.When == step }
	i := m.next(mine)
	if i < 0 || diff(&m.script.Entries[i]) == "" {
		return i
	}
	if j := m.next(func(e *Entry) bool { return mine(e) && e.Request != nil && diff(e) == "" }); j >= 0 {
		return j
	}
	return i
}

// comparer returns a function that reports how a request differs from the one an
// entry was recorded for. It
// takes the request's fingerprint once, and only when an entry needs it.
func comparer(req model.Request) func(*Entry) string {
	now := sync.OnceValue(func() Print { return NewPrint(req) })
	return func(e *Entry) string {
		if e.Request == nil {
			return ""
		}
		return e.Request.diff(now(), req.Messages)
	}
}

// next is the first unused entry that matches, or -1.
func (m *Model) next(match func(*Entry) bool) int {
	for i := range m.script.Entries {
		if !m.used[i] && match(&m.script.Entries[i]) {
			return i
		}
	}
	return -1
}

func (m *Model) exhausted(step string) error {
	left := m.unused()
	var why string
	switch {
	case len(m.script.Entries) == 0:
		why = "it has no entries"
	case len(left) == 0:
		why = fmt.Sprintf("all of its entries are used up to the last, entry %d", len(m.script.Entries))
	default:
		e := &m.script.Entries[left[0]-1]
		why = fmt.Sprintf("the first unused entry is %d (line %d, when %q), whose key does not match", left[0], e.Line, e.When)
	}
	return &model.Error{Kind: model.BadRequest, Message: fmt.Sprintf(
		"script %s has no entry for step %s: %s", m.script.base(), step, why)}
}

// Unused returns the numbers, from 1, of the entries that were not used. A
// test that drove a session to its end expects none.
func (m *Model) Unused() []int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.unused()
}

func (m *Model) unused() []int {
	var out []int
	for i, used := range m.used {
		if !used {
			out = append(out, i+1)
		}
	}
	return out
}

// Leftover returns an error that names the entries that were not used, nil when
// there are none.
func (m *Model) Leftover() error {
	left := m.Unused()
	if len(left) == 0 {
		return nil
	}
	return fmt.Errorf("script %s: entries %v answered nothing", m.script.Name, left)
}

// Answered implements model.Resumer. With an id it marks the entry that gave the
// response. Without one it marks the entry that the step would have used:
// one keyed by the step, else one that fails, else the next without a key.
func (m *Model) Answered(step, providerID string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if providerID != "" {
		m.mark(func(e *Entry) bool { return e.Fail == nil && e.ProviderID == providerID })
		return
	}
	if step != "" && m.mark(func(e *Entry) bool { return e.When == step }) {
		return
	}
	if i := m.next(func(e *Entry) bool { return e.When == "" }); i >= 0 && m.script.Entries[i].Fail != nil {
		m.used[i] = true
		return
	}
	// Words cannot be matched here, so a failure is the best sign of them.
	if m.mark(func(e *Entry) bool { return e.Fail != nil && e.When != "" && !isStep(e.When) }) {
		return
	}
	m.mark(func(e *Entry) bool { return e.When == "" })
}

// mark uses the first unused entry that matches, if there is one.
func (m *Model) mark(match func(*Entry) bool) bool {
	i := m.next(match)
	if i >= 0 {
		m.used[i] = true
	}
	return i >= 0
}

// Skip marks the next n entries without a key as used, for a caller that counts
// its requests instead of reporting them by Answered. Fewer than n is an error.
func (m *Model) Skip(n int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for k := range n {
		i := m.next(func(e *Entry) bool { return e.When == "" })
		if i < 0 {
			return fmt.Errorf("skip %d entries of script %s: there are only %d without a key", n, m.script.Name, k)
		}
		m.used[i] = true
	}
	return nil
}

// lastText is the text of the last message of the conversation: its content, or
// the text parts of it. A system message behind it, such as the state of the
// editor, is not part of the conversation.
func lastText(messages []jsontext.Value) string {
	for _, raw := range slices.Backward(messages) {
		var m struct {
			Role string `json:"role"`
		}
		if err := json.Unmarshal(raw, &m); err == nil && m.Role == "system" {
			continue
		}
		text, err := contentText(raw)
		if err != nil {
			return ""
		}
		return text
	}
	return ""
}

// contentText reads a chat message's content, a string or a list of parts.
func contentText(message jsontext.Value) (string, error) {
	var m struct {
		Content jsontext.Value `json:"content"`
	}
	if err := json.Unmarshal(message, &m); err != nil {
		return "", err
	}
	switch m.Content.Kind() {
	case '"':
		var s string
		err := json.Unmarshal(m.Content, &s)
		return s, err
	case '[':
		var parts []struct {
			Text string `json:"text"`
		}
		err := json.Unmarshal(m.Content, &parts)
		var b strings.Builder
		for _, p := range parts {
			b.WriteString(p.Text)
		}
		return b.String(), err
	}
	return "", errors.New("no content")
}

func clone(s *string) *string {
	if s == nil {
		return nil
	}
	return new(*s)
}
