package openai

import (
	"strings"

	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/agent-lsp/agent-lsp/session/model/httpmodel"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// chatChunk is an event of a stream, or a whole reply, whose message stands in
// place of the delta.
type chatChunk struct {
	ID      httpmodel.Text `json:"id"`
	Error   jsontext.Value `json:"error"`
	Object  string         `json:"object"`
	Type    string         `json:"type"`
	Choices []struct {
		Index   httpmodel.Number `json:"index"`
		Delta   chatDelta        `json:"delta"`
		Message chatDelta        `json:"message"`
		Finish  httpmodel.Text   `json:"finish_reason"`
		Error   jsontext.Value   `json:"error"`
	} `json:"choices"`
	Usage *chatUsage `json:"usage"`
}

type chatDelta struct {
	Content          jsontext.Value `json:"content"` // a string, or a list of parts
	Refusal          httpmodel.Text `json:"refusal"`
	ReasoningContent httpmodel.Text `json:"reasoning_content"`
	Reasoning        httpmodel.Text `json:"reasoning"`
	Calls            []callDelta    `json:"tool_calls"`
	Call             *functionDelta `json:"function_call"` // of old servers
}

type chatUsage struct {
	Prompt        httpmodel.Number `json:"prompt_tokens"`
	Completion    httpmodel.Number `json:"completion_tokens"`
	CacheHit      httpmodel.Number `json:"prompt_cache_hit_tokens"` // some servers' own name
	PromptDetails struct {
		Cached httpmodel.Number `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionDetails struct {
		Reasoning httpmodel.Number `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

func (u *chatUsage) tokens() model.Usage {
	return model.Usage{
		Input: uint64(u.Prompt), CachedInput: uint64(max(u.PromptDetails.Cached, u.CacheHit)),
		Output: uint64(u.Completion), Reasoning: uint64(u.CompletionDetails.Reasoning),
	}
}

// chatReply assembles a reply from its events.
type chatReply struct {
	show      func(model.Delta)
	id        string
	text      httpmodel.Words
	reasoning httpmodel.Words
	refusal   strings.Builder
	calls     calls
	usage     model.Usage
	finish    string
	spoke     bool
}

func (c *chatReply) event(ev httpmodel.Event) (httpmodel.Progress, error) {
	data := strings.TrimSpace(string(ev.Data))
	switch {
	case data == "[DONE]":
		return httpmodel.End, c.done()
	case data == "" || ev.Name == "ping" || ev.Name == "keepalive":
		return httpmodel.Nothing, nil
	}
	var chunk chatChunk
	if err := json.Unmarshal(ev.Data, &chunk, httpmodel.Lenient); err != nil {
		return 0, httpmodel.Unreadable(ev, err)
	}
	if ev.Name == "error" || chunk.Object == "error" || chunk.Type == "error" || faulty(chunk.Error, len(chunk.Choices) > 0) {
		return 0, httpmodel.Refusal(ev.Data)
	}
	if c.id == "" {
		c.id = string(chunk.ID)
	}
	progress := httpmodel.Nothing
	if u := chunk.Usage; u != nil {
		progress = httpmodel.Piece
		c.usage = u.tokens()
	}
	spoke, err := c.choices(chunk)
	if err != nil {
		return 0, err
	}
	if spoke {
		progress = httpmodel.Piece
	}
	if (c.finish != "" || ev.Name == httpmodel.WholeBody && c.spoke) && progress < httpmodel.Whole {
		progress = httpmodel.Whole
	}
	return progress, nil
}

// choices takes what a chunk adds to the reply and reports whether it had any content.
func (c *chatReply) choices(chunk chatChunk) (spoke bool, err error) {
	for _, choice := range chunk.Choices {
		if choice.Index != 0 {
			continue // only one was requested
		}
		if faulty(choice.Error, true) {
			return false, httpmodel.Refusal(choice.Error)
		}
		for _, d := range []chatDelta{choice.Delta, choice.Message} {
			if c.add(d) {
				spoke = true
			}
		}
		if choice.Finish != "" {
			c.finish = strings.ToLower(string(choice.Finish))
		}
	}
	return spoke, nil
}

// done is the server's mark of the end. Some send it without a reason.
func (c *chatReply) done() error {
	if c.finish == "" && !c.spoke {
		return httpmodel.Broken("the stream ended without an answer")
	}
	return nil
}

// add appends a piece and reports whether it had any content.
func (c *chatReply) add(d chatDelta) bool {
	text, thought := content(d.Content)
	thought += string(d.ReasoningContent)
	if d.ReasoningContent == "" {
		thought += string(d.Reasoning)
	}
	text += string(d.Refusal)
	c.refusal.WriteString(string(d.Refusal))
	c.show(model.Delta{Text: c.text.Add(text), Reasoning: c.reasoning.Add(thought)})
	c.calls.add(d.Calls)
	if d.Call != nil {
		c.calls.add([]callDelta{{Index: new(httpmodel.Number), Function: *d.Call}})
	}
	said := text != "" || thought != "" || len(d.Calls) > 0 || d.Call != nil
	c.spoke = c.spoke || said
	return said
}

func (c *chatReply) response() (model.Response, error) {
	resp := model.Response{Calls: c.calls.all(), Usage: c.usage, Finish: c.finish, ProviderID: c.id}
	if c.text.Len() > 0 {
		resp.Text = new(c.text.String())
	}
	if c.reasoning.Len() > 0 {
		resp.Reasoning = new(c.reasoning.String())
	}
	switch {
	case c.finish == "error":
		return resp, httpmodel.Refusal(jsontext.Value(`"the provider broke off the answer"`))
	case c.finish == "content_filter" && resp.Text == nil && resp.Calls == nil:
		return resp, httpmodel.Withheld("the provider withheld the answer (content_filter)")
	case c.refusal.Len() > 0 && resp.Calls == nil:
		resp.Finish = "refusal"
	case len(resp.Calls) > 0 && (c.finish == "stop" || c.finish == "" || c.finish == "function_call"):
		resp.Finish = "tool_calls"
	case c.finish == "":
		resp.Finish = "stop"
	}
	return resp, nil
}

// faulty reports whether an error member is an error. Some servers send an empty
// one with each piece.
func faulty(raw jsontext.Value, beside bool) bool {
	switch strings.Join(strings.Fields(string(raw)), "") {
	case `""`, `{}`, `[]`, `false`, `0`:
		return !beside
	}
	return given(raw)
}

// given reports whether a member is present and not null.
func given(raw jsontext.Value) bool { return len(raw) > 0 && raw.Kind() != 'n' }

// content reads a text or a list of parts, among which some servers put their
// reasoning.
func content(raw jsontext.Value) (text, thought string) {
	if !given(raw) {
		return "", ""
	}
	type part struct {
		Type     string         `json:"type"`
		Text     httpmodel.Text `json:"text"`
		Thinking jsontext.Value `json:"thinking"`
	}
	var list []part
	if raw.Kind() != '[' || json.Unmarshal(raw, &list, httpmodel.Lenient) != nil {
		var t httpmodel.Text
		_ = json.Unmarshal(raw, &t, httpmodel.Lenient) // every JSON value is a Text
		return string(t), ""
	}
	for _, p := range list {
		if p.Type == "thinking" {
			inner, _ := content(p.Thinking)
			thought += inner
		} else {
			text += string(p.Text)
		}
	}
	return text, thought
}
