package tools

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/tools/caches"
	"github.com/agent-lsp/agent-lsp/tools/proc"
	"github.com/agent-lsp/agent-lsp/tools/sandbox"
)

// honest is a piece of somebody's ordinary work in a sandbox: calls, which a person
// allowed, each with what its result says. Work that fails says why and what to do.
type honest struct {
	needs   string // a program, besides git
	prepare func(*testing.T, *world)
	calls   []honestCall
	after   func(*testing.T, *world)
}

type honestCall struct {
	call  string // git … or a command
	state State
	says  []string
}

// works is a call that works.
func works(call string, says ...string) honestCall { return honestCall{call, Completed, says} }

// fails is a call that fails, with its cause and the remedy.
func fails(call string, says ...string) honestCall { return honestCall{call, Failed, says} }

var honestWork = map[string]honest{
	"push to a bare repository inside": {
		prepare: func(t *testing.T, w *world) {
			git(t, w, "init", "-q", "--bare", filepath.Join(w.dir, "remote.git"))
			git(t, w, "remote", "add", "origin", filepath.Join(w.dir, "remote.git"))
		},
		calls: []honestCall{works("git push -q -u origin main"), works("git pull -q"), works("git fetch -q")},
		after: func(t *testing.T, w *world) {
			if !strings.Contains(w.get(".git/config"), "merge = refs/heads/main") {
				t.Error("the branch has no upstream")
			}
		},
	},
	"push to a bare repository outside": {
		prepare: func(t *testing.T, w *world) { outside(t, w) },
		calls:   []honestCall{works("git push -q -u origin main"), works("git pull -q"), works("git fetch -q")},
		after: func(t *testing.T, w *world) {
			if head := git(t, w, "ls-remote", "origin", "refs/heads/main"); !strings.Contains(head, "refs/heads/main") {
				t.Errorf("it was not pushed: %s", head)
			}
		},
	},
	"push as a command": {
		prepare: func(t *testing.T, w *world) { outside(t, w) },
		calls:   []honestCall{works("$ git push -q -u origin main"), fails("/usr/bin/git push -q nowhere main", "the tool git")},
	},
	"husky's hooks": {
		prepare: func(t *testing.T, w *world) {
			w.put(".husky/_/husky.sh", "#!/bin/sh\n")
			w.put(".husky/pre-commit", "#!/bin/sh\n. \"$(dirname -- \"$0\")/_/husky.sh\"\nsh lint.sh\n")
			w.put("lint.sh", "echo linted >lint.log; printf 'formatted\\n' >f; git add f\n")
			chmod(t, w, ".husky/pre-commit")
			git(t, w, "config", "core.hooksPath", ".husky")
		},
		calls: []honestCall{works("git add lint.sh"), works("git commit -q -m second"), works("git show HEAD:f", "formatted")},
	},
	"a hook that stops": {
		prepare: func(t *testing.T, w *world) {
			w.put(".git/hooks/commit-msg", "#!/bin/sh\necho 'no ticket in the message' >&2; exit 1\n")
			chmod(t, w, ".git/hooks/commit-msg")
		},
		calls: []honestCall{fails("git commit --allow-empty -m second", "no ticket in the message")},
	},
	"signed commits": {
		prepare: func(t *testing.T, w *world) { git(t, w, "config", "commit.gpgsign", "true") },
		calls:   []honestCall{fails("git commit --allow-empty -m second", "signs", "--no-gpg-sign"), works("git commit --no-gpg-sign --allow-empty -m second")},
	},
	"commits signed by SSH": {
		prepare: func(t *testing.T, w *world) {
			git(t, w, "config", "commit.gpgsign", "true")
			git(t, w, "config", "gpg.format", "ssh")
			git(t, w, "config", "user.signingkey", filepath.Join(os.Getenv("HOME"), ".ssh", "id_test.pub"))
		},
		calls: []honestCall{fails("git commit --allow-empty -m second", "signs", "--no-gpg-sign"), works("git commit --no-gpg-sign --allow-empty -m second")},
	},
	"a linked work tree": {
		prepare: func(t *testing.T, w *world) {
			main := filepath.Join(filepath.Dir(w.dir), "main")
			if err := os.Rename(w.dir, main); err != nil {
				t.Fatal(err)
			}
			w.dir = main
			git(t, w, "worktree", "add", "-q", "-b", "other", filepath.Join(filepath.Dir(main), "w"))
			w.dir = filepath.Join(filepath.Dir(main), "w")
		},
		calls: []honestCall{works("sh -c 'echo b >f'"), works("git add f"), works("git commit -q -m second"), works("git log --oneline -1", "second"), works("git status --short")},
	},
	"git's directory elsewhere": {
		prepare: func(t *testing.T, w *world) {
			git(t, w, "init", "-q", "--separate-git-dir="+filepath.Join(t.TempDir(), "git"))
		},
		calls: []honestCall{fails("git status", "points back once its core.worktree is")},
	},
	"git's directory elsewhere, that points back": {
		prepare: func(t *testing.T, w *world) {
			git(t, w, "init", "-q", "--separate-git-dir="+filepath.Join(t.TempDir(), "git"))
			git(t, w, "config", "core.worktree", w.dir)
		},
		calls: []honestCall{works("git status"), works("git commit -q --allow-empty -m second"), works("git log -1", "second")},
	},
	"a submodule": {
		prepare: func(t *testing.T, w *world) {
			other := newWorld(t, map[string]string{"s": "s\n"})
			initRepo(t, other)
			git(t, w, "-c", "protocol.file.allow=always", "submodule", "add", "-q", other.dir, "sub")
			git(t, w, "commit", "-q", "-m", "with a submodule")
			git(t, w, "-C", "sub", "config", "user.name", "t")
			git(t, w, "-C", "sub", "config", "user.email", "t@example.org")
		},
		calls: []honestCall{
			works("sh -c 'echo t >sub/s'"), works("git -C sub add s"), works("git -C sub commit -q -m inner"), works("git add sub"), works("git commit -q -m outer"),
			works("git submodule status", "sub"),
		},
	},
	"a folder for a container": {
		prepare: func(t *testing.T, w *world) {
			w.put(".devcontainer/devcontainer.json", "{\"image\": \"x\", \"postCreateCommand\": \"evil\"}\n")
		},
		calls: []honestCall{works("cat .devcontainer/devcontainer.json", "postCreateCommand"), works("sh -c 'echo b >f'")},
	},
	"a project of npm's with its dependencies": {
		needs: "npm",
		prepare: func(t *testing.T, w *world) {
			w.put("package.json", `{"name":"p","version":"1.0.0","scripts":{"test":"node test.js","build":"mkdir -p dist && node -p 1 >dist/out.js"},"dependencies":{"dep":"1.0.0"}}`)
			w.put("node_modules/dep/package.json", `{"name":"dep","version":"1.0.0","main":"i.js"}`)
			w.put("node_modules/dep/i.js", "module.exports = 'it runs'")
			w.put("test.js", "console.log(require('dep'))")
		},
		calls: []honestCall{works("npm test", "it runs"), works("npm run build"), works("node test.js", "it runs"), works("npm ls", "dep@1.0.0")},
	},
	"npm install of what is nowhere": {
		needs: "npm",
		prepare: func(t *testing.T, w *world) {
			w.put("package.json", `{"name":"p","version":"1.0.0","dependencies":{"left-pad":"1.3.0"}}`)
		},
		calls: []honestCall{fails("npm install --no-audit --no-fund", "no network in the sandbox")},
	},
	"a module of Go's that is nowhere": {
		needs: "go",
		prepare: func(t *testing.T, w *world) {
			w.put("go.mod", "module x\n\ngo 1.24\n")
			w.put("x.go", "package x\n")
			t.Setenv("GOCACHE", t.TempDir()) // a cache that is there, as a person's is
		},
		calls: []honestCall{works("go build ./..."), works("go vet ./..."), fails("go get example.org/none", "no network in the sandbox")},
	},
	"a crate that is nowhere": {
		needs: "cargo",
		prepare: func(t *testing.T, w *world) {
			w.put("dep/Cargo.toml", "[package]\nname = \"dep\"\nversion = \"0.1.0\"\nedition = \"2021\"\n")
			w.put("dep/src/lib.rs", "pub fn it() {}\n")
			w.put("Cargo.toml", "[package]\nname = \"x\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\ndep = { path = \"dep\" }\n")
			w.put("src/lib.rs", "pub fn x() { dep::it() }\n")
		},
		calls: []honestCall{works("cargo check -q"), works("cargo test -q"), fails("cargo add no-such-crate-at-all", "no network in the sandbox")},
	},
	"npm install with husky's script": {
		needs: "npm",
		prepare: func(t *testing.T, w *world) {
			w.put("package.json", `{"name":"p","version":"1.0.0","scripts":{"prepare":"husky"},"devDependencies":{"husky":"file:husky"}}`)
			w.put("husky/package.json", `{"name":"husky","version":"9.0.0","bin":{"husky":"bin.js"}}`)
			// As husky's own does.
			w.put("husky/bin.js", "#!/usr/bin/env node\nif (process.env.HUSKY === '0') { console.log('HUSKY=0 skip install'); process.exit(0) }\n"+
				"const r = require('child_process').spawnSync('git', ['config', 'core.hooksPath', '.husky/_']);\nif (r.status) throw new Error('' + r.stderr)\n"+
				"require('fs').mkdirSync('.husky/_', {recursive: true})\n")
			chmod(t, w, "husky/bin.js")
		},
		calls: []honestCall{works("npm install --no-audit --no-fund --foreground-scripts", "husky's hooks are not installed")},
	},
}

