package session

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/agent-lsp/agent-lsp/session/history"
	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/agent-lsp/agent-lsp/session/projection"
	"github.com/go-json-experiment/json/jsontext"
)

// summarize asks a model for the text that stands for a conversation's beginning.
const summarize = `Summarize the conversation so far, for yourself: the summary takes its place, and the work goes on from it. Say what was asked and what of it is done, which files were read and changed and how, what was learnt about the project, what failed and why, what the checker said last, and what is left to do. Keep names, paths and exact error texts. Answer with the summary alone and call no tool.`

// The bounds of what a person asked for that is kept in their own words.
const (
	maxRequest  = 2000 // characters of one prompt
	maxRequests = 12000
)

// defaultOutput is the room for a reply, in tokens, where a profile names none.
const defaultOutput = 8000

// full reports that a request of so many bytes comes near the profile's context window. A token
// is taken for as many bytes as the last reply's usage said, four at first.
func (q *requester) full(p model.Profile, size int) bool {
	if p.Context <= 0 {
		return false
	}
	room := p.MaxOutput
	if room <= 0 {
		room = min(defaultOutput, p.Context/4)
	}
	return float64(size)/q.perToken() > 0.95*float64(p.Context-room)
}

func (q *requester) perToken() float64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.bytesPerToken > 0 {
		return q.bytesPerToken
	}
	return 4
}

// measured learns from the reply to a request of so many bytes how many a token
// takes.
func (q *requester) measured(size int, u model.Usage) {
	if u.Input < 1000 {
		return // too small to measure
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.bytesPerToken = min(max(float64(size)/float64(u.Input), 1), 8)
}

func size(messages []jsontext.Value) int {
	n := 0
	for _, m := range messages {
		n += len(m)
	}
	return n
}

// errNothingToCompact says that the turn alone fills the model's context.
var errNothingToCompact = errors.New("there is nothing before this turn that a summary could stand for")

// compact has the model write a summary of all that came before the turn, and
// keeps it. When even that does not fit, older messages are left out of it.
func (q *requester) compact(a *ask, p model.Profile, m model.Model) error {
	h := q.s.journal.history()
	covered, ok := h.Before(a.turn.id)
	if !ok {
		return errNothingToCompact
	}
	before := h.Until(a.turn.id)
	q.s.setDoing("summarizing the conversation")
	resp, err := q.summary(a, p, m, before)
	if err != nil {
		return err
	}
	_, err = q.s.journal.record(a.turn.ctx, &event.Summary{
		Turn: a.turn.id, CoveredUpTo: covered, Text: requests(before) + *resp.Text,
		Usage: resp.Usage, Profile: p.Name, ProviderID: resp.ProviderID,
	})
	return err
}

// summary asks for the summary, with ever fewer messages while they do not fit.
func (q *requester) summary(a *ask, p model.Profile, m model.Model, h history.History) (model.Response, error) {
	ask := history.Message{ID: a.turn.id, Role: history.User, Text: summarize, Turn: a.turn.id}
	h.Messages = append(h.Messages[:len(h.Messages):len(h.Messages)], ask)
	cfg := projection.Default()
	for {
		messages, err := projection.Project(a.turn.ctx, h, projection.System{Base: a.turn.layers.system.Base}, projection.Model{}, cfg, projection.Hooks{})
		if err != nil {
			return model.Response{}, err
		}
		resp, err := q.request(a.turn, m, model.Request{Profile: p, Messages: messages, Step: stepOf(a.turn.id, 0)}, nil)
		switch left := len(h.Messages) - h.Covered(); {
		case err == nil:
			fault := noSummary(&resp)
			if fault == "" {
				return resp, nil
			}
			if _, err := q.s.journal.record(a.turn.ctx, &event.Usage{Turn: a.turn.id, Profile: p.Name, Usage: resp.Usage}); err != nil {
				return resp, err
			}
			return resp, &model.Error{Kind: model.BadRequest, Message: fault}
		case !overflows(err) || left < 4 || cfg.MaxMessages == 1:
			return resp, err
		case cfg.MaxMessages == 0:
			cfg.MaxMessages = left / 2
		default:
			cfg.MaxMessages = max(cfg.MaxMessages/2, 1)
		}
	}
}

// noSummary says why a reply is no summary, "" when it is one.
func noSummary(resp *model.Response) string {
	switch {
	case cutBy(resp.Finish) != "":
		return "the summary was cut by " + cutBy(resp.Finish)
	case len(resp.Calls) > 0:
		return "the reply to the request for a summary is a call, not a text"
	case resp.Text == nil || strings.TrimSpace(*resp.Text) == "":
		return "the reply to the request for a summary is empty"
	}
	return ""
}

func overflows(err error) bool {
	me, ok := errors.AsType[*model.Error](err)
	return ok && me.Kind == model.ContextOverflow
}

// requests are the prompts of a conversation in the person's own words: no
// summary may take their place. The first one is always there, then the newest.
func requests(h history.History) string {
	var texts []string
	for _, m := range h.Messages {
		if m.Role == history.User {
			texts = append(texts, clip(m.Text))
		}
	}
	if len(texts) == 0 {
		return ""
	}
	from, total := len(texts), utf8.RuneCountInString(texts[0])
	for from > 1 && total+utf8.RuneCountInString(texts[from-1]) <= maxRequests {
		from--
		total += utf8.RuneCountInString(texts[from])
	}
	var b strings.Builder
	b.WriteString("What the user asked for, in their own words:\n")
	fmt.Fprintf(&b, "- %s\n", texts[0])
	if from > 1 {
		fmt.Fprintf(&b, "- (%d prompts left out)\n", from-1)
	}
	for _, t := range texts[from:] {
		fmt.Fprintf(&b, "- %s\n", t)
	}
	b.WriteString("\n")
	return b.String()
}

// clip bounds a prompt and says so.
func clip(text string) string {
	if r := []rune(text); len(r) > maxRequest {
		return fmt.Sprintf("%s [… %d more characters]", string(r[:maxRequest]), len(r)-maxRequest)
	}
	return text
}
