package main

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agent-lsp/agent-lsp/checker"
	"github.com/agent-lsp/agent-lsp/config"
	"github.com/agent-lsp/agent-lsp/session"
)

// checks are the checkers of the workspace folders, one each, because a folder's
// own file may switch some off. The zero value has none.
type checks struct {
	mu      sync.Mutex // guards what follows
	editor  session.Editor
	configs map[string]*config.Config
	made    map[string]*checker.Checker
	retired []*checker.Checker // replaced, and perhaps still in use
}

// start lets checkers see the editor's unsaved documents.
func (c *checks) start(editor session.Editor) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.editor = editor
}

// configure sets what the next checks of a folder run with.
func (c *checks) configure(root string, cfg *config.Config) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.configs == nil {
		c.configs, c.made = map[string]*config.Config{}, map[string]*checker.Checker{}
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
	made := checker.New(checkerConfig(cfg, func() map[string]string {
		if editor == nil {
			return nil
		}
		return editor.Unsaved(root)
	}))
	if c.made == nil {
		c.made = map[string]*checker.Checker{}
	}
	c.made[root] = made
	return made
}

// folder is the configured folder that holds a path.
func (c *checks) folder(path string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	best := ""
	for root := range c.configs {
		rel, err := filepath.Rel(root, path)
		if err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) && len(root) > len(best) {
			best = root
		}
	}
	if best == "" {
		return path
	}
	return best
}

// AfterEdit implements session.Checker.
func (c *checks) AfterEdit(ctx context.Context, workspace string, edited []string) []checker.Result {
	return c.of(workspace).AfterEdit(ctx, workspace, edited)
}

// Check implements session.Checker.
func (c *checks) Check(ctx context.Context, root string) checker.Result {
	return c.of(c.folder(root)).Check(ctx, root)
}

// close stops every check and waits for its end.
func (c *checks) close() {
	c.mu.Lock()
	all := c.retired
	for _, m := range c.made {
		all = append(all, m)
	}
	c.made, c.retired = nil, nil
	c.mu.Unlock()
	for _, m := range all {
		m.Close() //nolint:errcheck // it has none to report that a check did not
	}
}

// ecosystems are those that have a check command of their own.
var ecosystems = []string{"cargo", "deno", "go", "node", "python"}

// checkerConfig is the checker's part of a configuration.
func checkerConfig(c *config.Config, unsaved func() map[string]string) checker.Config {
	out := checker.Config{
		Trusted: c.Trusted, Timeout: time.Duration(c.Checker.Timeout), Cap: c.Checker.Cap,
		Commands: map[string]checker.Command{}, Roots: map[string]checker.Command{}, Unsaved: unsaved,
	}
	for name, argv := range c.Checker.Commands {
		out.Commands[name] = checker.Command{Argv: argv}
	}
	off := c.Checker.Off
	if !c.Checker.Enabled {
		off = slices.Concat(ecosystems, slices.Collect(maps.Keys(c.Checker.Commands)))
	}
	for _, name := range off {
		out.Commands[name] = checker.Command{Off: true}
	}
	for root, r := range c.Checker.Roots {
		out.Roots[root] = checker.Command{Argv: r.Command, Off: r.Off}
	}
	return out
}
