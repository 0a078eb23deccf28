package lsp

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/agent-lsp/agent-lsp/lsp/editor"
	"github.com/agent-lsp/agent-lsp/lsp/lsptest"
	"github.com/agent-lsp/agent-lsp/lsp/wire"
	"github.com/agent-lsp/agent-lsp/session"
	"github.com/agent-lsp/agent-lsp/tools"
)

// quick are limits that let a test of a client which never replies end soon.
// What a test asserts never depends on them.
var quick = Limits{
	Limits: editor.Limits{
		Answer: 300 * time.Millisecond, Landing: 300 * time.Millisecond, Settle: 100 * time.Millisecond,
		Save: 30 * time.Millisecond, Poll: 2 * time.Millisecond,
	},
	Approval: 200 * time.Millisecond, Call: 5 * time.Second,
}

// rig is a server with its editor.
type rig struct {
	*lsptest.Editor
	server *Server
	engine *fakeEngine
	dir    string
	t      *testing.T
	code   chan int // the server's exit code
}

// start runs a server for a fake editor on a new folder that holds files. The
// editor was initialized. What the server did wrong fails the test at its end.
func start(t *testing.T, o lsptest.Options, files map[string]string) *rig {
	t.Helper()
	dir := t.TempDir()
	if len(o.Folders) == 0 {
		o.Folders = []string{dir}
	}
	for name, content := range files {
		write(t, filepath.Join(dir, name), content)
	}
	return startWith(t, o, dir, func(*Config) {})
}

func startWith(t *testing.T, o lsptest.Options, dir string, change func(*Config)) *rig {
	t.Helper()
	r := attach(t, o, dir, change)
	r.Initialize()
	r.Barrier()
	return r
}

// attach is start without the initialization.
func attach(t *testing.T, o lsptest.Options, dir string, change func(*Config)) *rig {
	t.Helper()
	engine := newFakeEngine()
	c := Config{
		Host:    &fakeHost{engine: engine},
		Version: "test", Limits: quick, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	}
	change(&c)
	s := New(c)
	in, toServer := wire.Pipe()
	fromServer, out := wire.Pipe()
	code := make(chan int, 1)
	go func() { code <- s.Serve(context.Background(), in, out) }()
	r := &rig{Editor: lsptest.Attach(t, fromServer, toServer, o), server: s, engine: engine, dir: dir, t: t, code: code}
	t.Cleanup(func() {
		r.HangUp()
		r.End()
		<-code
	})
	return r
}

// side is the server as the engine sees it.
func (r *rig) side() session.Editor { return agentSide{r.server} }

func (r *rig) path(name string) string { return filepath.Join(r.dir, filepath.FromSlash(name)) }

func (r *rig) read(name string) string {
	r.t.Helper()
	b, err := os.ReadFile(r.path(name))
	if err != nil {
		r.t.Fatal(err)
	}
	return string(b)
}

func (r *rig) workspace() tools.Workspace {
	r.t.Helper()
	w, err := r.side().Workspace(r.dir)
	if err != nil {
		r.t.Fatal(err)
	}
	return w
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
}
