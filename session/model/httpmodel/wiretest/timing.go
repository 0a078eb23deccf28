package wiretest

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agent-lsp/agent-lsp/session/clock"
	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/agent-lsp/agent-lsp/session/model/httpmodel"
	"github.com/google/go-cmp/cmp"
)

// NoWait is the machine's clock without the waits.
type NoWait struct{ clock.Real }

// Sleep implements clock.Clock.
func (NoWait) Sleep(ctx context.Context, _ time.Duration) error { return ctx.Err() }

// config has the settings that are usual here, in virtual time.
func config(wire *Wire) httpmodel.Config {
	return httpmodel.Config{Transport: wire, Timeout: 10 * time.Minute, IdleTimeout: 2 * time.Minute, Retries: 4, Jitter: func() float64 { return 0 }}
}

func waits(t *testing.T, api API) {
	said := Short()
	ok := Play{Pieces: stream(api.Encode(said))}
	s := time.Second
	for name, c := range map[string]struct {
		header map[string]string
		want   time.Duration
	}{
		"seconds":        {map[string]string{"Retry-After": "2"}, 2 * s},
		"a fraction":     {map[string]string{"Retry-After": "0.25"}, s / 4},
		"a date":         {map[string]string{"Retry-After": "Sat, 01 Jan 2000 00:00:03 GMT"}, 3 * s},
		"a past date":    {map[string]string{"Retry-After": "Fri, 31 Dec 1999 00:00:03 GMT"}, s / 2},
		"negative":       {map[string]string{"Retry-After": "-1"}, s / 2},
		"zero":           {map[string]string{"Retry-After": "0"}, s / 2},
		"a day":          {map[string]string{"Retry-After": "86400"}, 60 * s},
		"beyond time":    {map[string]string{"Retry-After": "1e300"}, 60 * s},
		"not a number":   {map[string]string{"Retry-After": "NaN"}, s / 2},
		"garbage":        {map[string]string{"Retry-After": "abc"}, s / 2},
		"none":           {nil, s / 2},
		"milliseconds":   {map[string]string{"Retry-After-Ms": "1500", "Retry-After": "9"}, 3 * s / 2},
		"bad, then good": {map[string]string{"Retry-After-Ms": "x", "Retry-After": "9"}, 9 * s},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				wire := &Wire{Replies: []Play{limited(c.header), ok}}
				Ask{API: api, Base: "http://h", Config: config(wire)}.Do(t.Context(), t).Want(t, said.Response())
				if got := gaps(wire); !cmp.Equal(got, []time.Duration{c.want}) {
					t.Errorf("waited %v, want %s", got, c.want)
				}
			})
		})
	}
	backsOff(t, api)
	t.Run("what the server asked for is told", func(t *testing.T) {
		for asked, want := range map[string]time.Duration{"86400": 24 * time.Hour, "Fri, 31 Dec 1999 00:00:03 GMT": 0, "-1": 0} {
			wire := &Wire{Replies: []Play{limited(map[string]string{"Retry-After": asked})}}
			h := Ask{API: api, Base: "http://h", Config: httpmodel.Config{Transport: wire}}.Do(t.Context(), t)
			if h.Fails(t, model.Rate, "slow down, please"); h.Err.RetryAfter != want {
				t.Errorf("%s: retry after %s", asked, h.Err.RetryAfter)
			}
		}
	})
	t.Run("a server may rule out another attempt", func(t *testing.T) {
		wire := &Wire{Replies: []Play{{Status: 500, Header: map[string]string{"X-Should-Retry": "false"}}}}
		Ask{API: api, Base: "http://h", Config: config(wire)}.Do(t.Context(), t).Fails(t, model.Overloaded, "internal server error")
		if n := len(wire.Times()); n != 1 {
			t.Errorf("asked %d times", n)
		}
	})
}

// limited is a reply that says that there were too many requests.
func limited(header map[string]string) Play {
	const body = `{"error":{"type":"rate_limit_error","message":"slow down, please"}}`
	return Play{Status: 429, Header: header, Pieces: []string{body}}
}

