package main

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.lsp.dev/jsonrpc2"
)

// client is the headless editor: it has no documents of its own and declares no
// workspace/applyEdit, so the server writes the files itself. It asks for the
// transcript and for approvals in full.
type client struct {
	conn jsonrpc2.Conn
	// transcript gets each event in order.
	transcript func(index uint64, at time.Time, p event.Payload, raw jsontext.Value)
	// approve answers whether a call may be performed.
	approve func(title, detail, question string) bool
	// question returns the person's answer to a question of the model, or nothing when
	// there is none.
	question func(text string, options []string) (string, bool)
	// choose answers a message with actions: the index of the one that is picked, -1 for
	// none.
	choose func(message string, actions []string) int
	// unsaved gets why the session cannot be saved. Nobody is there to say that it
	// shall go on all the same.
	unsaved chan string
}

// connect starts a client on the two ends of a server's pipes.
func connect(ctx context.Context, c *client, in io.ReadCloser, out io.WriteCloser) {
	c.conn = jsonrpc2.NewConn(jsonrpc2.NewStream(ends{in, out}))
	c.conn.Go(ctx, c.handle)
}

// ends makes one stream of two pipes.
type ends struct {
	io.ReadCloser
	out io.WriteCloser
}

func (e ends) Write(b []byte) (int, error) { return e.out.Write(b) }

func (e ends) Close() error {
	err := e.out.Close()
	if in := e.ReadCloser.Close(); err == nil {
		err = in
	}
	return err
}

// handle answers the server.
func (c *client) handle(ctx context.Context, req *jsonrpc2.Request) (any, error) {
	switch req.Method() {
	case "agent/transcript":
		var p struct {
			Index uint64         `json:"index"`
			At    time.Time      `json:"at"`
			Event jsontext.Value `json:"event"`
		}
		if err := json.Unmarshal(req.Params(), &p); err != nil {
			return nil, nil //nolint:nilerr // an error would end the connection; the turn's end is awaited apart
		}
		if payload, err := event.Decode(p.Event); err == nil {
			c.transcript(p.Index, p.At, payload, p.Event)
		}
		return nil, nil
	case "agent/approve":
		var p struct {
			ID     uint64   `json:"id"`
			Title  string   `json:"title"`
			Detail string   `json:"detail"`
			Labels []string `json:"labels"`
		}
		if err := json.Unmarshal(req.Params(), &p); err != nil {
			return nil, fmt.Errorf("read the question: %w", err)
		}
		if p.ID == 0 {
			select {
			case c.unsaved <- p.Title:
			default: // it was said
			}
			return map[string]string{"decision": "deny"}, nil
		}
		jsonrpc2.Async(ctx) // a person may take their time; the transcript goes on
		decision, question := "deny", "Allow"
		if len(p.Labels) > 0 {
			question = p.Labels[0]
		}
		if c.approve(p.Title, p.Detail, question) {
			decision = "allow_once"
		}
		return map[string]string{"decision": decision}, nil
	}
	if req.Method() == "agent/question" {
		return c.inquiry(ctx, req)
	}
	if req.Method() == "window/showMessageRequest" {
		return c.pick(ctx, req)
	}
	if !req.IsCall() {
		return nil, nil
	}
	return jsonrpc2.MethodNotFoundHandler(ctx, req)
}

// inquiry answers a question of the model.
func (c *client) inquiry(ctx context.Context, req *jsonrpc2.Request) (any, error) {
	var p struct {
		Text    string   `json:"text"`
		Options []string `json:"options"`
	}
	if err := json.Unmarshal(req.Params(), &p); err != nil {
		return nil, fmt.Errorf("read the question: %w", err)
	}
	jsonrpc2.Async(ctx) // a person may take their time; the transcript goes on
	if answer, ok := c.question(p.Text, p.Options); ok {
		return map[string]string{"answer": answer}, nil
	}
	return nil, nil
}

// pick answers a message with actions.
func (c *client) pick(ctx context.Context, req *jsonrpc2.Request) (any, error) {
	type action struct {
		Title string `json:"title"`
	}
	var p struct {
		Message string   `json:"message"`
		Actions []action `json:"actions"`
	}
	if err := json.Unmarshal(req.Params(), &p); err != nil {
		return nil, fmt.Errorf("read the question: %w", err)
	}
	jsonrpc2.Async(ctx) // a person may take their time; the transcript goes on
	titles := make([]string, len(p.Actions))
	for i, a := range p.Actions {
		titles[i] = a.Title
	}
	if i := c.choose(p.Message, titles); i >= 0 {
		return p.Actions[i], nil
	}
	return nil, nil
}

// initialize opens dir as the one workspace folder.
func (c *client) initialize(ctx context.Context, dir string, options any) error {
	params := map[string]any{
		"processId":  os.Getpid(),
		"clientInfo": map[string]string{"name": "agent-lsp run", "version": version()},
		"rootUri":    fileURI(dir),
		"workspaceFolders": []map[string]string{
			{"uri": fileURI(dir), "name": filepath.Base(dir)},
		},
		"capabilities": map[string]any{
			"general":      map[string]any{"positionEncodings": []string{"utf-8"}},
			"experimental": map[string]any{"agent": map[string]any{"transcript": true, "approvals": true, "questions": true}},
		},
		"initializationOptions": options,
	}
	if _, err := c.conn.Call(ctx, "initialize", params, nil); err != nil {
		return fmt.Errorf("initialize the server: %w", err)
	}
	return c.conn.Notify(ctx, "initialized", struct{}{})
}

// command runs one of the server's commands.
func (c *client) command(ctx context.Context, name string, argument, result any) error {
	_, err := c.conn.Call(ctx, "workspace/executeCommand", map[string]any{
		"command": name, "arguments": []any{argument},
	}, result)
	return err
}

// end asks the server to stop.
func (c *client) end(ctx context.Context) error {
	if _, err := c.conn.Call(ctx, "shutdown", nil, nil); err != nil {
		return err
	}
	return c.conn.Notify(ctx, "exit", nil)
}

// fileURI spells a local path as a URI.
func fileURI(path string) string {
	p := filepath.ToSlash(path)
	if !strings.HasPrefix(p, "/") {
		p = "/" + p // C:/dir
	}
	return (&url.URL{Scheme: "file", Path: p}).String()
}
