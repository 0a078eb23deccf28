package wiretest

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/agent-lsp/agent-lsp/session/model/httpmodel"
)

func wholes(t *testing.T, api API) {
	said := Sample()
	json := map[string]string{"Content-Type": "application/json"}
	srv := Serve(t, Reply{Header: json, Body: api.Whole(said)})
	Ask{API: api, Base: srv.URL}.Do(t.Context(), t).Want(t, said.Response())
	srv = Serve(t, Reply{Header: map[string]string{"Content-Type": "text/plain"}, Body: "\n " + api.Whole(said)})
	Ask{API: api, Base: srv.URL}.Do(t.Context(), t).Want(t, said.Response())
	srv = Serve(t, Reply{Header: json, Body: `{"error":{"type":"overloaded_error","message":"busy"}}`})
	Ask{API: api, Base: srv.URL}.Do(t.Context(), t).Fails(t, model.Overloaded, "busy")
	srv = Serve(t, Reply{Header: json, Body: `{}`})
	Ask{API: api, Base: srv.URL}.Do(t.Context(), t).Fails(t, model.Network, "no answer of a model")
	srv = Serve(t, Reply{Header: map[string]string{"Content-Type": "text/html"}, Body: "<html>welcome</html>"})
	Ask{API: api, Base: srv.URL}.Do(t.Context(), t).Fails(t, model.BadRequest, "base_url")
}

// again are the classes that are tried again.
func again(k model.ErrorKind) bool {
	return k == model.Rate || k == model.Overloaded || k == model.Timeout || k == model.Network
}

// repeats sends requests to a server that always sends the same reply, and checks
// the error kind and the count of requests.
func repeats(t *testing.T, api API, reply Reply, kind model.ErrorKind, words ...string) {
	t.Helper()
	srv := Serve(t, reply)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second) // for a provider that waits for the end of an open stream
	defer cancel()
	h := Ask{API: api, Base: srv.URL, Config: httpmodel.Config{Clock: NoWait{}, Retries: 2}}.Do(ctx, t)
	h.Fails(t, kind, words...)
	want := 1
	if again(kind) {
		want = 3
	}
	if n := len(srv.Seen()); n != want {
		t.Errorf("asked %d times, want %d", n, want)
	}
}