// backsOff is about the waits between attempts where the server names none.
func backsOff(t *testing.T, api API) {
	said := Short()
	ok := Play{Pieces: stream(api.Encode(said))}
	s := time.Second
	t.Run("they grow, and end", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			wire := &Wire{Replies: []Play{limited(nil)}}
			cfg := config(wire)
			cfg.Retries = 8
			h := Ask{API: api, Base: "http://h", Config: cfg}.Do(t.Context(), t)
			h.Fails(t, model.Rate, "slow down, please", "after 9 attempts")
			want := []time.Duration{s / 2, s, 2 * s, 4 * s, 8 * s, 16 * s, 30 * s, 30 * s}
			if diff := cmp.Diff(want, gaps(wire)); diff != "" {
				t.Errorf("waits (-want +got):\n%s", diff)
			}
			if h.Err.Status != 429 {
				t.Errorf("status %d", h.Err.Status)
			}
		})
	})
	t.Run("jitter takes up to a half", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			wire := &Wire{Replies: []Play{limited(nil), {Broken: errors.New("connection refused")}, ok}}
			cfg := config(wire)
			cfg.Jitter = func() float64 { return 0.5 }
			Ask{API: api, Base: "http://h", Config: cfg}.Do(t.Context(), t).Want(t, said.Response())
			if diff := cmp.Diff([]time.Duration{375 * time.Millisecond, 750 * time.Millisecond}, gaps(wire)); diff != "" {
				t.Errorf("waits (-want +got):\n%s", diff)
			}
		})
	})
}

// gaps are the times between requests.
func gaps(w *Wire) []time.Duration {
	var out []time.Duration
	at := w.Times()
	for i := 1; i < len(at); i++ {
		out = append(out, at[i].Sub(at[i-1]))
	}
	return out
}

// stalls are the ways in which a server says nothing.
func stalls(api API) map[string]Play {
	events := stream(api.Encode(Sample()))
	alive := ": ping\n\n" + Frame("\n", api.Alive...) + "event: ping\ndata: {\"type\":\"ping\"}\n\n"
	return map[string]Play{
		"no header":                   {Silent: true},
		"a header only":               {Hang: true},
		"signs of life only":          {Every: time.Second, Forever: alive},
		"pieces, then nothing":        {Pieces: events[:4], Hang: true},
		"pieces, then signs of life":  {Pieces: events[:4], Every: time.Second, Forever: alive},
		"half an event, then nothing": {Pieces: []string{events[0], events[1][:len(events[1])/2]}, Hang: true},
		"half an event, byte by byte": {Pieces: events[:2], Every: time.Second, Forever: " "},
		"an error whose body hangs":   {Status: 500, Pieces: []string{`{"error"`}, Hang: true},
	}
}

func silence(t *testing.T, api API) {
	for name, play := range stalls(api) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				cfg := config(&Wire{Replies: []Play{play}})
				cfg.Retries = 0
				h := Ask{API: api, Base: "http://h", Config: cfg}.Do(t.Context(), t)
				h.Fails(t, model.Timeout, "sent no piece of the answer for 2m0s")
				if took := time.Since(start); took < 2*time.Minute || took > 2*time.Minute+5*time.Second {
					t.Errorf("ended after %s", took)
				}
				if h.Response.Calls != nil {
					t.Errorf("calls of a stalled answer: %v", h.Response.Calls)
				}
			})
		})
	}
	slowness(t, api)
}

