package model

import (
	"encoding/base64"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// The roles of a Message.
const (
	RoleSystem    = "system"
	RoleUser      = "user"
	RoleAssistant = "assistant"
	RoleTool      = "tool" // the result of one call
)

// Message is one message of a request. Each provider writes it in its own API's
// form.
type Message struct {
	Role    string
	Content []Part
	// Reasoning is what an assistant thought before it spoke; "" for nothing.
	Reasoning string
	// ReasoningTwice writes it under two keys, for servers that read the other one.
	ReasoningTwice bool
	// ReasoningQuiet says not to send Reasoning as text: it is there to match Sealed.
	ReasoningQuiet bool
	// Calls are an assistant's calls. Their arguments are the text of an object.
	Calls []FunctionCall
	// CallID names the call that a tool message is the result of.
	CallID string
	// References name the tools whose definitions this result gives to the model.
	References []string
	// Sealed is the Response.Sealed of an assistant's message, or nil.
	Sealed jsontext.Value
	// Tools are the definitions that a system message without content brings in.
	Tools []jsontext.Value

	chat jsontext.Value // the message as a caller gave it in chat-completions form
}

// Part is a piece of a message's content: text, or a file.
type Part struct {
	Text  string
	Cache bool  // the provider's cache may end after this text
	File  *File // nil for text
}

// The kinds of a File.
const (
	Image    = "image"
	Video    = "video"
	Document = "file"
)

// File is a file that the model is shown.
type File struct {
	Kind, Name, MIME string
	Data             []byte
	URL              string // where the content is, if it is not in Data
}

// DataURL returns the file's URL: a data URL if the content is known.
func (f *File) DataURL() string {
	if f.URL != "" {
		return f.URL
	}
	return "data:" + f.MIME + ";base64," + base64.StdEncoding.EncodeToString(f.Data)
}

// Copy returns a message that can be changed without changing m.
func (m *Message) Copy() *Message {
	out := *m
	out.Content, out.Calls, out.chat = slices.Clone(m.Content), slices.Clone(m.Calls), nil
	return &out
}

// Text returns the message's text, with a blank line between its parts.
func (m *Message) Text() string {
	if len(m.Content) == 1 {
		return m.Content[0].Text
	}
	var texts []string
	for _, p := range m.Content {
		if p.File == nil && p.Text != "" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n\n")
}

// Typed returns the request's conversation. A request that has only Messages is
// read here; the error is of kind BadRequest and names the message.
func (r *Request) Typed() ([]*Message, error) {
	if r.Conversation != nil {
		return r.Conversation, nil
	}
	return readChat(r.Messages)
}