func refusals(t *testing.T, api API) {
	events := api.Encode(Sample())
	for _, c := range []struct {
		name, data string
		kind       model.ErrorKind
		words      string
	}{
		{"anthropic, overloaded", `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, model.Overloaded, "Overloaded"},
		{"anthropic, rate", `{"type":"error","error":{"type":"rate_limit_error","message":"wait"}}`, model.Rate, "wait"},
		{"anthropic, request", `{"type":"error","error":{"type":"invalid_request_error","message":"bad tool"}}`, model.BadRequest, "bad tool"},
		{"anthropic, overflow", `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`, model.ContextOverflow, "210000"},
		{"openai", `{"error":{"message":"The server had an error","type":"server_error","code":null}}`, model.Overloaded, "had an error"},
		{"openai, overflow", `{"error":{"message":"too big","code":"context_length_exceeded"}}`, model.ContextOverflow, "too big"},
		{"openai, key", `{"error":{"message":"Incorrect API key provided: ` + Key + `","code":"invalid_api_key"}}`, model.Auth, "Incorrect API key provided: [key]"},
		{"openrouter", `{"error":{"message":"Provider returned error","code":429,"metadata":{"raw":"slow"}}}`, model.Rate, "slow"},
		{"a text", `{"error":"slot unavailable"}`, model.Overloaded, "slot unavailable"},
		{"responses", `{"type":"error","code":"rate_limit_exceeded","message":"tokens"}`, model.Rate, "tokens"},
		{"no words", `{"error":{}}`, model.Overloaded, "{}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, before := range []int{0, 1, len(events) / 2} {
				for _, name := range []string{"", "error"} {
					body := Frame("\n", events[:before]...) + Frame("\n", Event{name, c.data})
					repeats(t, api, Reply{Body: body, End: Open}, c.kind, c.words)
				}
			}
		})
	}
	t.Run("its own", func(t *testing.T) {
		body := Frame("\n", events[:2]...) + Frame("\n", api.Refuse("overloaded_error", "no room"))
		repeats(t, api, Reply{Body: body}, model.Overloaded, "no room")
	})
}

func statuses(t *testing.T, api API) {
	for _, c := range []struct {
		status int
		body   string
		kind   model.ErrorKind
		words  string
	}{
		{400, `{"error":{"message":"unknown field","type":"invalid_request_error"}}`, model.BadRequest, "unknown field"},
		{400, `{"error":{"message":"odd words","code":"context_length_exceeded"}}`, model.ContextOverflow, "odd words"},
		{400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`, model.ContextOverflow, "210000"},
		{401, `{"error":{"message":"Incorrect API key provided: ` + Key + `.","code":"invalid_api_key"}}`, model.Auth, "provided: [key]."},
		{401, `key ` + Key + ` is unknown`, model.Auth, "key [key] is unknown"},
		{403, `Bearer abcdefghijkl refused`, model.Auth, "[key] refused"},
		{402, `{"error":{"message":"no credits left"}}`, model.Auth, "no credits"},
		{404, `{"error":{"message":"model 'qwen' not found"}}`, model.BadRequest, "qwen"},
		{404, `404 page not found`, model.BadRequest, "page not found"},
		{408, ``, model.Timeout, "request timeout"},
		{409, ``, model.Overloaded, "conflict"},
		{413, `{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}`, model.ContextOverflow, "maximum size"},
		{422, `{"detail":[{"loc":["body"],"msg":"field required"}]}`, model.BadRequest, "field required"},
		{429, `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}`, model.Auth, "quota"},
		{429, `{"error":{"message":"Request too large on tokens per min (TPM): Limit 1, reduce the length of the messages","type":"tokens","code":"rate_limit_exceeded"}}`, model.Rate, "TPM"},
		{500, `{"error":{"message":"oops","type":"invalid_request_error"}}`, model.Overloaded, "oops"},
		{502, "<html><head><title>502 Bad Gateway</title><style>p{}</style></head><body><h1>Bad\nGateway</h1></body></html>", model.Overloaded, "502 Bad Gateway Bad Gateway"},
		{503, ``, model.Overloaded, "service unavailable"},
		{529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, model.Overloaded, "Overloaded"},
		{500, strings.Repeat("x", 1<<20), model.Overloaded, "xxx…"},
	} {
		t.Run(fmt.Sprint(c.status, " ", c.words), func(t *testing.T) {
			repeats(t, api, Reply{Status: c.status, Body: c.body}, c.kind, c.words)
			srv := Serve(t, Reply{Status: c.status, Body: c.body, End: Reset})
			h := Ask{API: api, Base: srv.URL}.Do(t.Context(), t)
			if h.Err == nil || h.Err.Status != c.status && c.body != "" && len(c.body) < 1<<10 {
				t.Errorf("a connection that broke lost the status: %v", h.Err)
			}
		})
	}
}

func addresses(t *testing.T, api API) {
	said := Short()
	srv := Serve(t, Reply{Body: Frame("\n", api.Encode(said)...)})
	for base, want := range map[string]string{
		"": "/v1/" + api.Path, "/": "/v1/" + api.Path, "/v1": "/v1/" + api.Path, "/v1/": "/v1/" + api.Path,
		"/v1/" + api.Path: "/v1/" + api.Path, "/v1/" + api.Path + "/": "/v1/" + api.Path,
		"/openai/v1?x=1": "/openai/v1/" + api.Path + "?x=1", "/v1beta": "/v1beta/" + api.Path,
		"/v1beta/openai/v1/#top": "/v1beta/openai/v1/" + api.Path, "/v1?api-version=2": "/v1/" + api.Path + "?api-version=2",
	} {
		Ask{API: api, Base: " " + srv.URL + base + " "}.Do(t.Context(), t).Want(t, said.Response())
		seen := srv.Seen()
		last := seen[len(seen)-1]
		got := last.Path
		if last.Query != "" {
			got += "?" + last.Query
		}
		if got != want || last.Method != http.MethodPost {
			t.Errorf("base %q: %s %s, want %s", base, last.Method, got, want)
		}
	}
	want := "/compatible/" + api.Path
	if api.Versioned {
		want = "/compatible/v1/" + api.Path
	}
	Ask{API: api, Base: srv.URL + "/compatible"}.Do(t.Context(), t).Want(t, said.Response())
	if seen := srv.Seen(); seen[len(seen)-1].Path != want {
		t.Errorf("asked %s, want %s", seen[len(seen)-1].Path, want)
	}
	for _, bad := range []string{"h", "localhost:8080/v1", "ftp://h/v1", "http://", "http://h:x/", "/v1", "unix:///x"} {
		Ask{API: api, Base: bad}.Do(t.Context(), t).Fails(t, model.BadRequest, "base_url")
	}
	srv.Close()
	Ask{API: api, Base: srv.URL}.Do(t.Context(), t).Fails(t, model.Network, srv.URL, "refused")
}

