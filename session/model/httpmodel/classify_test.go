package httpmodel

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/agent-lsp/agent-lsp/session/model"
)

// check classifies a body and compares.
func check(t *testing.T, status int, body string, kind model.ErrorKind, words string) {
	t.Helper()
	e := classify(status, http.Header{}, []byte(body), time.Time{}).err
	if e.Kind != kind || !strings.Contains(e.Message, words) || e.Status != status {
		t.Errorf("%d %s:\n%s (status %d): %s\nwant %s: %s", status, body, e.Kind, e.Status, e.Message, kind, words)
	}
}

func TestOverflowIsRecognisedInEveryWording(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
	}{
		{400, `{"error":{"message":"This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`},
		{400, `{"error":{"message":"odd words","code":"context_length_exceeded"}}`},
		{400, `{"error":{"message":"Your input exceeds the context window of this model.","type":"invalid_request_error","code":null}}`},
		{400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`},
		{400, "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000\"}}"},
		{413, `{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum allowed number of bytes."}}`},
		{413, ``},
		{400, `{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4000 in the messages, 1000 in the completion). Please reduce the length of the messages or completion.","type":"BadRequestError","param":null,"code":400}`},
		{400, `{"error":{"code":400,"message":"request (9000 tokens) exceeds the available context size (8192 tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":8192}}`},
		{400, `{"error":"Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, the initial prompt is greater than the context length"}`},
		{400, `{"error":{"message":"This endpoint's maximum context length is 32768 tokens. However, you requested about 40000 tokens","code":400}}`},
		{400, `[{"error":{"code":400,"message":"The input token count (1100000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}]`},
		{400, `{"error":{"message":"prompt too long; exceeded max context length by 5 tokens","type":"api_error"}}`},
		{400, `{"error":{"message":"Invalid request: Your request exceeded model token limit: 131072 (requested: 140000)","type":"invalid_request_error"}}`},
		{400, `{"code":"invalid-argument","error":"This model's maximum prompt length is 131072 but the request contains 140000 tokens."}`},
		{422, `{"detail":"Input is too long for requested model."}`},
		{500, `{"error":{"message":"the request exceeds the available context size","type":"server_error"}}`},
		{0, `{"type":"error","code":"context_length_exceeded","message":"Your input exceeds the context window"}`},
		{0, `{"error":{"message":"Input does not fit in context length"}}`},
		{0, `{"error":"The prompt does not fit in the context of the loaded model."}`},
		{0, `{"error":{"message":"Reached context overflow: the prompt has 9000 tokens"}}`},
		{400, `{"error":"Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded with a smaller one. Try to load the model with a larger context length"}`},
		{400, `{"error":"The number of tokens to keep from the initial prompt is greater than the context length. Try to load the model with a larger context length, or provide a shorter input"}`},
	} {
		check(t, c.status, c.body, model.ContextOverflow, "")
	}
}

func TestWhatIsNoOverflow(t *testing.T) {
	check(t, 429, `{"error":{"message":"Request too large for gpt-x on tokens per min (TPM): Limit 30000, Requested 40000. The input or output tokens must be reduced.","type":"tokens","code":"rate_limit_exceeded"}}`, model.Rate, "TPM")
	check(t, 429, `{"type":"error","error":{"type":"rate_limit_error","message":"would exceed your organization's rate limit of 40,000 input tokens per minute; reduce the prompt length"}}`, model.Rate, "per minute")
	check(t, 400, `{"type":"error","error":{"type":"invalid_request_error","message":"max_tokens: 100000 > 8192, which is the maximum allowed number of output tokens"}}`, model.BadRequest, "8192")
	check(t, 400, `{"error":{"message":"Invalid 'tools[0].function.name': string too long","type":"invalid_request_error","code":"string_too_long"}}`, model.BadRequest, "too long")
	check(t, 0, `{"error":{"message":"Request too large for gpt-x on tokens per min (TPM): Limit 30000; reduce the length of the messages.","code":"rate_limit_exceeded"}}`, model.Rate, "TPM")
	check(t, 400, `{"error":{"message":"maximum context length per day is used up, your quota","code":"insufficient_quota"}}`, model.Auth, "quota")
	check(t, 401, `{"error":{"message":"context window of your key is over"}}`, model.Auth, "")
}

func TestARefusedKeyIsOneWhateverTheStatus(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
	}{
		{400, `[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID"}]}}]`},
		{400, `{"error":{"code":400,"message":"API key expired. Please renew the API key.","status":"INVALID_ARGUMENT"}}`},
		{400, `{"error":{"code":400,"message":"odd words","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}`},
		{400, `{"code":"Client specified an invalid argument","error":"Incorrect API key provided: xa***23. You can obtain an API key from https://console.x.ai."}`},
		{400, `{"error":{"message":"Invalid API Key","type":"invalid_request_error","code":"invalid_api_key"}}`},
		{400, `{"error":{"message":"Missing API key","type":"invalid_request_error"}}`},
		{401, ``},
		{403, `{"error":{"message":"no"}}`},
	} {
		check(t, c.status, c.body, model.Auth, "")
	}
	check(t, 400, `{"error":{"message":"details in words","details":"none"}}`, model.BadRequest, "details in words")
	check(t, 400, `{"error":{"message":"Invalid value for 'api_mode'","type":"invalid_request_error"}}`, model.BadRequest, "api_mode")
	check(t, 400, `{"error":{"message":"max_tokens is not valid","type":"invalid_request_error"}}`, model.BadRequest, "")
}

