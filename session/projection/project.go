package projection

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-lsp/agent-lsp/session/history"
	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/go-json-experiment/json/jsontext"
)

// Project returns the messages of one model request. The only errors are a message
// with an unknown role and a context that ended while hooks were called.
func Project(ctx context.Context, h history.History, sys System, m Model, cfg Config, hooks Hooks) ([]jsontext.Value, error) {
	return new(Projector).Project(ctx, h, sys, m, cfg, hooks)
}

// Projector is Project with a cache: messages that did not change since the previous
// call are not encoded again. Its messages are those of Project, byte for byte.
// The zero value is ready; it is not safe for concurrent use.
type Projector struct {
	rows     []row
	messages []*model.Message
	wire     []jsontext.Value
}

// Project returns the messages as the function Project does. The bytes are shared with later
// results and must not be written to.
func (p *Projector) Project(ctx context.Context, h history.History, sys System, m Model, cfg Config, hooks Hooks) ([]jsontext.Value, error) {
	_, wire, err := p.Conversation(ctx, h, sys, m, cfg, hooks)
	return wire, err
}

// Conversation returns the messages as providers write them in their own forms, and
// the same in chat-completions form, as Project does.
func (p *Projector) Conversation(ctx context.Context, h history.History, sys System, m Model, cfg Config, hooks Hooks) ([]*model.Message, []jsontext.Value, error) {
	b := builder{ctx: ctx, model: m, cfg: cfg, hooks: hooks, kinds: enabled(m.Capabilities)}
	b.reserve(h.Messages[h.Covered():], len(sys.Static))
	b.head(sys, h.Summary)
	if err := b.conversation(h); err != nil {
		return nil, nil, err
	}
	b.tail(sys)
	p.encode(b.rows)
	return slices.Clone(p.messages), slices.Clone(p.wire), nil
}

// builder collects the rows of one request.
type builder struct {
	ctx   context.Context
	model Model
	cfg   Config
	hooks Hooks
	kinds []mediaKind
	spent spending
	ids   map[string]int // provider ids on the wire, and how often each was wanted
	rows  []row
	user  *said // the user's message that may get more text, or nil
}

// reserve makes room for all rows at once.
func (b *builder) reserve(ms []history.Message, static int) {
	calls := 0
	for i := range ms {
		calls += len(ms[i].Calls)
	}
	b.rows = make([]row, 0, len(ms)+calls+static+4)
	b.ids = make(map[string]int, calls)
}

func (b *builder) head(sys System, sum *history.Summary) {
	kind := systemRow
	if b.model.PromptCache {
		kind = breakpointRow
	}
	b.system(kind, sys.Base)
	for _, s := range sys.Static {
		b.system(systemRow, s)
	}
	if sum == nil || sum.Text == "" {
		return
	}
	text := sum.Text
	if b.cfg.SummaryPrefix != "" {
		text = b.cfg.SummaryPrefix + "\n\n" + text
	}
	if b.cfg.SummarySuffix != nil {
		text += "\n\n" + *b.cfg.SummarySuffix
	}
	b.system(systemRow, text)
}

func (b *builder) tail(sys System) {
	b.flush()
	dynamic := slices.DeleteFunc(slices.Clone(sys.Dynamic), blank)
	b.system(systemRow, strings.Join(dynamic, b.cfg.TailSeparator))
	if sys.Reminder != nil {
		b.system(systemRow, *sys.Reminder)
	}
}

func (b *builder) system(kind rowKind, text string) {
	if blank(text) {
		return
	}
	b.flush()
	b.rows = append(b.rows, row{kind: kind, text: text})
}

// conversation adds the rows of the messages that are shown.
func (b *builder) conversation(h history.History) error {
	shown := shownMessages(h, b.cfg.MaxMessages)
	turn := currentTurn(shown)
	anchors := anchored(shown, h.Activations, b.model.Rendering)
	var prev *history.Message
	for i := range shown {
		m := &shown[i]
		switch m.Role {
		case history.System:
			b.system(systemRow, m.Text)
		case history.User, history.Agent:
			b.userMessage(m, prev, i >= turn.media)
			prev = m
		case history.Assistant:
			b.assistant(m, i < turn.results, i >= turn.media, anchors[i])
		default:
			return fmt.Errorf("project message %d: role %q is none of system, user, assistant, agent", m.ID, m.Role)
		}
		if err := b.hooksEnded(); err != nil {
			return fmt.Errorf("project message %d: %w", m.ID, err)
		}
	}
	return nil
}

// hooksEnded returns an error when hooks may have returned nothing because the
// context ended: such messages must not be sent.
func (b *builder) hooksEnded() error {
	if b.hooks == (Hooks{}) {
		return nil
	}
	return b.ctx.Err()
}

