package openai

import (
	"crypto/sha256"
	"encoding/base32"
	"regexp"
	"slices"
	"strings"

	"github.com/agent-lsp/agent-lsp/session/model"
)

const (
	longestID   = 40 // of a call, that OpenAI accepts
	carefulID   = 9  // of a call, that Mistral demands, in letters and digits
	bridge      = "(stopped here)"
	systemStart = "<system>\n"
	systemEnd   = "\n</system>"
)

// aboutForm matches an error that refuses the order of roles or a call's id.
var aboutForm = regexp.MustCompile(`(?i)\brole|tool.?call|\bids?\b|alternat|\border\b`)

var plainID = regexp.MustCompile(`^[a-zA-Z0-9]{9}$`)

// careful returns a conversation in the form that the strictest chat servers demand:
// results are followed by an assistant's message, system messages stand in front
// only, and a call's id is nine letters and digits. Ids that are so stay.
func careful(messages []*model.Message) []*model.Message {
	out := make([]*model.Message, 0, len(messages)+1)
	for _, m := range messages {
		var last *model.Message
		if len(out) > 0 {
			last = out[len(out)-1]
		}
		front := last == nil || last.Role == model.RoleSystem
		if m.Role == model.RoleSystem && !front && m.Tools == nil {
			note := model.Part{Text: systemStart + m.Text() + systemEnd}
			if last.Role != model.RoleAssistant {
				with := last.Copy()
				with.Content = merged(with.Content, note)
				out[len(out)-1] = with
				continue
			}
			m = &model.Message{Role: model.RoleUser, Content: []model.Part{note}}
		}
		if m.Role == model.RoleUser && last != nil && last.Role == model.RoleTool {
			out = append(out, &model.Message{Role: model.RoleAssistant, Content: []model.Part{{Text: bridge}}})
		}
		out = append(out, m)
	}
	return withIDs(out, func(id string) string {
		if plainID.MatchString(id) {
			return id
		}
		return hashed(id)[:carefulID]
	})
}

// merged appends a text to a content, to the text before it if there is one.
func merged(content []model.Part, note model.Part) []model.Part {
	content = slices.Clone(content)
	if n := len(content); n > 0 && content[n-1].File == nil {
		content[n-1].Text += "\n\n" + note.Text
		return content
	}
	return append(content, note)
}

// shortIDs shortens ids that are too long for OpenAI; only other providers make such.
func shortIDs(messages []*model.Message) []*model.Message {
	return withIDs(messages, func(id string) string {
		if len(id) <= longestID {
			return id
		}
		return "call_" + hashed(id)
	})
}

// withIDs changes the ids of calls and of their results alike.
func withIDs(messages []*model.Message, change func(string) string) []*model.Message {
	out := slices.Clone(messages)
	for i, m := range messages {
		if changes := m.CallID != "" && change(m.CallID) != m.CallID || slices.ContainsFunc(m.Calls, func(c model.FunctionCall) bool { return change(c.ID) != c.ID }); !changes {
			continue
		}
		with := m.Copy()
		if m.CallID != "" {
			with.CallID = change(m.CallID)
		}
		for j := range with.Calls {
			with.Calls[j].ID = change(with.Calls[j].ID)
		}
		out[i] = with
	}
	return out
}

// hashed returns an id's digest in letters and digits; different ids stay different.
func hashed(id string) string {
	sum := sha256.Sum256([]byte(id))
	return strings.ToLower(base32.HexEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:20]))
}
