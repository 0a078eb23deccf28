package wiretest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/agent-lsp/agent-lsp/session/model/httpmodel"
	"github.com/go-json-experiment/json/jsontext"
)

// Run runs all tests of this package against a provider.
func Run(t *testing.T, api API) {
	for _, test := range []struct {
		name string
		run  func(*testing.T, API)
	}{
		{"an answer is the same however its bytes come", framing},
		{"lines of any sensible length are read", lengths},
		{"a cut stream is no answer", cuts},
		{"a broken connection is no answer", breaks},
		{"an answer in one piece is read", wholes},
		{"waits", waits},
		{"silence ends by the clock", silence},
		{"cancel ends an ask at once", cancels},
		{"a restart withdraws what was shown", restarts},
		{"errors within a stream have their class", refusals},
		{"errors by status have their class", statuses},
		{"equal asks are equal bytes", equals},
		{"addresses", addresses},
		{"redirects", redirects},
		{"keys", keys},
		{"connections", connections},
		{"a mislabelled reply is read", labels},
		{"a character in two pieces is one", halves},
		{"room for the reply", outputs},
		{"a slip of the model is asked for once more", slips},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, api) })
	}
}

// equals sends one request many times: a request whose tools or members change places
// is one that no provider's cache and no recording knows again.
func equals(t *testing.T, api API) {
	var names []string
	name := func(format string, args ...any) string {
		names = append(names, `"`+fmt.Sprintf(format, args...)+`"`)
		return names[len(names)-1]
	}
	var tools []jsontext.Value
	for tool := range 10 {
		def := `{"type":"function","function":{"name":` + name("t%d", tool) + `,"parameters":{"type":"object","properties":{`
		for i := range 8 {
			def += name("p%d_%d", tool, 7-i) + `:{"type":"string"},`
		}
		tools = append(tools, jsontext.Value(strings.TrimSuffix(def, ",")+`}}}}`))
	}
	srv := Serve(t, Reply{Body: Frame("\n", api.Encode(Short())...)})
	for range 50 {
		Ask{API: api, Base: srv.URL, Tools: tools, Messages: []string{
			`{"role":"system","content":"base"}`,
			`{"role":"user","content":"go"}`,
			`{"role":"assistant","content":"Look.","tool_calls":[{"id":"c1","type":"function","function":{"name":"t1","arguments":"{\"b\":1,\"a\":2}"}},{"id":"c2","type":"function","function":{"name":"t2","arguments":"{}"}}]}`,
			`{"role":"tool","tool_call_id":"c1","content":"one"}`,
			`{"role":"tool","tool_call_id":"c2","content":"two"}`,
		}}.Do(t.Context(), t).Want(t, Short().Response())
	}
	seen := srv.Seen()
	for i, r := range seen {
		if r.Body != seen[0].Body {
			t.Fatalf("ask %d sent\n%s\nand the first one\n%s", i, r.Body, seen[0].Body)
		}
	}
	rest := seen[0].Body[strings.Index(seen[0].Body, `"tools":`):]
	for _, n := range names {
		_, after, ok := strings.Cut(rest, n)
		if !ok {
			t.Fatalf("%s does not stand where it was given in %s", n, seen[0].Body)
		}
		rest = after
	}
}

func framing(t *testing.T, api API) {
	said := Sample()
	events := api.Encode(said)
	plain := Frame("\n", events...)
	noise := ": OPENROUTER PROCESSING\n\n:\n" + Frame("\n", api.Alive...) + "event: ping\ndata: {}\n\ndata:\n\nid: 1\nretry: 10\nunknown\n\n"
	var noisy strings.Builder
	for _, e := range events {
		noisy.WriteString(noise + Frame("\n", e))
	}
	// An event's data may come in several lines.
	var folded strings.Builder
	for _, e := range events {
		folded.WriteString(Frame("\n", Event{e.Name, strings.Replace(e.Data, `{"`, "{\ndata: \"", 1)}))
	}
	for name, body := range map[string]string{
		"LF": plain, "CRLF": Frame("\r\n", events...), "CR": Frame("\r", events...),
		"BOM": "\ufeff" + plain, "noise between": noisy.String(), "several lines of data": folded.String(),
		"no space after the colon": strings.ReplaceAll(plain, "data: ", "data:"),
		"no line end at the end":   strings.TrimRight(plain, "\n"),
	} {
		t.Run(name, func(t *testing.T) {
			for _, step := range []int{0, Stride, 7, 4096} {
				srv := Serve(t, Reply{Body: body, Step: step})
				Ask{API: api, Base: srv.URL}.Do(t.Context(), t).Want(t, said.Response())
			}
		})
	}
	t.Run("at every boundary", func(t *testing.T) {
		wire := &Wire{}
		for i := 1; i < len(plain); i += Stride {
			wire.Replies = []Play{{Pieces: []string{plain[:i], plain[i:]}}}
			Ask{API: api, Base: "http://h", Config: httpmodel.Config{Transport: wire}}.Do(t.Context(), t).Want(t, said.Response())
		}
	})
}