func redirects(t *testing.T, api API) {
	said := Short()
	ok := Reply{Body: Frame("\n", api.Encode(said)...)}
	for _, status := range []int{301, 302, 307, 308} {
		srv := Serve(t, Reply{Status: status, Header: map[string]string{"Location": "$SELF/moved/here"}}, ok)
		Ask{API: api, Base: srv.URL}.Do(t.Context(), t).Want(t, said.Response())
		seen := srv.Seen()
		if len(seen) != 2 || seen[1].Method != http.MethodPost || seen[1].Path != "/moved/here" || seen[1].Body != seen[0].Body || seen[1].Header.Get(api.Header) == "" {
			t.Errorf("%d: %+v", status, seen)
		}
		other := Serve(t, ok)
		srv = Serve(t, Reply{Status: status, Header: map[string]string{"Location": other.URL + "/v1"}})
		Ask{API: api, Base: srv.URL}.Do(t.Context(), t).Fails(t, model.BadRequest, "another server, "+other.URL)
		if len(other.Seen()) != 0 {
			t.Errorf("%d: another server was given the request", status)
		}
	}
	// What an address says besides its path goes along.
	srv := Serve(t, Reply{Status: 307, Header: map[string]string{"Location": "$SELF/moved"}}, Reply{Status: 307, Header: map[string]string{"Location": "$SELF/again?own=1"}}, ok)
	Ask{API: api, Base: "http://user:hunter2hunter2@" + strings.TrimPrefix(srv.URL, "http://") + "/v1?x=1", Keyless: true}.Do(t.Context(), t).Want(t, said.Response())
	for i, want := range []string{"x=1", "x=1", "own=1"} {
		seen := srv.Seen()
		if len(seen) != 3 || seen[i].Query != want || seen[i].Header.Get("Authorization") != "Basic dXNlcjpodW50ZXIyaHVudGVyMg==" {
			t.Errorf("request %d of %d has the query %q and %q", i+1, len(seen), seen[i].Query, seen[i].Header.Get("Authorization"))
		}
	}
	srv = Serve(t, Reply{Status: 303, Header: map[string]string{"Location": "$SELF/x"}})
	Ask{API: api, Base: srv.URL}.Do(t.Context(), t).Fails(t, model.BadRequest, "base_url")
	srv = Serve(t, Reply{Status: 308, Header: map[string]string{"Location": "$SELF/x"}})
	Ask{API: api, Base: srv.URL}.Do(t.Context(), t).Fails(t, model.BadRequest, "more than 5 redirects")
	srv = Serve(t, Reply{Status: 307})
	Ask{API: api, Base: srv.URL}.Do(t.Context(), t).Fails(t, model.BadRequest, "without an address")
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	defer secure.Close()
	srv = Serve(t, Reply{Status: 307, Header: map[string]string{"Location": strings.Replace(secure.URL, "127.0.0.1", "localhost", 1)}})
	Ask{API: api, Base: srv.URL}.Do(t.Context(), t).Fails(t, model.BadRequest, "another server")
}

