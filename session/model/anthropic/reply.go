package anthropic

import (
	"errors"
	"strings"

	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/agent-lsp/agent-lsp/session/model/httpmodel"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// event is an event of a stream.
type event struct {
	Type    string `json:"type"`
	Message struct {
		ID    string `json:"id"`
		Usage usage  `json:"usage"`
	} `json:"message"`
	Index *httpmodel.Number `json:"index"` // some servers leave it out, or begin it anew
	Block contentBlock      `json:"content_block"`
	Delta struct {
		Type       string         `json:"type"`
		Text       httpmodel.Text `json:"text"`
		JSON       httpmodel.Text `json:"partial_json"`
		Thinking   httpmodel.Text `json:"thinking"`
		Signature  httpmodel.Text `json:"signature"`
		StopReason httpmodel.Text `json:"stop_reason"`
	} `json:"delta"`
	Usage usage          `json:"usage"`
	Error jsontext.Value `json:"error"`
}

// contentBlock is a block of an answer.
type contentBlock struct {
	Type      string         `json:"type"`
	ID        string         `json:"id"`
	Name      string         `json:"name"`
	Text      httpmodel.Text `json:"text"`
	Input     jsontext.Value `json:"input"`
	Thinking  httpmodel.Text `json:"thinking"`
	Signature httpmodel.Text `json:"signature"`
	Data      httpmodel.Text `json:"data"`
}

// usage counts tokens. Later counts replace earlier ones, where they are given.
type usage struct {
	Input      *httpmodel.Number `json:"input_tokens"`
	CacheRead  *httpmodel.Number `json:"cache_read_input_tokens"`
	CacheWrite *httpmodel.Number `json:"cache_creation_input_tokens"`
	Output     *httpmodel.Number `json:"output_tokens"`
	Details    struct {
		Thinking *httpmodel.Number `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
}

// gathered is a block as far as it came.
type gathered struct {
	contentBlock
	text      httpmodel.Words
	input     httpmodel.Words
	thinking  httpmodel.Words
	signature strings.Builder
}

// answer gathers an answer.
type answer struct {
	show   func(model.Delta)
	id     string
	blocks []*gathered                    // in the order they began
	index  map[httpmodel.Number]*gathered // the last one of each index
	usage  usage
	stop   string
}

func (a *answer) event(ev httpmodel.Event) (httpmodel.Progress, error) {
	if len(strings.TrimSpace(string(ev.Data))) == 0 {
		return httpmodel.Nothing, nil
	}
	if ev.Name == httpmodel.WholeBody {
		return a.whole(ev.Data)
	}
	var e event
	if err := json.Unmarshal(ev.Data, &e, httpmodel.Lenient); err != nil {
		return 0, httpmodel.Unreadable(ev, err)
	}
	if e.Type == "" {
		e.Type = ev.Name
	}
	switch e.Type {
	case "message_start":
		a.id = e.Message.ID
		a.usage.take(e.Message.Usage)
	case "content_block_start":
		g := a.begin(e.Index)
		g.contentBlock = e.Block
		a.piece(g, string(e.Block.Text), string(e.Block.Thinking))
	case "content_block_delta":
		a.delta(e)
	case "message_delta":
		if e.Delta.StopReason != "" {
			a.stop = string(e.Delta.StopReason)
		}
		a.usage.take(e.Usage)
	case "message_stop":
		return httpmodel.End, nil
	case "error":
		return 0, httpmodel.Refusal(ev.Data)
	case "content_block_stop":
	default:
		if len(e.Error) > 0 && e.Error.Kind() != 'n' {
			return 0, httpmodel.Refusal(ev.Data)
		}
		return httpmodel.Nothing, nil // ping, and what is not known yet
	}
	return httpmodel.Piece, nil
}

func (a *answer) delta(e event) {
	g := a.block(e.Index)
	switch d := e.Delta; d.Type {
	case "text_delta":
		a.piece(g, string(d.Text), "")
	case "thinking_delta":
		a.piece(g, "", string(d.Thinking))
	case "input_json_delta":
		g.input.Add(string(d.JSON))
	case "signature_delta":
		g.signature.WriteString(string(d.Signature))
	}
}

// piece adds to a block, and shows it; reasoning blocks stand apart.
func (a *answer) piece(g *gathered, text, thinking string) {
	if thinking != "" && g.thinking.Len() == 0 && a.thought() != "" {
		a.show(model.Delta{Reasoning: "\n"})
	}
	a.show(model.Delta{Text: g.text.Add(text), Reasoning: g.thinking.Add(thinking)})
}

// begin opens a block.
func (a *answer) begin(index *httpmodel.Number) *gathered {
	g := new(gathered)
	a.blocks = append(a.blocks, g)
	if index != nil {
		if a.index == nil {
			a.index = map[httpmodel.Number]*gathered{}
		}
		a.index[*index] = g
	}
	return g
}

// block answers the one that a piece belongs to: without an index it is the last.
func (a *answer) block(index *httpmodel.Number) *gathered {
	if index != nil {
		if g := a.index[*index]; g != nil {
			return g
		}
		return a.begin(index)
	}
	if len(a.blocks) == 0 {
		return a.begin(nil)
	}
	return a.blocks[len(a.blocks)-1]
}

// whole reads an answer that was not streamed.
func (a *answer) whole(data []byte) (httpmodel.Progress, error) {
	var m struct {
		Type    string         `json:"type"`
		Error   jsontext.Value `json:"error"`
		ID      string         `json:"id"`
		Content []contentBlock `json:"content"`
		Stop    string         `json:"stop_reason"`
		Usage   usage          `json:"usage"`
	}
	if err := json.Unmarshal(data, &m, httpmodel.Lenient); err != nil || len(m.Error) > 0 && m.Error.Kind() != 'n' {
		return 0, httpmodel.Unreadable(httpmodel.Event{Data: data}, errors.New("it is no answer"))
	}
	if m.Type != "message" {
		return httpmodel.Nothing, nil
	}
	a.id, a.stop = m.ID, m.Stop
	a.usage.take(m.Usage)
	for _, b := range m.Content {
		g := a.begin(nil)
		g.contentBlock = b
		a.piece(g, string(b.Text), string(b.Thinking))
	}
	return httpmodel.End, nil
}

func (u *usage) take(o usage) {
	for _, c := range []struct{ to, from **httpmodel.Number }{
		{&u.Input, &o.Input},
		{&u.CacheRead, &o.CacheRead},
		{&u.CacheWrite, &o.CacheWrite},
		{&u.Output, &o.Output},
		{&u.Details.Thinking, &o.Details.Thinking},
	} {
		if *c.from != nil {
			*c.to = *c.from
		}
	}
}

// tokens counts as the port does: the input with what came from the cache.
func (u *usage) tokens() model.Usage {
	n := func(p *httpmodel.Number) uint64 {
		if p == nil {
			return 0
		}
		return uint64(*p)
	}
	return model.Usage{
		Input: n(u.Input) + n(u.CacheRead) + n(u.CacheWrite), CachedInput: n(u.CacheRead),
		Output: n(u.Output), Reasoning: n(u.Details.Thinking),
	}
}

// thought is the thinking so far.
func (a *answer) thought() string {
	var parts []string
	for _, g := range a.blocks {
		if g.thinking.Len() > 0 {
			parts = append(parts, g.thinking.String())
		}
	}
	return strings.Join(parts, "\n")
}

// finishes are the reasons for an answer's end in the port's words. One that is
// not here stays as it is.
var finishes = map[string]string{
	"end_turn": "stop", "stop_sequence": "stop", "tool_use": "tool_calls", "max_tokens": "max_tokens",
	"model_context_window_exceeded": "length",
}

// response answers what was said, and in which order, the thinking in its signed
// form.
func (a *answer) response() (model.Response, []httpmodel.Segment, error) {
	resp := model.Response{Usage: a.usage.tokens(), Finish: a.stop, ProviderID: a.id}
	if finish, ok := finishes[a.stop]; ok {
		resp.Finish = finish
	}
	var text strings.Builder
	var pieces []httpmodel.Segment
	for _, g := range a.blocks {
		switch g.Type {
		case "text", "":
			text.WriteString(g.text.String())
			pieces = append(pieces, httpmodel.Segment{Text: g.text.String()})
		case "tool_use":
			pieces = append(pieces, httpmodel.Segment{Call: new(model.FunctionCall)})
			resp.Calls = append(resp.Calls, model.FunctionCall{ID: g.ID, Name: g.Name, Arguments: g.arguments()})
		case "thinking", "redacted_thinking":
			if raw := g.sealed(); raw != nil {
				pieces = append(pieces, httpmodel.Segment{Sealed: raw})
			}
		}
	}
	if text.Len() > 0 {
		resp.Text = new(text.String())
	}
	if thought := a.thought(); thought != "" {
		resp.Reasoning = &thought
	}
	if a.stop == "refusal" && resp.Text == nil && resp.Calls == nil {
		return resp, nil, httpmodel.Withheld("the model refused to answer (refusal)")
	}
	if resp.Calls != nil && (resp.Finish == "stop" || resp.Finish == "") {
		resp.Finish = "tool_calls"
	}
	return resp, pieces, nil
}

// arguments are what the model wrote, or what the block began with.
func (g *gathered) arguments() string {
	text := strings.TrimSpace(g.input.String())
	if text == "" {
		text = strings.TrimSpace(string(g.Input))
	}
	if text == "" || text == "null" || text == `""` {
		return "{}"
	}
	if g.input.Len() > 0 {
		return g.input.String()
	}
	return text
}

// sealed is a thinking block as it must be sent back, or nil when it has no
// signature.
func (g *gathered) sealed() jsontext.Value {
	b := struct {
		Type      string  `json:"type"`
		Thinking  *string `json:"thinking,omitzero"`
		Signature string  `json:"signature,omitzero"`
		Data      string  `json:"data,omitzero"`
	}{Type: g.Type, Data: string(g.Data)}
	if g.Type == "thinking" {
		b.Thinking = new(g.thinking.String())
		if b.Signature = g.signature.String(); b.Signature == "" {
			b.Signature = string(g.Signature)
		}
	}
	if b.Signature == "" && b.Data == "" {
		return nil
	}
	raw, err := httpmodel.Marshal(b)
	if err != nil {
		return nil
	}
	return raw
}
