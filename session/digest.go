package session

import (
	"context"
	"fmt"
	"strings"

	"github.com/agent-lsp/agent-lsp/session/history"
	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/agent-lsp/agent-lsp/session/projection"
)

const (
	// digestShare is how much of a window may be full when a turn begins before the
	// results of the turns before it become digests.
	digestShare = 0.6
	// digestOver is how many characters a result has that becomes a digest.
	digestOver = 600
	// digestPart bounds what a digest shows of a call and of its result, in characters.
	digestPart = 150
)

// digests says which results a request has as digests. It moves on at the beginning of
// a turn only, in one step, so that a provider's cache of the conversation is lost once
// and the model keeps what it has just seen.
type digests struct {
	upTo uint64 // the last message whose results are digests; 0: none
}

// limit returns what the projection is to shorten, nil for nothing.
func (d digests) limit() *projection.ResultLimit {
	if d.upTo == 0 {
		return nil
	}
	return &projection.ResultLimit{MaxChars: digestOver, PreviousTurnsOnly: true, UpTo: d.upTo}
}

// advance has the results before a turn become digests, and reports whether there are
// more of them than before.
func (d *digests) advance(h history.History, turn uint64) bool {
	for i := len(h.Messages) - 1; i >= 0; i-- {
		if m := h.Messages[i]; m.Turn != turn && m.ID > d.upTo {
			d.upTo = m.ID
			return true
		} else if m.Turn != turn {
			break
		}
	}
	return false
}

// fills reports whether a request of so many bytes fills more than its share of the
// profile's window.
func (q *requester) fills(p model.Profile, size int) bool {
	return p.Context > 0 && float64(size)/q.perToken() > digestShare*float64(p.Context)
}

// Condense implements projection.Digest: a line that names the call, how its result
// begins and how long it was.
func (digests) Condense(_ context.Context, name, arguments, result string) (string, bool) {
	first, _, _ := strings.Cut(strings.TrimSpace(result), "\n")
	return fmt.Sprintf("[an earlier result of %s %s, %d characters, which began: %s; call it again if you need it]",
		name, short(arguments), len([]rune(result)), short(first)), true
}

func short(text string) string {
	if r := []rune(text); len(r) > digestPart {
		return string(r[:digestPart]) + "…"
	}
	return text
}