func keys(t *testing.T, api API) {
	said := Short()
	srv := Serve(t, Reply{Body: Frame("\n", api.Encode(said)...)})
	Ask{API: api, Base: srv.URL}.Do(t.Context(), t).Want(t, said.Response())
	got := srv.Seen()[0].Header.Get(api.Header)
	if got != Key && got != "Bearer "+Key {
		t.Errorf("%s: %q", api.Header, got)
	}
	// A key of the environment that no profile names is not used.
	t.Setenv("OPENAI_API_KEY", "sk-ambient-openai-key")
	t.Setenv("ANTHROPIC_API_KEY", "sk-ambient-anthropic-key")
	t.Setenv("ANTHROPIC_AUTH_TOKEN", "ambient-token")
	t.Setenv("OPENAI_CUSTOM_HEADERS", "X-Ambient: sk-ambient")
	Ask{API: api, Base: srv.URL, Keyless: true}.Do(t.Context(), t).Want(t, said.Response())
	for name, values := range srv.Seen()[1].Header {
		if name == "Authorization" || name == "X-Api-Key" || strings.Contains(strings.Join(values, " "), "ambient") {
			t.Errorf("a keyless request has %s: %v", name, values)
		}
	}
	unset := httpmodel.Config{Getenv: func(string) string { return " " }}
	Ask{API: api, Base: srv.URL, Config: unset}.Do(t.Context(), t).Fails(t, model.Auth, "WIRETEST_KEY is not set")
	broken := httpmodel.Config{Getenv: func(string) string { return Key + "\nX: y" }}
	Ask{API: api, Base: srv.URL, Config: broken}.Do(t.Context(), t).Fails(t, model.Auth, "characters that no API key has")
	Ask{API: api, Keyless: true}.Do(t.Context(), t).Fails(t, model.Auth, "api_key_env")
	if n := len(srv.Seen()); n != 2 {
		t.Errorf("%d requests, want 2", n)
	}
	// An address may contain a secret, too.
	secret := "http://user:hunter2hunter2@" + strings.TrimPrefix(srv.URL, "http://") + "/v1?key=q-secret-0123456789"
	Ask{API: api, Base: secret, Keyless: true}.Do(t.Context(), t).Want(t, said.Response())
	if seen := srv.Seen(); seen[2].Header.Get("Authorization") != "Basic dXNlcjpodW50ZXIyaHVudGVyMg==" || seen[2].Query != "key=q-secret-0123456789" {
		t.Errorf("the address's own user and query did not come: %+v", seen[2])
	}
	srv.Close()
	echo := Serve(t, Reply{Status: 403, Body: "no hunter2hunter2 and no q-secret-0123456789 here"})
	Ask{API: api, Base: strings.Replace(secret, srv.URL[len("http://"):], echo.URL[len("http://"):], 1), Keyless: true}.Do(t.Context(), t).Fails(t, model.Auth, "no [key] and no [key] here")
	h := Ask{API: api, Base: secret, Keyless: true}.Do(t.Context(), t)
	if h.Fails(t, model.Network); strings.Contains(h.Err.Error()+h.Log, "hunter2") || strings.Contains(h.Err.Error()+h.Log, "q-secret") {
		t.Errorf("a secret of the address is in %v, %s", h.Err, h.Log)
	}
}

// outputs tests refusals because of the output limit: the request is repeated once
// with the limit that the server allows, and the conversation stays as it is.
func outputs(t *testing.T, api API) {
	said := Short()
	api.Profile.MaxOutput = 20000
	for text, room := range map[string]int{
		"input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens` and try again":                                                                   10000,
		"max_tokens: 20000 > 8192, which is the maximum allowed number of output tokens":                                                                                                                     8192,
		"max_tokens is too large: 20000. This model supports at most 16384 completion tokens, whereas you provided 20000.":                                                                                   16384,
		"This model's maximum context length is 32768 tokens. However, you requested 34000 tokens (14000 in the messages, 20000 in the completion). Please reduce the length of the messages or completion.": 18768,
		"This endpoint's maximum context length is 32,768 tokens. However, you requested about 34,000 tokens (14,000 of text input, 20,000 in the output).":                                                  18768,
		"'max_tokens' must be less than or equal to '8192', the maximum value for 'max_tokens' is less than the 'context_window' for this model":                                                             8192,
		"Invalid max_tokens value, the valid range of max_tokens is [1, 8192]":                                                                                                                               8192,
		"This model's maximum context length is 32768 tokens. However, you requested 53000 tokens (33000 in the messages, 20000 in the completion).":                                                         0,
		"prompt is too long: 210000 tokens > 200000 maximum":                                                                                                                                                 0,
	} {
		refuse := Reply{Status: 400, Body: `{"error":{"message":"` + text + `","type":"invalid_request_error"}}`}
		srv := Serve(t, refuse, Reply{Body: Frame("\n", api.Encode(said)...)})
		h := Ask{API: api, Base: srv.URL}.Do(t.Context(), t)
		seen := srv.Seen()
		if room == 0 {
			h.Fails(t, model.ContextOverflow)
			if len(seen) != 1 {
				t.Errorf("%s: asked %d times", text, len(seen))
			}
			continue
		}
		h.Want(t, said.Response())
		if less := strings.Replace(seen[0].Body, ":20000", fmt.Sprint(":", room), 1); len(seen) != 2 || seen[1].Body != less {
			t.Errorf("%s:\n%s\nwant\n%s", text, seen[len(seen)-1].Body, less)
		}
		srv = Serve(t, refuse)
		Ask{API: api, Base: srv.URL}.Do(t.Context(), t)
		if n := len(srv.Seen()); n != 2 {
			t.Errorf("%s: asked %d times, want twice", text, n)
		}
	}
}