// labels are the two forms of a reply, each under the name of the other.
func labels(t *testing.T, api API) {
	said := Sample()
	stream, whole := Frame("\n", api.Encode(said)...), api.Whole(said)
	for kind, body := range map[string]string{"application/json": stream, "text/event-stream": whole, "": stream} {
		for _, lead := range []string{"", "\n\n", ": comment\n\n"} {
			if strings.HasPrefix(lead, ":") && body == whole {
				continue
			}
			srv := Serve(t, Reply{Header: map[string]string{"Content-Type": kind}, Body: lead + body})
			Ask{API: api, Base: srv.URL}.Do(t.Context(), t).Want(t, said.Response())
		}
	}
}

// halves sends a surrogate pair in two pieces, as servers do that count UTF-16.
func halves(t *testing.T, api API) {
	said := Said{
		ID: "answer_3", Text: []string{"a HIGH", "LOW b"}, Reasoning: []string{"HIGH", "LOW"}, Finish: "tool_calls",
		Calls: []Call{{"call_a", "read", []string{`{"path":"HIGH`, `LOW"}`}}},
	}
	whole := strings.NewReplacer("HIGHLOW", "😀")
	body := strings.NewReplacer("HIGH", `\ud83d`, "LOW", `\ude00`).Replace(Frame("\n", api.Encode(said)...))
	want := said.Response()
	want.Text, want.Reasoning = new(whole.Replace(*want.Text)), new(whole.Replace(*want.Reasoning))
	want.Calls[0].Arguments = whole.Replace(want.Calls[0].Arguments)
	srv := Serve(t, Reply{Body: body})
	Ask{API: api, Base: srv.URL}.Do(t.Context(), t).Want(t, want)
}

func lengths(t *testing.T, api API) {
	for _, size := range []int{70 << 10, 2 << 20} {
		said := Short()
		said.Text = []string{strings.Repeat("x", size)}
		srv := Serve(t, Reply{Body: Frame("\n", api.Encode(said)...)})
		Ask{API: api, Base: srv.URL}.Do(t.Context(), t).Want(t, said.Response())
	}
	wire := &Wire{Replies: []Play{{Pieces: []string{"data: "}, Forever: strings.Repeat("x", 1<<20)}}}
	h := Ask{API: api, Base: "http://h", Config: httpmodel.Config{Transport: wire, Retries: 3}}.Do(t.Context(), t)
	h.Fails(t, model.Network, "a line is over 16 MiB")
	if n := len(wire.Times()); n != 1 {
		t.Errorf("asked %d times", n)
	}
}

// cuts ends the stream after each byte, in order: the reply is whole or an error.
func cuts(t *testing.T, api API) {
	for name, said := range map[string]Said{"text": Short(), "calls": Sample()} {
		t.Run(name, func(t *testing.T) {
			events := api.Encode(said)
			body := Frame("\n", events...)
			must := len(Frame("\n", events[:len(events)-api.Spare]...)) - 2 // the blank line may be missing
			want := said.Response()
			for i := 0; i < len(body); i += Stride {
				wire := &Wire{Replies: []Play{{Pieces: []string{body[:i]}}}}
				h := Ask{API: api, Base: "http://h", Config: httpmodel.Config{Transport: wire}}.Do(t.Context(), t)
				if i < must {
					h.Fails(t, model.Network)
					if t.Failed() {
						t.Fatalf("cut at %d of %d: ...%s", i, must, body[max(0, i-80):i])
					}
					continue
				}
				h.Response.Usage, want.Usage = model.Usage{}, model.Usage{}
				h.Want(t, want)
			}
		})
	}
}

func breaks(t *testing.T, api API) {
	said := Sample()
	events := api.Encode(said)
	whole := Reply{Body: Frame("\n", events...)}
	for name, first := range map[string]Reply{
		"closed":            {Body: Frame("\n", events[:len(events)/2]...)},
		"reset":             {Body: Frame("\n", events[:len(events)/2]...), End: Reset},
		"reset at once":     {End: Reset},
		"length not met":    {Body: Frame("\n", events[:len(events)/2]...), End: TooShort},
		"nothing":           {},
		"not what it seems": {Body: "data: {\"choices\":[{\"delta\":\n\n"},
	} {
		t.Run(name, func(t *testing.T) {
			srv := Serve(t, first)
			h := Ask{API: api, Base: srv.URL}.Do(t.Context(), t)
			h.Fails(t, model.Network)
			if h.Response.Calls != nil {
				t.Errorf("calls of a broken answer: %v", h.Response.Calls)
			}
			srv = Serve(t, first, whole)
			Ask{API: api, Base: srv.URL, Config: httpmodel.Config{Clock: NoWait{}, Retries: 1}}.Do(t.Context(), t).Want(t, said.Response())
			if n := len(srv.Seen()); n != 2 || srv.Seen()[0].Body != srv.Seen()[1].Body {
				t.Errorf("%d requests, want the same one twice", n)
			}
		})
	}
}
