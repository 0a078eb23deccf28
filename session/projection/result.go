package projection

import (
	"strings"
	"unicode/utf8"

	"github.com/agent-lsp/agent-lsp/session/history"
)

// The texts for where a provider accepts no empty text.
const (
	emptyMessage = "(empty message)"
	emptyResult  = "(no output)"
)

const (
	failedPrefix = "Error: "
	cutMark      = "… [truncated]"
)

// resultText returns what the model reads as a call's result. A recorded note comes
// before the configured one.
func resultText(c history.Call, cfg Config) string {
	recorded := ""
	if c.Result != nil {
		recorded = *c.Result
	}
	switch c.State {
	case history.Done:
		return firstOf(recorded, emptyResult)
	case history.Failed:
		if c.Result == nil {
			return failedPrefix + "unknown error"
		}
		return failedPrefix + recorded
	case history.Rejected:
		return firstOf(recorded, cfg.RejectedDefault, "rejected")
	case history.Cancelled:
		return firstOf(recorded, cfg.CancelledDefault, "cancelled")
	default:
		return firstOf(cfg.InterruptedText, "interrupted")
	}
}

// limited applies the size limit. An over-long text is condensed by the hook, or
// cut.
func (b *builder) limited(c history.Call, text string, previous bool, message uint64) string {
	limit := b.cfg.MaxToolResult
	if limit == nil || limit.PreviousTurnsOnly && !previous || limit.UpTo > 0 && message > limit.UpTo {
		return text
	}
	at := runeOffset(text, limit.MaxChars)
	if at == len(text) {
		return text
	}
	if b.hooks.Digest != nil {
		if short, ok := b.hooks.Digest.Condense(b.ctx, c.Name, c.Arguments, text); ok {
			return firstOf(short, emptyResult)
		}
	}
	return text[:at] + cutMark
}

// runeOffset returns where the first n code points of s end, len(s) when it has no more.
func runeOffset(s string, n int) int {
	if len(s) <= n {
		return len(s)
	}
	at := 0
	for range n {
		if at >= len(s) {
			return len(s)
		}
		_, size := utf8.DecodeRuneInString(s[at:])
		at += size
	}
	return at
}

// firstOf returns the first text that is not blank.
func firstOf(texts ...string) string {
	for _, t := range texts {
		if strings.TrimSpace(t) != "" {
			return t
		}
	}
	return ""
}
