package wire_test

import (
	"context"
	"errors"
	"testing"

	"github.com/agent-lsp/agent-lsp/lsp/wire"
	"github.com/go-json-experiment/json/jsontext"
	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
)

// server is the least that can be served.
type server struct {
	protocol.UnimplementedServer
}

func (server) Initialize(context.Context, *protocol.InitializeParams) (*protocol.InitializeResult, error) {
	return &protocol.InitializeResult{}, nil
}

func (server) Shutdown(context.Context) error { return nil }

func TestPeerAndServerOverPipes(t *testing.T) {
	fromServer, toClient := wire.Pipe()
	fromClient, toServer := wire.Pipe()
	var client *wire.Client
	config := wire.Config{
		Server:  server{},
		Connect: func(c *wire.Client) { client = c },
		Requests: map[string]wire.Handler{
			"test/ask": func(ctx context.Context, params jsontext.Value) (any, error) {
				return wire.Call[jsontext.Value](ctx, client, "test/answer", params)
			},
		},
	}
	type end struct {
		code int
		why  error
	}
	ended := make(chan end, 1)
	go func() {
		code, why := wire.Serve(t.Context(), fromClient, toClient, config)
		ended <- end{code, why}
	}()
	peer := wire.Dial(fromServer, toServer, map[string]wire.Handler{
		"test/answer": func(_ context.Context, params jsontext.Value) (any, error) { return params, nil },
	}, nil, nil)
	defer peer.Close()
	_, err := wire.Call[jsontext.Value](t.Context(), peer, "test/ask", jsontext.Value(`{"a":1}`))
	if e := (*jsonrpc2.Error)(nil); !errors.As(err, &e) || e.Code != jsonrpc2.ServerNotInitialized {
		t.Errorf("a request before initialize gave %v", err)
	}
	if _, err := wire.Call[jsontext.Value](t.Context(), peer, "initialize", jsontext.Value(`{"capabilities":{},"trace":null,"processId":1.0}`)); err != nil {
		t.Fatal(err)
	}
	got, err := wire.Call[jsontext.Value](t.Context(), peer, "test/ask", jsontext.Value(`{"a":1}`))
	if err != nil || string(got) != `{"a":1}` {
		t.Errorf("the answer through the client is %s, %v", got, err)
	}
	if _, err := wire.Call[jsontext.Value](t.Context(), peer, "shutdown", nil); err != nil {
		t.Error(err)
	}
	if err := peer.Notify(t.Context(), "exit", nil); err != nil {
		t.Error(err)
	}
	if e := <-ended; e.code != 0 || e.why != nil {
		t.Errorf("ended with code %d, %v", e.code, e.why)
	}
}