// outside gives the world a bare repository beside it as a remote.
func outside(t *testing.T, w *world) {
	remote := filepath.Join(t.TempDir(), "remote.git")
	git(t, w, "init", "-q", "--bare", remote)
	git(t, w, "remote", "add", "origin", remote)
}

func chmod(t *testing.T, w *world, name string) {
	t.Helper()
	if err := os.Chmod(filepath.Join(w.dir, name), 0o755); err != nil {
		t.Fatal(err)
	}
}

// eachMechanism runs a test with each mechanism that this system has.
func eachMechanism(t *testing.T, test func(*testing.T, proc.Mechanism)) {
	t.Helper()
	for _, m := range []proc.Mechanism{proc.Namespaces, proc.Landlock} {
		t.Run(string(m), func(t *testing.T) {
			if s := proc.SandboxSupport(); s.Mechanism == proc.NoMechanism || m == proc.Namespaces && s.Mechanism != m {
				if os.Getenv("CI") == "true" && os.Getenv("AGENT_LSP_TEST_NO_NAMESPACES") == "" {
					t.Fatal(s)
				}
				t.Skip(s)
			}
			test(t, m)
		})
	}
}

// TestHonestWorkIsNotStopped does pieces of ordinary work in both mechanisms; those with
// package managers only with AGENT_LSP_TEST_SLOW.
func TestHonestWorkIsNotStopped(t *testing.T) {
	eachMechanism(t, func(t *testing.T, m proc.Mechanism) {
		for name, h := range honestWork {
			if h.needs != "" && os.Getenv("AGENT_LSP_TEST_SLOW") == "" {
				continue // package managers take seconds
			}
			t.Run(name, func(t *testing.T) {
				needs(t, "git")
				if h.needs != "" {
					needs(t, h.needs)
				}
				w := honestWorld(t, m, h.prepare)
				for _, c := range h.calls {
					got := w.run(callOf(c.call))
					for _, says := range c.says {
						if !strings.Contains(got.Text, says) {
							t.Errorf("%s does not say %q", c.call, says)
						}
					}
					if got.State != c.state || t.Failed() {
						t.Fatalf("%s: %s: %s", c.call, got.State, got.Text)
					}
				}
				if h.after != nil {
					h.after(t, w)
				}
			})
		}
	})
}