func TestARefusedPictureIsToldAsOne(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
	}{
		{400, `{"type":"error","error":{"type":"invalid_request_error","message":"messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 5592408 bytes > 5242880 bytes"}}`},
		{400, `{"type":"error","error":{"type":"invalid_request_error","message":"Could not process image"}}`},
		{400, `{"type":"error","error":{"type":"invalid_request_error","message":"messages.0.content.0: the media type does not match"}}`},
		{400, `{"error":{"message":"You uploaded an unsupported image. Please make sure your image is valid.","type":"invalid_request_error","param":null,"code":"image_parse_error"}}`},
		{400, `{"error":{"message":"Invalid value.","type":"invalid_request_error","param":"messages.[1].content.[1].image_url.url","code":"invalid_value"}}`},
		{400, `{"error":{"message":"Bad input.","code":"invalid_image_format"}}`},
		{400, `{"error":{"message":"Invalid content type. image_url is only supported by certain models.","type":"invalid_request_error"}}`},
		{400, `{"object":"error","message":"llama is not a multimodal model","type":"BadRequestError","code":400}`},
		{400, `{"error":{"message":"messages[0].content must be a string","type":"invalid_request_error"}}`},
		{422, "Failed to deserialize the JSON body into the target type: messages[0]: unknown variant `image_url`, expected `text`"},
		{400, `{"error":"Model does not support images. Please use a model that does."}`},
		{404, `{"error":{"message":"No endpoints found that support image input","code":404}}`},
		{400, `[{"error":{"code":400,"message":"Unsupported MIME type: application/x","status":"INVALID_ARGUMENT"}}]`},
		{500, `{"error":{"code":500,"message":"image input is not supported - hint: if this is unexpected, you may need to provide the mmproj","type":"server_error"}}`},
		{500, `{"error":"failed to process inputs: this model is missing data required for image input"}`},
		{0, `{"error":{"message":"this model does not support image input","type":"server_error"}}`},
	} {
		e := classify(c.status, http.Header{}, []byte(c.body), time.Time{}).err
		if e.Kind != model.BadRequest || !model.AboutMedia(e.Message) {
			t.Errorf("%d %s:\n%s: %s", c.status, c.body, e.Kind, e.Message)
		}
	}
	check(t, 400, `{"error":{"message":"Invalid value.","param":"messages.[1].content.[1].image_url.url","code":"invalid_value"}}`, model.BadRequest, "Invalid value. (messages.[1].content.[1].image_url.url)")
	check(t, 429, `{"error":{"message":"your key does not support image input at this rate"}}`, model.Rate, "")
	check(t, 401, `{"error":{"message":"your key does not support image input"}}`, model.Auth, "")
	check(t, 503, `{"error":{"message":"the image service is busy"}}`, model.Overloaded, "")
	for _, text := range []string{
		"unknown field \"x\"", "provisioned throughput", "a supervision fault", "immediate retry", "an intermediate certificate", "max_tokens: 100000 > 8192", "model 'qwen' not found", "404 page not found",
	} {
		if model.AboutMedia(text) {
			t.Errorf("%q is taken for a word about a file", text)
		}
	}
}

func TestErrorsAreReadWhereverTheyStand(t *testing.T) {
	for body, words := range map[string]string{
		`{"error":{"message":"a\n\tb"}}`:                                         "a b",
		`{"error":"text"}`:                                                       "text",
		`{"message":"flat"}`:                                                     "flat",
		`{"detail":"fast"}`:                                                      "fast",
		`{"detail":[{"msg":"deep"}]}`:                                            "deep",
		`{"errors":[{"message":"first"},{"message":"second"}]}`:                  "first",
		`[{"error":{"message":"listed"}}]`:                                       "listed",
		`"just a string"`:                                                        "just a string",
		`{"error":{"message":{"nested":1}}}`:                                     `{"nested":1}`,
		`{"error":{"code":"teapot"}}`:                                            "teapot",
		`{"error":{"error":{"error":{"message":"far down"}}}}`:                   "far down",
		`{"error":{"message":"Provider returned error","metadata":{"raw":"x"}}}`: "Provider returned error (x)",
		`{"error":{"message":"cut`:                                               `{"error":{"message":"cut`,
		"\xff\xfeplain":                                                          "plain",
		`[]`:                                                                     "[]",
		``:                                                                       "bad request",
	} {
		check(t, 400, body, model.BadRequest, words)
	}
	deep := strings.Repeat(`{"error":`, 5000) + `1` + strings.Repeat(`}`, 5000)
	check(t, 400, deep, model.BadRequest, "error")
	if got := plain(strings.Repeat("ä", 3000)); len([]rune(got)) != maxMessage+1 {
		t.Errorf("%d characters", len([]rune(got)))
	}
}

func TestSecretsAreHidden(t *testing.T) {
	s := secretsOf("weird key/1", nil)
	for text, want := range map[string]string{
		"a weird key/1 b": "a [key] b", "weird+key%2F1": "[key]", "sk-proj-abcdefghijklmnop x": "[key] x",
		"Authorization: Bearer abcdefgh12345": "Authorization: [key]", "AIzaSyA1234567890abcdefghijk": "[key]", "task-based approach-x": "task-based approach-x",
	} {
		if got := s.clean(text); got != want {
			t.Errorf("clean(%q) = %q, want %q", text, got, want)
		}
	}
}
