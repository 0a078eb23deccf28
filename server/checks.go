package server

import (
	"context"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agent-lsp/agent-lsp/checker"
	"github.com/agent-lsp/agent-lsp/config"
	"github.com/agent-lsp/agent-lsp/session"
	"github.com/agent-lsp/agent-lsp/tools/proc"
	"github.com/agent-lsp/agent-lsp/tools/sandbox"
)

// checks are the checkers of the workspace folders, one each, because a folder's
// own file may switch some off. The zero value has none.
type checks struct {
	mu      sync.Mutex // guards what follows
	editor  session.Editor
	configs map[string]*config.Config
	made    map[string]*checker.Checker
	retired []*checker.Checker // replaced, and perhaps still in use
	folders map[string]*checker.Folder
	closed  bool                                  // folders that are opened now are closed at once
	report  func(folder string, r checker.Result) // nil: nothing is watched
	log     *slog.Logger
	// trust reports whether programs may run in a folder; it may ask the person.
	trust func(ctx context.Context, root string) bool
	// confine returns what a folder's checks may do, and where they find files.
	confine func(root string, c *config.Config) (p proc.Policy, temp string, err error)
}

// start lets checkers see the editor's unsaved documents. While findings are shown
// roots are checked again when their files change, and report is told.
func (c *checks) start(editor session.Editor, report func(folder string, r checker.Result), log *slog.Logger) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.editor, c.report, c.log = editor, report, log
}

// configure sets what the next checks of a folder run with.
func (c *checks) configure(root string, cfg *config.Config) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.configs == nil {
		c.configs, c.made = map[string]*config.Config{}, map[string]*checker.Checker{}
	}
	if had := c.configs[root]; had != nil && reflect.DeepEqual(had, cfg) {
		return // what it knows of earlier checks is still true
	}
	c.configs[root] = cfg
	if old := c.made[root]; old != nil {
		c.retired = append(c.retired, old)
		delete(c.made, root)
	}
}

// of answers the checker of a folder.
func (c *checks) of(root string) *checker.Checker {
	c.mu.Lock()
	defer c.mu.Unlock()
	if have := c.made[root]; have != nil {
		return have
	}
	cfg := c.configs[root]
	if cfg == nil {
		cfg = new(config.Default())
	}
	editor := c.editor
	made := checker.New(c.confined(root, cfg, checkerConfig(root, cfg, func() map[string]string {
		if editor == nil {
			return nil
		}
		return editor.Unsaved(root)
	})))
	if c.made == nil {
		c.made = map[string]*checker.Checker{}
	}
	c.made[root] = made
	return made
}

// AfterEdit implements session.Checker.
func (c *checks) AfterEdit(ctx context.Context, workspace string, edited []string) []checker.Result {
	return c.folder(workspace).AfterEdit(ctx, edited)
}

// Hold implements session.Checker.
func (c *checks) Hold(workspace string, edited []string) bool {
	return c.folder(workspace).Hold(edited)
}

// Check implements session.Checker.
func (c *checks) Check(ctx context.Context, workspace, root string) checker.Result {
	return c.folder(workspace).Check(ctx, root)
}

// folder returns what checks a folder and keeps its findings from going stale.
func (c *checks) folder(dir string) *checker.Folder {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f := c.folders[dir]; f != nil {
		return f
	}
	cfg := checker.FolderConfig{Dir: dir, Checker: func() *checker.Checker { return c.of(dir) }, Log: c.log}
	if report := c.report; report != nil {
		cfg.Report = func(r checker.Result) { report(dir, r) }
	}
	f := checker.NewFolder(cfg)
	if c.closed {
		f.Close()
		return f
	}
	if c.folders == nil {
		c.folders = map[string]*checker.Folder{}
	}
	c.folders[dir] = f
	return f
}

// Roots implements session.Checker.
func (c *checks) Roots(ctx context.Context, workspace string) ([]string, error) {
	return c.of(workspace).Roots(ctx, workspace)
}

// close stops every check and waits for its end.
func (c *checks) close() {
	c.mu.Lock()
	all := c.retired
	for _, m := range c.made {
		all = append(all, m)
	}
	c.made, c.retired = nil, nil
	folders := c.folders
	c.folders, c.closed = nil, true
	c.mu.Unlock()
	for _, f := range folders {
		f.Close()
	}
	for _, m := range all {
		m.Close() //nolint:errcheck // it has none to report that a check did not
	}
}

// withoutKeys is the server's environment without the keys of models, which no
// checker sees whatever they are called.
func withoutKeys(c *config.Config) []string {
	names := keyNames(c)
	return slices.DeleteFunc(os.Environ(), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains(names, name)
	})
}

// confined adds what a folder's checks may do. Without a policy none runs.
func (c *checks) confined(root string, cfg *config.Config, out checker.Config) checker.Config {
	if c.confine == nil {
		return out
	}
	out.Trust = func(ctx context.Context) bool { return c.trust(ctx, root) }
	var err error
	if out.Policy, out.Temp, err = c.confine(root, cfg); err != nil {
		c.log.Error("checks do not run", "err", err)
	}
	return out
}

// confineChecks lets checks write their workspace, less what is obeyed in it. Temp
// is where they find what the server writes for them.
func (srv *Server) confineChecks(root string, c *config.Config) (p proc.Policy, temp string, err error) {
	box, err := srv.boxes.box(root, c, withoutKeys(c), srv.state(), c.Checker.Network)
	if err != nil {
		return proc.Policy{}, "", err
	}
	if box == nil {
		return proc.Unconfined("the person switched the sandbox off, or the system has none"), "", nil
	}
	box.Loopback = nil // of commands alone
	box.Writable = append(box.Writable, root)
	sandbox.ProtectTree(box, root)
	sandbox.ProtectGit(box, filepath.Join(root, ".git"))
	return proc.Confined(*box), filepath.Join(box.Temp, given), nil
}

// checkerConfig is the checker's part of a configuration.
func checkerConfig(root string, c *config.Config, unsaved func() map[string]string) checker.Config {
	out := checker.Config{
		Env: withoutKeys(c), Keep: c.Exec.KeepEnv,
		Trusted: c.Trusted, Timeout: time.Duration(c.Checker.Timeout), Cap: c.Checker.Cap,
		Commands: map[string]checker.Command{}, Roots: map[string]checker.Command{}, Unsaved: unsaved,
	}
	for name, argv := range c.Checker.Commands {
		out.Commands[name] = checker.Command{Argv: argv}
	}
	off := c.Checker.Off
	if !c.Checker.Enabled {
		off = slices.Concat(checker.Ecosystems(), slices.Collect(maps.Keys(c.Checker.Commands)))
	}
	for _, name := range off {
		out.Commands[name] = checker.Command{Off: true}
	}
	for dir, r := range c.Checker.Roots {
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(root, dir)
		}
		out.Roots[filepath.Clean(dir)] = checker.Command{Argv: r.Command, Off: r.Off}
	}
	return out
}
