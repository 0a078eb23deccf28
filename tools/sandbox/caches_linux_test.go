package sandbox_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/tools/caches"
	"github.com/agent-lsp/agent-lsp/tools/proc"
	"github.com/agent-lsp/agent-lsp/tools/sandbox"
)

func TestMain(m *testing.M) {
	caches.Main()
	proc.Main()
	os.Exit(m.Run())
}

// cached is a person's home with caches, and a workspace beside it.
type cached struct {
	home, work string
	env        []string
	box        proc.Sandbox
}

// newCached makes one outside of the directories for temporary files, which a sandbox
// replaces.
func newCached(t *testing.T, m proc.Mechanism) *cached {
	t.Helper()
	if s := proc.SandboxSupport(); s.Mechanism != m && s.Mechanism != proc.Namespaces {
		if os.Getenv("CI") == "true" {
			t.Fatal(s)
		}
		t.Skip(s)
	}
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	top, err := os.MkdirTemp(here, "_caches-") //nolint:usetesting // what lies below the temporary directory is replaced
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(top); err != nil {
			t.Error(err)
		}
	})
	c := &cached{home: filepath.Join(top, "home"), work: filepath.Join(top, "work")}
	for name, text := range map[string]string{
		"home/.cargo/env": "old\n", "home/.cargo/registry/cache/a.crate": "old\n", "home/.cache/pre-commit/x": "old\n", "home/.cache/go-build/README": "old\n",
		"home/.npm/_cacache/x": "old\n", "home/.gradle/init.gradle": "old\n", "home/.m2/repository/x": "old\n", "home/go/pkg/mod/a.test@v1.0.0/a.go": "package a\n",
		"home/.local/share/pnpm/store/x": "old\n", "home/.rustup/settings.toml": "old\n", "home/.cache/deno/x": "old\n", "home/.config/go/telemetry/mode": "off",
		"work/go.mod": "module w.test\n\ngo 1.24\n", "work/w.go": "package w\n\nfunc F() int { return 1 }\n",
	} {
		p := filepath.Join(top, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c.env = []string{"HOME=" + c.home, "PATH=" + os.Getenv("PATH"), "GOTOOLCHAIN=local", "GOPROXY=off", "GOTELEMETRY=off"}
	state := filepath.Join(top, "state")
	dir, err := caches.Open(filepath.Join(state, "caches"), c.work, c.env)
	if err != nil {
		t.Fatal(err)
	}
	c.box = sandbox.Settings{Env: c.env, State: []string{state}, Temp: t.TempDir(), Caches: dir}.Box()
	c.box.Mechanism = m
	c.box.Writable = append(c.box.Writable, c.work)
	return c
}

func (c *cached) run(t *testing.T, argv ...string) (string, bool) {
	t.Helper()
	r, err := proc.Run(t.Context(), proc.Spec{Argv: argv, Dir: c.work, Env: c.env, Policy: proc.Confined(c.box)})
	if err != nil {
		t.Fatal(err)
	}
	return r.Stdout.String() + r.Stderr.String(), r.OK()
}

// persons is all that stands in the person's home.
func (c *cached) persons(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(c.home, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil || d.IsDir() {
			fmt.Fprintln(&b, path)
			return err
		}
		text, err := os.ReadFile(path)
		fmt.Fprintln(&b, path, info.Mode(), info.ModTime(), len(text), string(text[:min(len(text), 100)]))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

var mechanisms = []proc.Mechanism{proc.Namespaces, proc.Landlock}

// TestThePersonsCachesAreNotWritten has programs write where build scripts of a hostile
// repository do, directly and as tools are directed.
func TestThePersonsCachesAreNotWritten(t *testing.T) {
	for _, m := range mechanisms {
		t.Run(string(m), func(t *testing.T) {
			c := newCached(t, m)
			before := c.persons(t)
			for _, script := range []string{
				"echo evil >>~/.cargo/env", "echo evil >~/.cargo/config.toml", "echo evil >~/.cache/pre-commit/x", "echo evil >~/.cache/pre-commit/y",
				"echo evil >~/.cache/go-build/README", "mkdir -p ~/.cache/new", "echo evil >~/go/pkg/mod/a.test@v1.0.0/a.go", "echo evil >~/.npm/_cacache/x",
				"echo evil >~/.gradle/init.gradle", "echo evil >~/.m2/repository/x", "echo evil >~/.local/share/pnpm/store/x", "echo evil >~/.rustup/settings.toml",
				"echo evil >>~/.cargo/registry/cache/a.crate", "rm -rf ~/.cargo/registry", "mv ~/.cache ~/.cash", "ln -sf /tmp ~/.cargo/bin", "mkdir -p ~/go/bin",
				`echo evil >"$XDG_CACHE_HOME/pre-commit/x"`, `echo evil >"$XDG_CACHE_HOME/deno/x"`,
			} {
				if text, ok := c.run(t, "sh", "-c", script); ok {
					t.Errorf("%s: succeeds: %s", script, text)
				}
				if c.persons(t) != before {
					t.Fatalf("%s changed the person's files", script)
				}
			}
			for _, script := range []string{
				`mkdir -p "$(go env GOCACHE)" && echo x >"$(go env GOCACHE)/x"`, `mkdir -p "$npm_config_cache" && echo x >"$npm_config_cache/x"`, `mkdir "$XDG_CACHE_HOME/new" && echo x >"$XDG_CACHE_HOME/new/x"`,
				`test "$(cat "$XDG_CACHE_HOME/pre-commit/x")" = old`, `test -z "$CARGO_HOME" && test -z "$GOMODCACHE"`, `echo x >in-the-workspace`,
				`case ":$PATH:" in *"$XDG_CACHE_HOME"*|*/state/*) exit 1;; esac`,
			} {
				if text, ok := c.run(t, "sh", "-c", script); !ok {
					t.Errorf("%s: fails: %s", script, text)
				}
			}
			if c.persons(t) != before {
				t.Error("the person's files changed")
			}
		})
	}
}

// TestGoBuildsOnThePersonsCache builds what the person has built: it comes from their
// cache, and what is new goes to the private one.
func TestGoBuildsOnThePersonsCache(t *testing.T) {
	for _, m := range mechanisms {
		t.Run(string(m), func(t *testing.T) {
			c := newCached(t, m)
			export := []string{"go", "list", "-export", "-f", "{{.Export}}", "."}
			cmd := exec.CommandContext(t.Context(), export[0], export[1:]...)
			cmd.Dir, cmd.Env = c.work, c.env
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			before := c.persons(t)
			if text, ok := c.run(t, export...); !ok || !strings.HasPrefix(text, c.home) {
				t.Errorf("what the person built is not used: %s", text)
			}
			if err := os.WriteFile(filepath.Join(c.work, "w.go"), []byte("package w\n\nfunc F() int { return 2 }\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			for range 2 { // built, and found again
				if text, ok := c.run(t, export...); !ok || !strings.Contains(text, filepath.Join("state", "caches")) {
					t.Errorf("what is new is not in the private cache: %s", text)
				}
			}
			if c.persons(t) != before {
				t.Errorf("the person's files changed: %s\nwere %s", c.persons(t), before)
			}
		})
	}
}
