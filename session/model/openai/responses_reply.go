package openai

import (
	"strings"

	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/agent-lsp/agent-lsp/session/model/httpmodel"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// responsesEvent is an event of a stream.
type responsesEvent struct {
	Type      string            `json:"type"`
	Index     *httpmodel.Number `json:"output_index"`
	ItemID    string            `json:"item_id"`
	Delta     httpmodel.Text    `json:"delta"`
	Arguments *httpmodel.Text   `json:"arguments"`
	Item      jsontext.Value    `json:"item"`
	Response  responsesBody     `json:"response"`
	Error     jsontext.Value    `json:"error"`
}

// responsesBody is a reply, possibly unfinished.
type responsesBody struct {
	ID         string           `json:"id"`
	Object     string           `json:"object"`
	Status     string           `json:"status"`
	Error      jsontext.Value   `json:"error"`
	Output     []jsontext.Value `json:"output"`
	Incomplete struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Usage struct {
		Input        httpmodel.Number `json:"input_tokens"`
		InputDetails struct {
			Cached httpmodel.Number `json:"cached_tokens"`
		} `json:"input_tokens_details"`
		Output        httpmodel.Number `json:"output_tokens"`
		OutputDetails struct {
			Reasoning httpmodel.Number `json:"reasoning_tokens"`
		} `json:"output_tokens_details"`
	} `json:"usage"`
}

// outputItem is an item of a reply.
type outputItem struct {
	Type      string         `json:"type"`
	CallID    string         `json:"call_id"`
	ID        string         `json:"id"`
	Name      string         `json:"name"`
	Arguments httpmodel.Text `json:"arguments"`
	Sealed    httpmodel.Text `json:"encrypted_content"`
	Content   []textPart     `json:"content"`
	Summary   []textPart     `json:"summary"`
}

type textPart struct {
	Type    string         `json:"type"`
	Text    httpmodel.Text `json:"text"`
	Refusal httpmodel.Text `json:"refusal"`
}

// responsesReply assembles a reply from its events.
type responsesReply struct {
	show      func(model.Delta)
	items     items
	text      httpmodel.Words
	reasoning httpmodel.Words
	final     responsesBody
	broke     string // the separator to show before more reasoning
}

func (r *responsesReply) event(ev httpmodel.Event) (httpmodel.Progress, error) {
	if data := strings.TrimSpace(string(ev.Data)); data == "" || data == "[DONE]" {
		return httpmodel.Nothing, nil
	}
	var e responsesEvent
	if err := json.Unmarshal(ev.Data, &e, httpmodel.Lenient); err != nil {
		return 0, httpmodel.Unreadable(ev, err)
	}
	if ev.Name == httpmodel.WholeBody {
		return r.whole(ev.Data)
	}
	if e.Type == "" {
		e.Type = ev.Name
	}
	switch e.Type {
	case "response.output_text.delta", "response.refusal.delta":
		r.show(model.Delta{Text: r.text.Add(string(e.Delta))})
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		r.think(string(e.Delta))
	case "response.reasoning_summary_part.added":
		r.paragraph()
	case "response.output_item.added":
		r.items.add(e)
	case "response.function_call_arguments.delta":
		r.items.call(e).arguments.Add(string(e.Delta))
	case "response.function_call_arguments.done":
		if e.Arguments != nil {
			g := r.items.call(e)
			g.arguments = httpmodel.Words{}
			g.arguments.Add(string(*e.Arguments))
		}
	case "response.output_item.done":
		r.items.end(e)
	case "response.completed", "response.incomplete", "response.failed", "response.done":
		r.final = e.Response
		if e.Type == "response.failed" || faulty(e.Response.Error, true) {
			return 0, httpmodel.Refusal(orText(e.Response.Error, "the model failed"))
		}
		return httpmodel.End, nil
	case "error":
		return 0, httpmodel.Refusal(ev.Data)
	case "response.in_progress", "response.queued", "response.created", "ping", "keepalive":
		return httpmodel.Nothing, nil
	default:
		if given(e.Error) {
			return 0, httpmodel.Refusal(ev.Data)
		}
	}
	return httpmodel.Piece, nil
}

// whole reads a reply that was not streamed.
func (r *responsesReply) whole(data []byte) (httpmodel.Progress, error) {
	if err := json.Unmarshal(data, &r.final, httpmodel.Lenient); err != nil {
		return 0, httpmodel.Broken("the answer cannot be read: " + err.Error())
	}
	if faulty(r.final.Error, r.final.Status != "") || r.final.Status == "failed" {
		return 0, httpmodel.Refusal(data)
	}
	if r.final.Status == "" {
		return httpmodel.Nothing, nil
	}
	out, _, err := r.response()
	if err != nil {
		return 0, err
	}
	for _, d := range []model.Delta{{Reasoning: said(out.Reasoning)}, {Text: said(out.Text)}} {
		r.show(d)
	}
	return httpmodel.End, nil
}

func said(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

func (r *responsesReply) paragraph() {
	if r.reasoning.Len() > 0 {
		r.broke = "\n\n"
	}
}

func (r *responsesReply) think(text string) {
	text = r.broke + text
	r.broke = ""
	r.show(model.Delta{Reasoning: r.reasoning.Add(text)})
}

// output returns the reply's items in order, from wherever the server put them.
func (r *responsesReply) output() []jsontext.Value {
	if len(r.items.list) == 0 {
		return r.final.Output
	}
	return r.items.output()
}

// response returns the reply, and its pieces in order, the reasoning in its sealed
// form.
func (r *responsesReply) response() (model.Response, []httpmodel.Segment, error) {
	u := r.final.Usage
	resp := model.Response{ProviderID: r.final.ID, Finish: "stop", Usage: model.Usage{
		Input: uint64(u.Input), CachedInput: uint64(u.InputDetails.Cached), Output: uint64(u.Output), Reasoning: uint64(u.OutputDetails.Reasoning),
	}}
	var words, thought, refused strings.Builder
	var pieces []httpmodel.Segment
	for _, raw := range r.output() {
		var it outputItem
		if err := json.Unmarshal(raw, &it, httpmodel.Lenient); err != nil {
			return resp, nil, httpmodel.Broken("an item of the answer cannot be read: " + err.Error())
		}
		switch it.Type {
		case "message":
			before := words.Len()
			for _, p := range it.Content {
				words.WriteString(string(p.Text + p.Refusal))
				refused.WriteString(string(p.Refusal))
			}
			pieces = append(pieces, httpmodel.Segment{Text: words.String()[before:]})
		case "reasoning":
			for _, p := range append(it.Summary, it.Content...) {
				if thought.Len() > 0 {
					thought.WriteString("\n\n")
				}
				thought.WriteString(string(p.Text))
			}
			if it.Sealed != "" {
				pieces = append(pieces, httpmodel.Segment{Sealed: raw.Clone()})
			}
		case "function_call":
			if strings.TrimSpace(string(it.Arguments)) == "" || it.Arguments == "null" {
				it.Arguments = "{}"
			}
			resp.Calls = append(resp.Calls, model.FunctionCall{ID: it.CallID, Name: it.Name, Arguments: string(it.Arguments)})
			pieces = append(pieces, httpmodel.Segment{Call: new(model.FunctionCall)})
		}
	}
	resp.Text = either(words.String(), r.text.String())
	resp.Reasoning = either(r.reasoning.String(), thought.String())
	switch {
	case r.final.Incomplete.Reason != "":
		resp.Finish = r.final.Incomplete.Reason
	case refused.Len() > 0 && resp.Calls == nil:
		resp.Finish = "refusal"
	case resp.Calls != nil:
		resp.Finish = "tool_calls"
	}
	if resp.Finish == "content_filter" && resp.Text == nil && resp.Calls == nil {
		return resp, nil, httpmodel.Withheld("the provider withheld the answer (content_filter)")
	}
	return resp, pieces, nil
}

// either returns the first text that is not empty.
func either(texts ...string) *string {
	for _, t := range texts {
		if t != "" {
			return &t
		}
	}
	return nil
}

func orText(raw jsontext.Value, text string) jsontext.Value {
	if given(raw) {
		return raw
	}
	return jsontext.Value(`"` + text + `"`)
}
