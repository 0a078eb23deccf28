package checker

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/agent-lsp/agent-lsp/tools/proc"
	"github.com/agent-lsp/agent-lsp/workspace"
)

// The defaults of a Config.
const (
	DefaultTimeout = 60 * time.Second
	DefaultCap     = 16000
)

// Config says how a Checker checks. The zero value checks nothing, because
// nothing is trusted.
type Config struct {
	// Trusted allows running the project's own code, which every check does in
	// the end (build scripts, macros, plugins). When false every check is Skipped.
	Trusted bool
	// Trust is called before the first program of a check starts, where Trusted is
	// true, and reports whether it may: a person may have to be asked first. It is
	// called from any goroutine; nil permits it.
	Trust func(ctx context.Context) bool
	// Timeout bounds one run of a check command; zero means DefaultTimeout, a
	// negative one has already passed.
	Timeout time.Duration
	// Cap bounds Result.Text in characters, its header included; zero means
	// DefaultCap. A cap too small for the header bounds the findings alone.
	Cap int
	// Commands replaces, adds or switches off the command of an ecosystem.
	Commands map[string]Command
	// Roots does the same for single roots, by absolute path, and wins.
	Roots map[string]Command
	// Env is the environment that is chosen from for commands; nil means the
	// server's own. Colours are switched off in it either way.
	Env []string
	// Keep are names of variables of Env that commands get besides those of
	// proc.Environment.
	Keep []string
	// Policy says what the commands may do; nothing runs without one.
	Policy proc.Policy
	// Temp is the directory for files that are written for the commands to read; ""
	// means the system's. The policy must let it be seen.
	Temp string
	// Unsaved returns the texts of open documents that differ from the disk, by
	// absolute path. It is called at the start of every run, from the goroutine
	// of the check; nil means that there are none.
	Unsaved func() map[string]string
}

// Command is a check command that a person configured.
type Command struct {
	// Off switches the check off: it is Skipped.
	Off bool
	// Argv is the command; empty keeps the ecosystem's own. No shell sees it.
	Argv []string
	// Formats are errorformat patterns, as of Vim's 'errorformat', that find places
	// in what Argv prints. Without any, the output is read as the ecosystem's own
	// tool prints it, or, where there is none, as file:line:column: message.
	Formats []string
	// Unit is what the command counts columns in; used with Formats.
	Unit ColumnUnit
}

// command returns the configured command of a root, if any.
func (c *Config) command(root, ecosystem string) (Command, bool) {
	if cmd, ok := c.Roots[root]; ok {
		return cmd, true
	}
	cmd, ok := c.Commands[ecosystem]
	return cmd, ok
}

func (c *Config) timeout() time.Duration {
	if c.Timeout == 0 {
		return DefaultTimeout
	}
	return c.Timeout
}

func (c *Config) cap() int {
	if c.Cap <= 0 {
		return DefaultCap
	}
	return c.Cap
}

// env returns the environment for a run in dir: as configured, without colours, and
// with dir as its PWD so that tools name files as the caller spells them.
func (c *Config) env(dir string) []string {
	env := c.Env
	if env == nil {
		env = os.Environ()
	}
	env = proc.Environment(env, c.Keep, []string{"FORCE_COLOR", "CLICOLOR_FORCE", "CARGO_TERM_COLOR", "CARGO_TERM_PROGRESS_WHEN"})
	env = proc.Setenv(env, "NO_COLOR", "1")
	env = proc.Setenv(env, "CARGO_TERM_COLOR", "never")
	env = proc.Setenv(env, "PYRIGHT_PYTHON_IGNORE_WARNINGS", "1")
	env = proc.Setenv(env, "DENO_NO_UPDATE_CHECK", "1")
	return proc.Setenv(env, "PWD", dir)
}

// unsaved returns those unsaved texts in root that differ from the disk.
func (c *Config) unsaved(root string) map[string]string {
	if c.Unsaved == nil {
		return nil
	}
	texts := make(map[string]string)
	for path, text := range c.Unsaved() {
		path = filepath.Clean(path)
		if !within(root, path) {
			continue
		}
		disk, err := readText(path)
		if err == nil && strings.TrimPrefix(string(disk), workspace.ByteOrderMark) == strings.TrimPrefix(text, workspace.ByteOrderMark) {
			continue
		}
		if errors.Is(err, os.ErrNotExist) && text == "" {
			continue
		}
		texts[path] = text
	}
	return texts
}
