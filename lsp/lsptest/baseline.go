package lsptest

import (
	"context"
	"os"
	"os/exec"
	"sync/atomic"

	"github.com/agent-lsp/agent-lsp/lsp/text"
	"github.com/agent-lsp/agent-lsp/lsp/wire"
	"github.com/go-json-experiment/json/jsontext"
	"go.lsp.dev/protocol"
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
// workspace/executeCommand answers its own arguments.
func BaselineConfig() wire.Config {
	b := &baseline{}
	return wire.Config{
		Server: b,
		Notifications: map[string]wire.Notified{
			"textDocument/didChange": func(_ context.Context, params jsontext.Value) error {
				d, err := wire.DecodeDidChange(params)
				if err != nil {
					return err
				}
				old := b.doc.Load()
				if old == nil {
					old = text.New("")
				}
				b.doc.Store(old.Apply(d.Changes, text.UTF16))
				return nil
			},
		},
	}
}

type baseline struct {
	protocol.UnimplementedServer
	doc atomic.Pointer[text.Doc]
}

func (*baseline) Initialize(context.Context, *protocol.InitializeParams) (*protocol.InitializeResult, error) {
	return &protocol.InitializeResult{ServerInfo: protocol.ServerInfo{Name: "baseline"}}, nil
}

func (*baseline) Shutdown(context.Context) error { return nil }

func (*baseline) ExecuteCommand(_ context.Context, p *protocol.ExecuteCommandParams) (protocol.LSPAny, error) {
	if len(p.Arguments) == 0 {
		return jsontext.Value("null"), nil
	}
	return p.Arguments[0], nil
}
