package httpmodel

import (
	"errors"
	"regexp"
	"strconv"
	"strings"

	"github.com/agent-lsp/agent-lsp/session/model"
)

// leastOutput is the least room for a reply that is worth a request, in tokens.
const leastOutput = 256

// The ways in which servers say that the requested output limit is the problem:
// more than the model ever writes, or more than the input leaves of its window.
var (
	tooMuchOutput = []*regexp.Regexp{
		regexp.MustCompile(`max(?:_completion|_output)?_tokens: \d+ > (\d+)`),
		regexp.MustCompile(`at most (\d+) (?:completion|output) tokens`),
		regexp.MustCompile(`max(?:_completion|_output)?_tokens[^0-9]{0,40}less than or equal to[^0-9]{0,4}(\d+)`),
		regexp.MustCompile(`range of max_tokens is \[\d+ +(\d+)\]`),
	}
	window = []*regexp.Regexp{ // its size
		regexp.MustCompile(`context (?:length|window|size)[a-z ']{0,20} (\d+)`),
	}
	shares = []*regexp.Regexp{ // of input and output
		regexp.MustCompile(`(\d+) in the messages[^0-9]+(\d+) in the completion`),
		regexp.MustCompile(`(\d+) of text input[^0-9]+(\d+) in the output`),
		regexp.MustCompile(`(\d+) input tokens[^0-9]+(\d+) output tokens`),
	}
	sum = regexp.MustCompile(`(\d+) \+ (\d+) > (\d+)`)
)

// roomIn reads from a refusal how many tokens of output would have passed beside
// the same input.
func roomIn(message string) (int, bool) {
	text := strings.ReplaceAll(strings.ToLower(message), ",", "")
	find := func(list []*regexp.Regexp) []int {
		for _, re := range list {
			if m := re.FindStringSubmatch(text); m != nil {
				return numbers(m[1:])
			}
		}
		return nil
	}
	if n := find(tooMuchOutput); n != nil {
		return n[0], true
	}
	if m := sum.FindStringSubmatch(text); m != nil {
		n := numbers(m[1:])
		return n[2] - n[0], true
	}
	size, used := find(window), find(shares)
	if size == nil || used == nil {
		return 0, false
	}
	return size[0] - used[0], true
}

func numbers(words []string) []int {
	out := make([]int, len(words))
	for i, w := range words {
		out[i], _ = strconv.Atoi(w) // digits; one beyond an int stands for nothing that helps
	}
	return out
}

// WithLessOutput makes a request with an output limit in tokens, and retries it once
// with a lower limit when the server says that this limit alone is too high.
func WithLessOutput(output int, request func(output int) (model.Response, error)) (model.Response, error) {
	resp, err := request(output)
	e, ok := errors.AsType[*model.Error](err)
	if !ok || output <= 0 || e.Kind != model.BadRequest && e.Kind != model.ContextOverflow {
		return resp, err
	}
	room, ok := roomIn(e.Message)
	if !ok || room < leastOutput || room >= output {
		return resp, err
	}
	return request(room)
}