// userMessage appends to the pending user message, or starts one.
func (b *builder) userMessage(m, prev *history.Message, current bool) {
	text := m.Text
	var found media
	if b.hooks.Media != nil {
		found = b.inline(b.hooks.Media.MessageMedia(b.ctx, *m), current)
	}
	if b.hooks.Extras != nil {
		if more, ok := b.hooks.Extras.AppendedText(b.ctx, *m, prev, found.skipped); ok {
			text += more
		}
	} else if found.notes != "" {
		text += "\n" + found.notes
	}
	b.chunk(text, found.parts)
}

// chunk merges consecutive user rows into one text, with the media after it.
func (b *builder) chunk(text string, parts []part) {
	if b.user == nil {
		b.user = new(said)
	}
	if !blank(text) {
		b.user.texts = append(b.user.texts, text)
	}
	b.user.parts = append(b.user.parts, parts...)
}

// flush ends the pending user message. A blank one is kept: roles must alternate,
// and a request may not be empty.
func (b *builder) flush() {
	if b.user == nil {
		return
	}
	if len(b.user.texts) == 0 && len(b.user.parts) == 0 {
		b.user.texts = []string{emptyMessage}
	}
	b.rows = append(b.rows, row{kind: userRow, said: b.user})
	b.user = nil
}

// assistant adds a reply and, right after it, the results of its calls in call
// order. A reply without text and calls is left out.
func (b *builder) assistant(m *history.Message, previous, current bool, tools activated) {
	out := row{kind: assistantRow, text: m.Text}
	if blank(m.Text) {
		out.text = ""
		if len(m.Calls) == 0 {
			return
		}
	}
	foreign := b.model.Profile != "" && m.Profile != "" && m.Profile != b.model.Profile
	if m.Reasoning != nil && !foreign {
		out.reasoning = *m.Reasoning
	}
	if out.reasoning == "" && len(m.Calls) > 0 && b.cfg.ReasoningPlaceholder != nil {
		out.reasoning = *b.cfg.ReasoningPlaceholder
	}
	out.both, out.quiet = b.cfg.ReasoningEcho == Both, b.cfg.ReasoningEcho == Off
	if b.model.Sealed && len(m.Calls) > 0 && m.Sealed.IsValid() {
		out.sealed = m.Sealed
	}
	b.flush()
	if len(m.Calls) > 0 {
		out.calls = make([]wireCall, 0, len(m.Calls))
	}
	for _, c := range m.Calls {
		out.calls = append(out.calls, wireCall{id: b.wireID(c), name: toolName(c.Name), arguments: c.Arguments})
	}
	b.rows = append(b.rows, out)
	if len(m.Calls) == 0 {
		return
	}
	first := len(b.rows)
	for i, c := range m.Calls {
		b.rows = append(b.rows, row{
			kind: toolRow, id: out.calls[i].id, ordinal: i, arguments: c.Arguments,
			text: b.limited(c, resultText(c, b.cfg), previous, m.ID),
		})
	}
	b.activate(m.Calls, first, tools)
	b.callMedia(m.Calls, current)
	if b.model.Rendering == SystemToolBlock && len(tools.defs) > 0 {
		b.flush()
		b.rows = append(b.rows, row{kind: blockRow, tools: &newTools{defs: tools.defs}})
	}
}

// callMedia adds the files that calls produced, as a user's message after the results.
func (b *builder) callMedia(calls []history.Call, current bool) {
	if b.hooks.Media == nil || !current || len(b.kinds) == 0 {
		return
	}
	found := b.inline(b.hooks.Media.CallMedia(b.ctx, calls), true)
	if found.notes != "" {
		b.rows[len(b.rows)-1].text += "\n" + found.notes
	}
	if len(found.parts) > 0 {
		b.chunk("", found.parts)
	}
}

// wireID returns the provider's id of a call. An id that an earlier call has gets a
// suffix, because a provider refuses a conversation with duplicate ids.
func (b *builder) wireID(c history.Call) string {
	id := c.ProviderID
	if id == "" {
		id = fmt.Sprintf("call_%d", c.ID)
	}
	unique := id
	for b.ids[unique] > 0 {
		b.ids[id]++
		unique = fmt.Sprintf("%s_%d", id, b.ids[id])
	}
	b.ids[unique]++
	return unique
}

// toolName returns a name in the characters that every provider accepts. A name that
// a model invented may have any, and every later request would be refused.
func toolName(name string) string {
	const longest = 64
	plain := func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}
	// Map returns the same string when nothing changes.
	if name = strings.Map(plain, name); name == "" {
		return "unnamed"
	}
	return name[:min(len(name), longest)]
}

// blank text counts as none: providers refuse it.
func blank(s string) bool { return strings.TrimSpace(s) == "" }
