package httpmodel

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// failure is an error with its class, and whether another attempt is ruled out, or
// makes sense once although the class does not.
type failure struct {
	err   *model.Error
	final bool
	once  bool
}

func (f *failure) Error() string { return f.err.Error() }

func (f *failure) Unwrap() error { return f.err }

// Refusal is an error that a provider sent within a stream, or as a reply of
// status 200.
func Refusal(body []byte) error { return classify(0, nil, body, time.Time{}) }

// Unreadable is an event that is not what was expected: an error in some other
// form, or nothing that can be read.
func Unreadable(ev Event, err error) error {
	var head struct {
		Type  Text           `json:"type"`
		Error jsontext.Value `json:"error"`
	}
	if json.Unmarshal(ev.Data, &head, Lenient) == nil && (head.Type == "error" || len(head.Error) > 0 && head.Error.Kind() != 'n') || ev.Name == "error" {
		return Refusal(ev.Data)
	}
	return Broken("an event of the stream cannot be read: " + err.Error())
}

// Broken is a reply that does not follow the provider's protocol. The
// request may be retried.
func Broken(what string) error {
	return &failure{err: &model.Error{Kind: model.Network, Message: what}}
}

// Withheld is a reply that the provider refuses to give; a retry does not help.
func Withheld(what string) error {
	return &failure{err: &model.Error{Kind: model.BadRequest, Message: what}, final: true}
}

// classify puts an error in its class: by what the provider calls it first, since
// that says more than the status.
func classify(status int, header http.Header, body []byte, now time.Time) *failure {
	c := complain(body)
	e := &model.Error{Kind: kindOf(status, c), Status: status, RetryAfter: retryAfter(header, now), Message: c.message}
	if e.Message == "" {
		e.Message = "no text in the answer"
		if text := http.StatusText(status); text != "" {
			e.Message = strings.ToLower(text)
		}
	}
	// A caller that sent a picture must be able to see that it was the reason.
	if !model.AboutMedia(e.Message) {
		for _, word := range append(c.codes, c.param) {
			if model.AboutMedia(word) {
				e.Message += " (" + word + ")"
				break
			}
		}
	}
	return &failure{err: e, final: header.Get("X-Should-Retry") == "false", once: e.Kind == model.BadRequest && slices.ContainsFunc(c.codes, isSlip)}
}

// isSlip says that a code means a fault of the model's own reply, which another
// reply may not have: the server could not read the call that it wrote.
func isSlip(code string) bool {
	return code == "tool_use_failed" || code == "output_parse_failed"
}

// named are the classes of the providers' types, codes and statuses.
var named = []struct {
	kind model.ErrorKind
	any  []string
}{
	{model.ContextOverflow, []string{"context_length_exceeded", "exceed_context_size_error", "request_too_large", "context_window_exceeded", "model_context_window_exceeded", "string_above_max_length", "max_context_length_exceeded"}},
	// No wait helps these, another profile may.
	{model.Auth, []string{"insufficient_quota", "billing_error", "billing_not_active", "billing_hard_limit_reached", "insufficient_credits", "payment_required", "authentication_error", "permission_error", "invalid_api_key", "invalid_authentication", "account_deactivated", "access_denied", "permission_denied", "unauthenticated", "unauthorized", "api_key_invalid", "401", "402", "403"}},
	{model.Rate, []string{"rate_limit_error", "rate_limit_exceeded", "rate_limit_reached", "too_many_requests", "resource_exhausted", "requests", "tokens", "429"}},
	{model.Overloaded, []string{"overloaded_error", "overloaded", "server_is_overloaded", "engine_overloaded", "engine_overloaded_error", "slow_down", "unavailable", "service_unavailable", "server_error", "internal_error", "internal_server_error", "internalservererror", "api_error", "internal", "upstream_error", "provider_error", "500", "502", "503", "504", "529"}},
	{model.Timeout, []string{"timeout_error", "timeout", "request_timeout", "deadline_exceeded", "408"}},
	{model.BadRequest, []string{"invalid_request_error", "not_found_error", "model_not_found", "invalid_prompt", "bad_request", "badrequesterror", "invalid_argument", "unprocessable_entity", "invalid_image", "content_policy_violation", "400", "404", "422"}},
}

