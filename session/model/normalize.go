package model

import (
	"strconv"
	"strings"
)

// Normalize makes the calls of one reply distinct, whatever the provider sent: a
// call that repeats another's id, name and arguments is dropped; one that has
// another's id but differs gets a fresh id; a missing id is made; absent, blank
// and null arguments become {}. Order is kept, and equal input gives equal
// output. Two calls without ids are two calls, however alike. The input is left
// as it was.
//
// Ids are distinct within the reply only; NormalizeStep makes ids that are
// distinct in a whole session.
func Normalize(calls []FunctionCall) []FunctionCall { return NormalizeStep("", calls) }

// NormalizeStep is Normalize for the reply in a step ("turn/round"):
// ids that it makes name the step, so that no two replies of a session share
// one. An empty step is Normalize.
func NormalizeStep(step string, calls []FunctionCall) []FunctionCall {
	taken := make(map[string]bool, len(calls))
	for _, c := range calls {
		taken[c.ID] = true
	}
	unique := func(base string, n int) string {
		for ; ; n++ {
			if id := base + "_" + strconv.Itoa(n); !taken[id] {
				taken[id] = true
				return id
			}
		}
	}
	base := "call"
	if step != "" {
		base += "_" + idSafe(step)
	}
	out := make([]FunctionCall, 0, len(calls))
	seen := make(map[FunctionCall]bool, len(calls))
	used := make(map[string]bool, len(calls))
	for i, c := range calls {
		c.Arguments = plainArguments(c.Arguments)
		switch {
		case c.ID == "":
			c.ID = unique(base, i+1)
		case seen[c]:
			continue
		case used[c.ID]:
			seen[c] = true
			c.ID = unique(c.ID, 2)
		default:
			seen[c] = true
		}
		used[c.ID] = true
		out = append(out, c)
	}
	return out
}

// idSafe replaces the characters that some provider does not accept in an id.
func idSafe(s string) string {
	b := []byte(s)
	for i, c := range b {
		if (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '-' {
			b[i] = '_'
		}
	}
	return string(b)
}

// plainArguments returns {} for what providers send for no arguments.
func plainArguments(text string) string {
	if s := strings.TrimSpace(text); s == "" || s == "null" {
		return "{}"
	}
	return text
}
