package server

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"github.com/agent-lsp/agent-lsp/config"
	"github.com/agent-lsp/agent-lsp/tools/caches"
	"github.com/agent-lsp/agent-lsp/tools/proc"
	"github.com/agent-lsp/agent-lsp/tools/sandbox"
	"github.com/agent-lsp/agent-lsp/workspace"
)

// given is the directory, beside those for temporary files, of what the server
// writes for programs to read.
const given = "given"

// tempPrefix begins the names of the directories for temporary files.
const tempPrefix = "agent-lsp-"

// boxes are the directories for temporary files that sandboxes have, one for each
// workspace folder. Without a directory yet it needs nothing but log.
type boxes struct {
	mu    sync.Mutex // guards what follows
	log   *slog.Logger
	temps map[string]string
	marks []*os.File // keep other servers from sweeping the directories away
}

// temp is the directory of a folder.
func (b *boxes) temp(root string) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if dir, ok := b.temps[root]; ok {
		return dir, nil
	}
	if len(b.temps) == 0 {
		sweep(os.TempDir())
	}
	dir, err := os.MkdirTemp("", tempPrefix)
	if err == nil {
		err = os.Mkdir(filepath.Join(dir, given), 0o700)
	}
	if err == nil {
		var mark *os.File
		if mark, err = markUsed(dir); mark != nil {
			b.marks = append(b.marks, mark)
		}
	}
	if err != nil {
		return "", fmt.Errorf("make a directory for the temporary files of commands: %w", err)
	}
	if b.temps == nil {
		b.temps = map[string]string{}
	}
	b.temps[root] = dir
	return dir, nil
}

// close removes them.
func (b *boxes) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, dir := range b.temps {
		os.RemoveAll(dir) //nolint:errcheck // the system's own cleaning finds what is left
	}
	for _, mark := range b.marks {
		mark.Close() //nolint:errcheck // it was never written
	}
	b.temps, b.marks = nil, nil
}

// box is the sandbox of a folder's programs, nil where there is none; network says
// whether they have it.
func (b *boxes) box(root string, c *config.Config, env, state []string, network bool) (*proc.Sandbox, error) {
	if !confined(c) {
		return nil, nil
	}
	temp, err := b.temp(root)
	if err != nil {
		return nil, err
	}
	s := boxSettings(c, state, network)
	s.Env, s.Temp = env, temp
	if s.Caches, err = b.caches(state, root, temp, env); err != nil {
		return nil, err
	}
	box := s.Box()
	box.Readable = append(box.Readable, filepath.Join(temp, given))
	return &box, nil
}

// caches are the private caches of a folder's programs: below the server's own places,
// or, where those cannot be written, among the temporary files, so that they end with
// the server.
func (b *boxes) caches(state []string, root, temp string, env []string) (string, error) {
	real := workspace.RealPath(root)
	if base := cachesBelow(state); base != "" {
		dir, err := caches.Open(base, real, env)
		if err == nil {
			return dir, nil
		}
		b.log.Warn("the private caches of commands and checks end with the server", "err", err)
	}
	return caches.Open(filepath.Join(temp, "caches"), real, env)
}

// cachesBelow returns the directory of all private caches: it is below the server's
// own places, "" without any.
func cachesBelow(state []string) string {
	if len(state) == 0 {
		return ""
	}
	return filepath.Join(state[len(state)-1], "caches")
}

// boxSettings is the sandbox's part of a configuration.
func boxSettings(c *config.Config, state []string, network bool) sandbox.Settings {
	s := sandbox.Settings{
		State: state, Network: network, Loopback: c.Exec.Loopback,
		Writable: c.Exec.Writable, Read: c.Sandbox.Read, DenyRead: c.Sandbox.DenyRead,
	}
	if len(state) > 0 {
		s.Aside = filepath.Join(state[len(state)-1], "set-aside")
	}
	return s
}

// commandsConnect says whether commands have the network once they are allowed.
func commandsConnect(c *config.Config) bool { return c.Exec.Network != "off" }