// slips are replies whose call the server itself could not read: another reply may
// be well-formed, so that there is one more attempt, whatever the number of retries.
func slips(t *testing.T, api API) {
	said := Sample()
	const body = `{"error":{"message":"Failed to call a function. See 'failed_generation'.","type":"invalid_request_error","code":"tool_use_failed","failed_generation":"<function=read{}"}}`
	for name, slip := range map[string]Reply{
		"status":   {Status: 400, Body: body},
		"stream":   {Body: Frame("\n", Event{"", body})},
		"a piece":  {Body: Frame("\n", api.Encode(said)[:2]...) + Frame("\n", Event{"error", body})},
		"one body": {Header: map[string]string{"Content-Type": "application/json"}, Body: body},
		"harmony":  {Status: 400, Body: `{"error":{"message":"Parsing failed.","type":"invalid_request_error","code":"output_parse_failed"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := httpmodel.Config{Clock: NoWait{}}
			srv := Serve(t, slip, Reply{Body: Frame("\n", api.Encode(said)...)})
			Ask{API: api, Base: srv.URL, Config: cfg}.Do(t.Context(), t).Want(t, said.Response())
			srv = Serve(t, slip)
			Ask{API: api, Base: srv.URL, Config: cfg}.Do(t.Context(), t).Fails(t, model.BadRequest, "after 2 attempts")
			if n := len(srv.Seen()); n != 2 {
				t.Errorf("asked %d times, want twice", n)
			}
		})
	}
}

// connections sends several requests: they share a connection, declare their
// content, and go through the proxy that the transport names.
func connections(t *testing.T, api API) {
	said := Short()
	var opened atomic.Int32
	srv := &Server{replies: []Reply{{Body: Frame("\n", api.Encode(said)...)}}, came: make(chan struct{}, 1)}
	srv.Server = httptest.NewUnstartedServer(srv)
	srv.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	srv.Start()
	defer srv.Close()
	own := http.DefaultTransport.(*http.Transport).Clone()
	defer own.CloseIdleConnections()
	for range 3 {
		// The idle timeout lets a provider wait a moment for the end of the response.
		Ask{API: api, Base: srv.URL, Config: httpmodel.Config{Transport: own, IdleTimeout: time.Minute}}.Do(t.Context(), t).Want(t, said.Response())
	}
	if n := opened.Load(); n != 1 {
		t.Errorf("three requests opened %d connections, want 1", n)
	}
	for _, r := range srv.Seen() {
		for name, want := range map[string]string{"Content-Type": "application/json", "Accept": "text/event-stream, application/json", "User-Agent": "agent-lsp"} {
			if got := r.Header.Get(name); got != want {
				t.Errorf("header %s is %q, want %q", name, got, want)
			}
		}
	}
	at, err := url.Parse(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	own.Proxy = http.ProxyURL(at)
	Ask{API: api, Base: "http://model.invalid/v1", Config: httpmodel.Config{Transport: own}}.Do(t.Context(), t).Want(t, said.Response())
	if seen := srv.Seen(); len(seen) != 4 || seen[3].Path != "/v1/"+api.Path {
		t.Errorf("the proxy was sent %d requests, the last to %q", len(seen)-3, seen[len(seen)-1].Path)
	}
}