// overflows are how providers say that a request is over the context window.
var overflows = []string{
	"maximum context length", "context length exceeded", "context_length_exceeded", "exceeds the context", "exceed the context",
	"exceed context limit", "exceeds context", "exceeds model context", "context window", "context size",
	"prompt is too long", "prompt too long", "input is too long", "input too long", "too long for the model", "request too large for model",
	"maximum prompt length", "reduce the length of the messages", "reduce the length of the prompt", "reduce the length of the input",
	"input token count", "input tokens exceed", "too many input tokens", "tokens in request more than max tokens allowed",
	"greater than the context length", "longer than the model's context", "larger than the model's context",
	"exceeded model token limit", "maximum allowed input length", "maximum number of tokens allowed", "model's max input", "max_model_len", "n_ctx",
	"kv cache is full", "token limit exceeded",
	"does not fit in context", "does not fit in the context", "not fit into the context", "when context the overflows", "context overflow",
	"greater than the context", "larger than the context", "longer than the context", "exceeds the model's context",
}

// refusedKey is how servers say with a status of 400 that they do not take a key.
var refusedKey = regexp.MustCompile(`(api[ _-]?key|credentials?)[a-z0-9 :"'*._\[\]-]{0,40} (is |was |are |has |)(not valid|invalid|incorrect|expired|revoked|disabled|missing)|(not valid|invalid|incorrect|expired|missing|no valid) (authentication |access |)(api[ _-]?key|credentials?)|please pass a valid api key`)

// blind is how servers say that a model takes no pictures, some with a status of
// their own trouble.
var blind = regexp.MustCompile(`(image|picture|vision|multi-?modal)[a-z_ ]{0,20} (is|are) not supported|(does not|doesn't|not) support[a-z_ ]{0,20} (image|vision|multi-?modal)|required for image input`)

// rates are words of a limit per time, which the words above do not mean then.
var rates = []string{"per minute", "per min", "per hour", "per day", "rate limit", "tpm", "quota"}

func kindOf(status int, c complaint) model.ErrorKind {
	text := strings.ToLower(c.message)
	has := func(words []string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
	}
	tooLong := has(overflows) && !has(rates)
	switch {
	case status == http.StatusRequestEntityTooLarge:
		return model.ContextOverflow
	case blind.MatchString(text) && status != http.StatusTooManyRequests && status != http.StatusUnauthorized && status != http.StatusForbidden:
		return model.BadRequest
	case tooLong && status != http.StatusTooManyRequests && status != http.StatusUnauthorized && status != http.StatusForbidden:
		return model.ContextOverflow
	}
	if status == http.StatusBadRequest && refusedKey.MatchString(text) {
		return model.Auth
	}
	for _, class := range named {
		for _, code := range c.codes {
			if slices.Contains(class.any, code) && agrees(class.kind, status) {
				return class.kind
			}
		}
	}
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusPaymentRequired, status == http.StatusProxyAuthRequired:
		return model.Auth
	case status == http.StatusTooManyRequests:
		return model.Rate
	case status == http.StatusRequestTimeout:
		return model.Timeout
	case status >= 500, status == http.StatusConflict, status == http.StatusTooEarly:
		return model.Overloaded
	case status >= 400:
		return model.BadRequest
	case strings.Contains(text, "rate limit"), strings.Contains(text, "too many requests"):
		return model.Rate
	case strings.Contains(text, "api key"), strings.Contains(text, "unauthorized"):
		return model.Auth
	}
	// An error in mid-stream without a known name is the server's trouble.
	return model.Overloaded
}

// agrees says that a name may decide over a status. A 5xx or 429 is never the
// request's fault, and a 401 always the key's, whatever the body says.
func agrees(kind model.ErrorKind, status int) bool {
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return kind == model.Auth
	case status == http.StatusTooManyRequests:
		return kind == model.Rate || kind == model.Auth || kind == model.Overloaded
	case status >= 500:
		return kind != model.BadRequest
	}
	return true
}