// honestWorld is a repository in a session's sandbox with one mechanism.
func honestWorld(t *testing.T, m proc.Mechanism, prepare func(*testing.T, *world)) *world {
	t.Helper()
	w := newWorld(t, map[string]string{"f": "a\n"})
	initRepo(t, w)
	dir := w.dir
	if prepare != nil {
		prepare(t, w)
	}
	d, err := NewDisk(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	private, err := caches.Open(t.TempDir(), dir, os.Environ())
	if err != nil {
		t.Fatal(err)
	}
	box := sandbox.Settings{Env: os.Environ(), Caches: private, Temp: t.TempDir(), Aside: filepath.Join(t.TempDir(), "aside"), Network: true}.Box()
	box.Mechanism = m
	if w.Executor, err = New(Config{Workspace: d, Exec: ExecConfig{Sandbox: &box, AskNetwork: true}}); err != nil {
		t.Fatal(err)
	}
	return w
}

// callOf reads "git …" as a call of the tool, "$ git …" and all else as a command.
func callOf(line string) Op {
	argv := strings.Fields(line)
	if script, ok := strings.CutPrefix(line, "sh -c "); ok {
		argv = []string{"sh", "-c", strings.Trim(script, "'")}
	}
	if argv[0] == "git" {
		return gitOp(argv[1:]...)
	}
	if argv[0] == "$" {
		argv = argv[1:]
	}
	return execOp(argv...)
}

// TestTestsReachADatabaseOnLoopback has a listener in a database's place.
func TestTestsReachADatabaseOnLoopback(t *testing.T) {
	needs(t, "python3")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			fmt.Fprintln(c, "ready for queries")
			c.Close()
		}
	}()
	port := l.Addr().(*net.TCPAddr).Port
	script := fmt.Sprintf("import socket\nprint(socket.create_connection(('127.0.0.1', %d), 5).recv(99))", port)
	eachMechanism(t, func(t *testing.T, m proc.Mechanism) {
		w := honestWorld(t, m, nil)
		query := func() Outcome { return w.run(execOp("python3", "-c", script)) }
		if got := query(); got.State != Failed || !strings.Contains(got.Text, map[proc.Mechanism]string{proc.Namespaces: "exec.loopback", proc.Landlock: "needs network permission here"}[m]) {
			t.Errorf("unnamed: %s", got.Text)
		}
		w.cfg.Exec.Sandbox.Loopback = []int{port}
		switch got := query(); {
		case m == proc.Namespaces:
			want(t, got, Completed, "ready for queries")
		case got.Again == nil:
			t.Errorf("nobody is asked: %s", got.Text)
		default:
			want(t, w.run(got.Again.Op), Completed, "ready for queries")
		}
	})
}
