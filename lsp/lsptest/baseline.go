package lsptest

import (
	"context"
	"os"
	"os/exec"
	"sync/atomic"

	"github.com/agent-lsp/agent-lsp/lsp/text"
	"github.com/agent-lsp/agent-lsp/lsp/wire"
	"github.com/go-json-experiment/json/jsontext"
)

// baselineEnv makes a test binary a baseline server.
const baselineEnv = "LSPTEST_BASELINE"

// MaybeBaseline runs the baseline server and exits, if this process was started by
// Baseline. Call it first in TestMain.
func MaybeBaseline() {
	if os.Getenv(baselineEnv) == "" {
		return
	}
	in, out, err := wire.ClaimStdio()
	if err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
		os.Exit(2)
	}
	code, _ := wire.Serve(context.Background(), in, out, BaselineConfig())
	os.Exit(code)
}

// Baseline is the command of a server that is made of the same libraries and does
// nothing: what a real server costs beside it is its own. It is this test binary
// again, so MaybeBaseline must be in its TestMain.
func Baseline() *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), baselineEnv+"=1")
	return cmd
}

// BaselineConfig is what the baseline serves: documents are kept, and
// workspace/executeCommand returns its own arguments.
func BaselineConfig() wire.Config {
	var doc atomic.Pointer[text.Doc]
	return wire.Config{
		Initialize: func(context.Context, jsontext.Value) (any, error) {
			return jsontext.Value(`{"capabilities":{},"serverInfo":{"name":"baseline"}}`), nil
		},
		Requests: map[string]wire.Handler{"workspace/executeCommand": executeCommand},
		Notifications: map[string]wire.Notified{
			"textDocument/didChange": func(_ context.Context, params jsontext.Value) error {
				d, err := wire.DecodeDidChange(params)
				if err != nil {
					return err
				}
				old := doc.Load()
				if old == nil {
					old = text.New("")
				}
				doc.Store(old.Apply(d.Changes, text.UTF16))
				return nil
			},
		},
	}
}

func executeCommand(_ context.Context, params jsontext.Value) (any, error) {
	p, err := wire.Decode[struct {
		Arguments []jsontext.Value `json:"arguments"`
	}](params)
	if err != nil || len(p.Arguments) == 0 {
		return jsontext.Value("null"), err
	}
	return p.Arguments[0], nil
}