// slowness is what is not silence, and what follows silence.
func slowness(t *testing.T, api API) {
	said := Sample()
	events := stream(api.Encode(said))
	t.Run("a slow answer is not silent", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			cfg := config(&Wire{Replies: []Play{{Pieces: events, Every: 4 * time.Second}}})
			cfg.IdleTimeout = 13 * time.Second
			cfg.Timeout = time.Hour
			Ask{API: api, Base: "http://h", Config: cfg}.Do(t.Context(), t).Want(t, said.Response())
		})
	})
	t.Run("an endless answer ends", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			wire := &Wire{Replies: []Play{{Pieces: events[:len(events)/2], Every: time.Minute, Hang: true}}}
			cfg := config(wire)
			cfg.Timeout, cfg.IdleTimeout = 3*time.Minute, 150*time.Second
			h := Ask{API: api, Base: "http://h", Config: cfg}.Do(t.Context(), t)
			h.Fails(t, model.Timeout, "did not finish its answer within 3m0s")
			if took := time.Since(start); took != 3*time.Minute || len(wire.Times()) != 1 {
				t.Errorf("ended after %s and %d attempts", took, len(wire.Times()))
			}
		})
	})
	t.Run("silence is tried again", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			wire := &Wire{Replies: []Play{{Silent: true}, {Pieces: events}}}
			Ask{API: api, Base: "http://h", Config: config(wire)}.Do(t.Context(), t).Want(t, said.Response())
			if diff := cmp.Diff([]time.Duration{2*time.Minute + time.Second/2}, gaps(wire)); diff != "" {
				t.Errorf("attempts (-want +got):\n%s", diff)
			}
		})
	})
	t.Run("a stream that stays open after its end is left", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			cfg := config(&Wire{Replies: []Play{{Pieces: events[:len(events)-api.Spare], Hang: true}}})
			h := Ask{API: api, Base: "http://h", Config: cfg}.Do(t.Context(), t)
			want := said.Response()
			h.Response.Usage, want.Usage = model.Usage{}, model.Usage{}
			h.Want(t, want)
			if took := time.Since(start); took > 5*time.Second {
				t.Errorf("waited %s for an end", took)
			}
		})
	})
}

func cancels(t *testing.T, api API) {
	plays := stalls(api)
	plays["between attempts"] = Play{Status: http.StatusServiceUnavailable, Header: map[string]string{"Retry-After": "60"}}
	for name, play := range plays {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				start := time.Now()
				go func() {
					time.Sleep(10 * time.Second)
					cancel()
				}()
				h := Ask{API: api, Base: "http://h", Config: config(&Wire{Replies: []Play{play}})}.Do(ctx, t)
				h.Fails(t, model.Cancelled)
				if took := time.Since(start); took != 10*time.Second {
					t.Errorf("ended after %s", took)
				}
			})
		})
	}
	t.Run("a deadline is a timeout", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			Ask{API: api, Base: "http://h", Config: config(&Wire{Replies: []Play{{Silent: true}}})}.Do(ctx, t).Fails(t, model.Timeout)
		})
	})
	t.Run("the connection is closed", func(t *testing.T) {
		events := api.Encode(Short())
		srv := Serve(t, Reply{Body: Frame("\n", events[:2]...), End: Open})
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-srv.came
			cancel()
		}()
		Ask{API: api, Base: srv.URL, Config: httpmodel.Config{Retries: 2}}.Do(ctx, t).Fails(t, model.Cancelled)
		<-srv.gone
	})
}

func restarts(t *testing.T, api API) {
	said := Sample()
	said.Text = []string{"Answer", " two"}
	events := api.Encode(said)
	first := Sample()
	first.Text = []string{"Ans"}
	first.Calls[0].Arguments = []string{`{"p":"ab`}
	cut := stream(api.Encode(first))
	for name, broken := range map[string][]string{
		"after a part": cut[:len(cut)*2/3], "before anything": nil, "at the end": cut[:len(cut)-1-api.Spare],
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				wire := &Wire{Replies: []Play{{Pieces: broken}, {Pieces: stream(events)}}}
				h := Ask{API: api, Base: "http://h", Config: config(wire)}.Do(t.Context(), t)
				h.Want(t, said.Response())
				restarted := 0
				for i, d := range h.Deltas {
					if d.Restarted {
						restarted++
						if i == 0 {
							t.Error("withdrew what was not shown")
						}
						if d.Text != "" || d.Reasoning != "" {
							t.Errorf("a restart with text: %+v", d)
						}
					}
				}
				if want := min(1, len(broken)); restarted != want {
					t.Errorf("%d restarts, want %d", restarted, want)
				}
				if h.Text != "Answer two" {
					t.Errorf("shown %q", h.Text)
				}
			})
		})
	}
	t.Run("the last attempt's part stays", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			cfg := config(&Wire{Replies: []Play{{Pieces: cut[:len(cut)*2/3]}}})
			cfg.Retries = 1
			h := Ask{API: api, Base: "http://h", Config: cfg}.Do(t.Context(), t)
			h.Fails(t, model.Network, "before the answer was complete")
			if h.Text != "Ans" {
				t.Errorf("shown %q, want what the last attempt said", h.Text)
			}
		})
	})
}
