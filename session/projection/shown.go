package projection

import (
	"slices"

	"github.com/agent-lsp/agent-lsp/session/history"
)

// shownMessages returns the messages of the request: without those that the summary
// covers, that failed, or that are before the window.
func shownMessages(h history.History, window int) []history.Message {
	rest := h.Messages[h.Covered():]
	if slices.ContainsFunc(rest, func(m history.Message) bool { return m.Failed }) {
		rest = slices.DeleteFunc(slices.Clone(rest), func(m history.Message) bool { return m.Failed })
	}
	if window <= 0 || len(rest) <= window {
		return rest
	}
	for i := len(rest) - window; i < len(rest); i++ {
		if rest[i].Role != history.Assistant {
			return rest[i:]
		}
	}
	// One long exchange fills the window: it is kept whole.
	for i := len(rest) - 1; i >= 0; i-- {
		if speaks(rest[i]) {
			return rest[i:]
		}
	}
	return rest
}

// speaks reports whether a model reads the message as a user's.
func speaks(m history.Message) bool { return m.Role == history.User || m.Role == history.Agent }

// turnStart is where the current turn begins, for media and for results.
type turnStart struct{ media, results int }

// currentTurn returns the start of the current turn. If messages have their turn's
// number, that decides. Otherwise a user's message opened a turn, unless it
// follows calls that all have results: such a one was queued while the agent
// worked. Results count as previous before the last user's message in any case.
func currentTurn(ms []history.Message) turnStart {
	n := len(ms)
	if n > 0 && ms[n-1].Turn != 0 {
		i := n - 1
		for i > 0 && ms[i-1].Turn == ms[n-1].Turn {
			i--
		}
		return turnStart{i, i}
	}
	var start turnStart
	for i := n - 1; i > 0 && start.results == 0; i-- {
		if speaks(ms[i]) {
			start.results = i
		}
	}
	i := n
	for i > 0 {
		for i > 0 && !speaks(ms[i-1]) {
			i--
		}
		for i > 0 && ms[i-1].Role != history.Assistant {
			i--
		}
		if i == 0 || !allFinished(ms[i-1]) {
			break
		}
	}
	start.media = i
	return start
}

// allFinished reports whether the message called tools and each ran to its end, so
// that the next step was another request.
func allFinished(m history.Message) bool {
	for _, c := range m.Calls {
		switch c.State {
		case history.Running, history.Awaiting, history.Cancelled:
			return false
		}
	}
	return len(m.Calls) > 0
}
