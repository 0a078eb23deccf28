package model

import (
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// chatMessage is a message in chat-completions form.
type chatMessage struct {
	Role             string         `json:"role"`
	Content          jsontext.Value `json:"content"`
	ReasoningContent string         `json:"reasoning_content"`
	Reasoning        string         `json:"reasoning"`
	Calls            []struct {
		ID       string `json:"id"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
	CallID     string           `json:"tool_call_id"`
	References []string         `json:"_tool_references"`
	Sealed     jsontext.Value   `json:"_sealed"`
	Tools      []jsontext.Value `json:"tools"`
}

// chatPart is a piece of a message's content.
type chatPart struct {
	Type  string         `json:"type"`
	Text  string         `json:"text"`
	Cache jsontext.Value `json:"cache_control"`
	Image chatURL        `json:"image_url"`
	Video chatURL        `json:"video_url"`
	File  struct {
		Name string `json:"filename"`
		Data string `json:"file_data"`
	} `json:"file"`
}

type chatURL struct {
	URL string `json:"url"`
}

// lenient reads what callers wrote: doubled members and text that is not UTF-8 pass.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// readChat reads messages in chat-completions form, for callers that have no other.
func readChat(wire []jsontext.Value) ([]*Message, error) {
	out := make([]*Message, len(wire))
	for i, raw := range wire {
		var m chatMessage
		err := json.Unmarshal(raw, &m, lenient)
		if err == nil {
			out[i], err = m.typed()
		}
		if err != nil {
			return nil, &Error{Kind: BadRequest, Message: fmt.Sprintf("message %d of the request cannot be read: %v", i+1, err)}
		}
		out[i].chat = raw
	}
	return out, nil
}

func (c *chatMessage) typed() (*Message, error) {
	m := &Message{
		Role: c.Role, Reasoning: c.ReasoningContent, CallID: c.CallID, References: c.References,
		Sealed: c.Sealed, Tools: c.Tools, ReasoningTwice: c.ReasoningContent != "" && c.Reasoning != "",
	}
	if m.Reasoning == "" {
		m.Reasoning = c.Reasoning
	}
	for _, call := range c.Calls {
		m.Calls = append(m.Calls, FunctionCall{ID: call.ID, Name: call.Function.Name, Arguments: call.Function.Arguments})
	}
	switch {
	case c.Content == nil || c.Content.Kind() == 'n':
		return m, nil
	case c.Content.Kind() == '"':
		var text string
		err := json.Unmarshal(c.Content, &text, lenient)
		m.Content = []Part{{Text: text}}
		return m, err
	}
	var parts []chatPart
	if err := json.Unmarshal(c.Content, &parts, lenient); err != nil {
		return m, err
	}
	for _, p := range parts {
		part, err := p.typed()
		if err != nil {
			return m, err
		}
		m.Content = append(m.Content, part)
	}
	return m, nil
}

func (c *chatPart) typed() (Part, error) {
	switch c.Type {
	case "text":
		return Part{Text: c.Text, Cache: c.Cache != nil}, nil
	case "image_url":
		return filePart(Image, "", c.Image.URL), nil
	case "video_url":
		return filePart(Video, "", c.Video.URL), nil
	case "file":
		return filePart(Document, c.File.Name, c.File.Data), nil
	}
	return Part{}, fmt.Errorf("a part of type %q is not known", c.Type)
}

// filePart takes the content out of a data URL; another address stays one.
func filePart(kind, name, url string) Part {
	head, data, _ := strings.Cut(url, ",")
	mime, isData := strings.CutPrefix(head, "data:")
	mime, coded := strings.CutSuffix(mime, ";base64")
	if isData && coded {
		if content, err := base64.StdEncoding.DecodeString(data); err == nil {
			return Part{File: &File{Kind: kind, Name: name, MIME: mime, Data: content}}
		}
	}
	return Part{File: &File{Kind: kind, Name: name, URL: url}}
}
