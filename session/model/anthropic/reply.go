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

// contentBlock is a block of a reply.
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

// gathered is a block, as far as it has arrived.
type gathered struct {
	contentBlock
	text      httpmodel.Words
	input     httpmodel.Words
	thinking  httpmodel.Words
	signature strings.Builder
}

// reply assembles a reply from its events.
type reply struct {
	show   func(model.Delta)
	id     string
	blocks []*gathered                    // in the order they began
	index  map[httpmodel.Number]*gathered // the last one of each index
	usage  usage
	stop   string
}

func (r *reply) event(ev httpmodel.Event) (httpmodel.Progress, error) {
	if len(strings.TrimSpace(string(ev.Data))) == 0 {
		return httpmodel.Nothing, nil
	}
	if ev.Name == httpmodel.WholeBody {
		return r.whole(ev.Data)
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
		r.id = e.Message.ID
		r.usage.add(e.Message.Usage)
	case "content_block_start":
		g := r.begin(e.Index)
		g.contentBlock = e.Block
		r.piece(g, string(e.Block.Text), string(e.Block.Thinking))
	case "content_block_delta":
		r.delta(e)
	case "message_delta":
		if e.Delta.StopReason != "" {
			r.stop = string(e.Delta.StopReason)
		}
		r.usage.add(e.Usage)
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

func (r *reply) delta(e event) {
	g := r.block(e.Index)
	switch d := e.Delta; d.Type {
	case "text_delta":
		r.piece(g, string(d.Text), "")
	case "thinking_delta":
		r.piece(g, "", string(d.Thinking))
	case "input_json_delta":
		g.input.Add(string(d.JSON))
	case "signature_delta":
		g.signature.WriteString(string(d.Signature))
	}
}

// piece appends text to a block and shows it; a newline separates reasoning blocks.
func (r *reply) piece(g *gathered, text, thinking string) {
	if thinking != "" && g.thinking.Len() == 0 && r.thought() != "" {
		r.show(model.Delta{Reasoning: "\n"})
	}
	r.show(model.Delta{Text: g.text.Add(text), Reasoning: g.thinking.Add(thinking)})
}

// begin starts a block.
func (r *reply) begin(index *httpmodel.Number) *gathered {
	g := new(gathered)
	r.blocks = append(r.blocks, g)
	if index != nil {
		if r.index == nil {
			r.index = map[httpmodel.Number]*gathered{}
		}
		r.index[*index] = g
	}
	return g
}

// block returns the block that a piece belongs to: the last one if the piece has
// no index.
func (r *reply) block(index *httpmodel.Number) *gathered {
	if index != nil {
		if g := r.index[*index]; g != nil {
			return g
		}
		return r.begin(index)
	}
	if len(r.blocks) == 0 {
		return r.begin(nil)
	}
	return r.blocks[len(r.blocks)-1]
}

// whole reads a reply that was not streamed.
func (r *reply) whole(data []byte) (httpmodel.Progress, error) {
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
	r.id, r.stop = m.ID, m.Stop
	r.usage.add(m.Usage)
	for _, b := range m.Content {
		g := r.begin(nil)
		g.contentBlock = b
		r.piece(g, string(b.Text), string(b.Thinking))
	}
	return httpmodel.End, nil
}

func (u *usage) add(o usage) {
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

// tokens returns the usage as model.Usage counts it: the input includes cached tokens.
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

// thought returns the thinking so far.
func (r *reply) thought() string {
	var parts []string
	for _, g := range r.blocks {
		if g.thinking.Len() > 0 {
			parts = append(parts, g.thinking.String())
		}
	}
	return strings.Join(parts, "\n")
}

// finishes maps the API's reasons for a reply's end to those of model.Response.
// Other reasons are kept as they are.
var finishes = map[string]string{
	"end_turn": "stop", "stop_sequence": "stop", "tool_use": "tool_calls", "max_tokens": "max_tokens",
	"model_context_window_exceeded": "length",
}

// response returns the reply, and its pieces in order, the thinking in its signed
// form.
func (r *reply) response() (model.Response, []httpmodel.Segment, error) {
	resp := model.Response{Usage: r.usage.tokens(), Finish: r.stop, ProviderID: r.id}
	if finish, ok := finishes[r.stop]; ok {
		resp.Finish = finish
	}
	var text strings.Builder
	var pieces []httpmodel.Segment
	for _, g := range r.blocks {
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
	if thought := r.thought(); thought != "" {
		resp.Reasoning = &thought
	}
	if r.stop == "refusal" && resp.Text == nil && resp.Calls == nil {
		return resp, nil, httpmodel.Withheld("the model refused to answer (refusal)")
	}
	if resp.Calls != nil && (resp.Finish == "stop" || resp.Finish == "") {
		resp.Finish = "tool_calls"
	}
	return resp, pieces, nil
}

// arguments returns the arguments that the model wrote, or those that the block
// began with.
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

// sealed returns a thinking block in the form in which it must be sent back, or
// nil when it has no signature.
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
