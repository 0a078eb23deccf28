package wiretest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/agent-lsp/agent-lsp/session/model/httpmodel"
	"github.com/go-json-experiment/json/jsontext"
)

// Bench measures a request to a server on this machine that replies at once: the
// bare HTTP exchange of the same bytes, and the provider's whole request.
func Bench(b *testing.B, api API) {
	body := Frame("\n", api.Encode(Sample())...)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, body)
	}))
	defer srv.Close()
	small := []jsontext.Value{jsontext.Value(`{"role":"user","content":"hello"}`)}
	var large []jsontext.Value
	for range 1000 {
		large = append(large, jsontext.Value(`{"role":"user","content":"`+strings.Repeat("word ", 100)+`"}`), jsontext.Value(`{"role":"assistant","content":"`+strings.Repeat("word ", 100)+`"}`))
	}
	profile := api.Profile
	profile.BaseURL = srv.URL
	p := api.New(profile, httpmodel.Config{Timeout: time.Minute, IdleTimeout: time.Minute})
	b.Run("bare", func(b *testing.B) {
		for b.Loop() {
			resp, err := http.Post(srv.URL, "application/json", strings.NewReader(`{"model":"m"}`)) //nolint:noctx // the benchmark ends it
			if err != nil {
				b.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
		}
	})
	for name, messages := range map[string][]jsontext.Value{"small": small, "1MB": large} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.Respond(b.Context(), model.Request{Messages: messages, Tools: Tools()}, func(model.Delta) {}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
