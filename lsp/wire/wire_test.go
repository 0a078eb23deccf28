package wire_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/agent-lsp/agent-lsp/lsp/lsptest"
	"github.com/agent-lsp/agent-lsp/lsp/wire"
	"github.com/go-json-experiment/json/jsontext"
)

// serverEnv makes this binary the server of the tests that need a process.
const serverEnv = "WIRE_TEST_SERVER"

func TestMain(m *testing.M) {
	lsptest.MaybeBaseline()
	if os.Getenv(serverEnv) != "" {
		in, out, err := wire.ClaimStdio()
		if err != nil {
			panic(err)
		}
		code, why := wire.Serve(context.Background(), in, out, (&server{}).config())
		fmt.Fprintln(os.Stderr, "ended:", code, why)
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// process is the server as a child.
func process() *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), serverEnv+"=1", "GORACE=atexit_sleep_ms=0")
	return cmd
}

// server is the least that shows what a connection does.
type server struct {
	client  *wire.Client
	version atomic.Int32 // of the last didChange
	wrong   atomic.Int32 // didChanges that did not follow the one before
	running atomic.Int32
}

func initialize(_ context.Context, params jsontext.Value) (any, error) {
	p, err := wire.Decode[struct {
		Locale string `json:"locale"`
	}](params)
	if p.Locale == "refuse" {
		err = wire.InvalidParams("no such locale")
	}
	return jsontext.Value(`{"capabilities":{}}`), err
}

// edit asks the client for an edit of nothing.
func (s *server) edit(ctx context.Context) (any, error) {
	return wire.Call[jsontext.Value](ctx, s.client, "workspace/applyEdit", jsontext.Value(`{"edit":{}}`))
}

func (s *server) config() wire.Config {
	return wire.Config{
		Initialize: initialize,
		Connect:    func(c *wire.Client) { s.client = c },
		Ordered: map[string]wire.Arrival{
			"test/seen": func(jsontext.Value) wire.Handler {
				v := s.version.Load()
				return func(context.Context, jsontext.Value) (any, error) { return jsontext.Value(fmt.Sprint(v)), nil }
			},
		},
		Requests: map[string]wire.Handler{
			"test/echo": func(_ context.Context, params jsontext.Value) (any, error) { return params, nil },
			"test/block": func(ctx context.Context, _ jsontext.Value) (any, error) {
				s.running.Add(1)
				defer s.running.Add(-1)
				<-ctx.Done()
				return nil, ctx.Err()
			},
			"test/panic": func(context.Context, jsontext.Value) (any, error) { panic("on purpose") },
			"test/fail":  func(context.Context, jsontext.Value) (any, error) { return nil, fmt.Errorf("told to fail") },
			"test/typed": func(_ context.Context, params jsontext.Value) (any, error) {
				_, err := wire.Decode[struct {
					Text  string `json:"text"`
					Count *int   `json:"count"`
				}](params)
				return nil, err
			},
			"test/edit": func(ctx context.Context, _ jsontext.Value) (any, error) {
				return s.edit(ctx)
			},
			"test/print": func(context.Context, jsontext.Value) (any, error) {
				fmt.Println("a stray print")
				return nil, nil
			},
			"test/fill": func(ctx context.Context, _ jsontext.Value) (any, error) {
				for ctx.Err() == nil {
					if err := s.client.Notify(ctx, "window/logMessage", jsontext.Value(`{"type":4,"message":"`+strings.Repeat("x", 64<<10)+`"}`)); err != nil {
						return nil, err
					}
				}
				return nil, ctx.Err()
			},
		},
		Notifications: map[string]wire.Notified{
			"textDocument/didChange": func(_ context.Context, params jsontext.Value) error {
				d, err := wire.DecodeDidChange(params)
				if err != nil {
					return err
				}
				if old := s.version.Swap(d.Version); old != d.Version-1 {
					s.wrong.Add(1)
				}
				return nil
			},
			"test/panicked": func(context.Context, jsontext.Value) error { panic("on purpose") },
			"test/callback": func(ctx context.Context, _ jsontext.Value) error {
				_, err := s.edit(ctx)
				if err == nil || !strings.Contains(err.Error(), "holds up the reader") {
					panic(fmt.Sprint("a call from inside of a notification gave ", err))
				}
				s.version.Store(99)
				return nil
			},
		},
	}
}

// end is what Serve returned.
type end struct {
	code int
	why  error
}

// serve runs a server in this process over real pipes.
func serve(t *testing.T, config wire.Config, o lsptest.Options) (*lsptest.Editor, <-chan end) {
	t.Helper()
	fromClient, toServer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	fromServer, toClient, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan end, 1)
	go func() {
		code, why := wire.Serve(t.Context(), fromClient, toClient, config)
		ended <- end{code, why}
	}()
	e := lsptest.Attach(t, fromServer, toServer, o)
	t.Cleanup(e.Close)
	return e, ended
}

// ready serves and initializes.
func ready(t *testing.T, o lsptest.Options) (*lsptest.Editor, *server, <-chan end) {
	t.Helper()
	s := &server{}
	e, ended := serve(t, s.config(), o)
	e.Initialize()
	return e, s, ended
}
