package proc

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// sh runs a shell script through Run in a fresh directory.
func sh(t *testing.T, script string, change ...func(*Spec)) Result {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the script needs a POSIX shell")
	}
	spec := Spec{Policy: anything, Argv: []string{"sh", "-c", script}, Dir: t.TempDir()}
	for _, f := range change {
		f(&spec)
	}
	r, err := Run(t.Context(), spec)
	if err != nil {
		t.Fatalf("run %q: %v", script, err)
	}
	return r
}

func timeout(d time.Duration) func(*Spec) { return func(s *Spec) { s.Timeout = d } }

func TestRunTellsHowAProgramEnded(t *testing.T) {
	for _, tt := range []struct {
		name, script   string
		timeout        time.Duration
		want           Result
		stdout, stderr string
	}{
		{"success", "echo hi", 0, Result{}, "hi\n", ""},
		{"exit code and both streams", "echo out; echo err >&2; exit 3", 0, Result{Code: 3}, "out\n", "err\n"},
		{"signal", "kill -9 $$", 0, Result{Code: -1, Signal: "SIGKILL"}, "", ""},
		{"time up, with what was printed", "echo part; exec sleep 100", 300 * time.Millisecond, Result{Code: -1, TimedOut: true}, "part\n", ""},
		{"time was up before", "echo hi", -1, Result{Code: -1, TimedOut: true}, "", ""},
		{"no terminal to prompt on", "(echo x >/dev/tty) 2>/dev/null || echo none", 0, Result{}, "none\n", ""},
		{"input is at its end", "cat; head -c 10; echo done", 0, Result{}, "done\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := sh(t, tt.script, timeout(tt.timeout))
			if out := got.Stdout.String(); out != tt.stdout {
				t.Errorf("stdout is %q, want %q", out, tt.stdout)
			}
			if out := got.Stderr.String(); out != tt.stderr {
				t.Errorf("stderr is %q, want %q", out, tt.stderr)
			}
			got.Stdout, got.Stderr, got.Path = Output{}, Output{}, ""
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("result (-want +got):\n%s", d)
			}
		})
	}
}

func TestRunRefusesWhatCannotStart(t *testing.T) {
	dir := t.TempDir()
	if r, err := Run(t.Context(), Spec{Policy: anything, Argv: []string{"no-such-program-here"}, Dir: dir}); err != nil || !r.NotFound {
		t.Errorf("a missing program gave %+v, %v; want NotFound", r, err)
	}
	if r, err := Run(t.Context(), Spec{Policy: anything, Argv: []string{"./missing"}, Dir: dir}); err != nil || !r.NotFound {
		t.Errorf("a missing path gave %+v, %v; want NotFound", r, err)
	}
	plain := dir + "/plain"
	if err := os.WriteFile(plain, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, spec := range map[string]Spec{
		"no argv":             {Dir: dir},
		"relative directory":  {Argv: []string{"sh"}, Dir: "."},
		"missing directory":   {Argv: []string{"sh"}, Dir: dir + "/missing"},
		"directory is a file": {Argv: []string{"sh"}, Dir: plain},
		"not executable":      {Argv: []string{"./plain"}, Dir: dir},
	} {
		if runtime.GOOS == "windows" && name == "not executable" {
			continue
		}
		if r, err := Run(t.Context(), spec); err == nil || r.NotFound {
			t.Errorf("%s gave %+v and no error", name, r)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r, err := Run(ctx, Spec{Policy: anything, Argv: []string{"sh"}, Dir: dir}); err != nil || !r.Cancelled {
		t.Errorf("a done context gave %+v, %v; want Cancelled", r, err)
	}
}

func TestOutputIsBoundedInMemory(t *testing.T) {
	size := 40_000_000
	if os.Getenv("AGENT_LSP_TEST_STRESS") != "" {
		size = 1 << 30
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := sh(t, fmt.Sprintf("echo START; head -c %d /dev/zero; echo END", size), func(s *Spec) { s.KeepHead, s.KeepTail = 1000, 1000 })
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 4<<20 {
		t.Errorf("%d bytes of output cost %d bytes of memory", size, got)
	}
	if !bytes.HasPrefix(r.Stdout.Head, []byte("START\n")) || !bytes.HasSuffix(r.Stdout.Tail, []byte("END\n")) {
		t.Error("the start or the end is lost")
	}
	if want := int64(size + 10 - 2000); r.Stdout.Elided != want || r.Stdout.ElidedRunes != want {
		t.Errorf("elided %d bytes and %d characters, want %d", r.Stdout.Elided, r.Stdout.ElidedRunes, want)
	}
}

func TestKeeperKeepsHeadAndTailForAnyChunks(t *testing.T) {
	text := strings.Repeat("aé€😀", 50)
	for _, head := range []int{0, 1, 7, 100, 1000} {
		for _, tail := range []int{0, 1, 7, 100, 1000} {
			for _, chunk := range []int{1, 2, 3, 64, 5000} {
				k := keeper{head: head, tail: tail}
				for rest := []byte(text); len(rest) > 0; {
					n := min(chunk, len(rest))
					_, _ = k.Write(rest[:n])
					rest = rest[n:]
				}
				o := k.output()
				if len(text) <= head+tail {
					if string(o.Head) != text || o.Elided != 0 {
						t.Fatalf("head %d tail %d chunk %d: not all was kept", head, tail, chunk)
					}
					continue
				}
				dropped := text[head : len(text)-tail]
				runes := int64(0)
				for _, b := range []byte(dropped) {
					if utf8.RuneStart(b) {
						runes++
					}
				}
				want := Output{Head: []byte(text[:head]), Tail: []byte(text[len(text)-tail:]), Elided: int64(len(dropped)), ElidedRunes: runes}
				if string(o.Head) != string(want.Head) || string(o.Tail) != string(want.Tail) || o.Elided != want.Elided || o.ElidedRunes != want.ElidedRunes {
					t.Fatalf("head %d tail %d chunk %d: got %d+%d bytes, elided %d/%d, want %d/%d", head, tail, chunk,
						len(o.Head), len(o.Tail), o.Elided, o.ElidedRunes, want.Elided, want.ElidedRunes)
				}
			}
		}
	}
}

func TestEnvironmentIsWhatIsListed(t *testing.T) {
	kept := []string{
		"PATH=/bin", "HOME=/h", "GOFLAGS=-mod=mod", "GOPATH=/g", "LANG=C.UTF-8", "LC_ALL=C", "GOPROXY=https://proxy.example", "CARGO_HOME=/c", "RUSTUP_TOOLCHAIN=stable",
		"EMPTY_IS=fine", "PWD=/w", "npm_config_cache=/n", "VIRTUAL_ENV=/v", "CI=true", "SystemRoot=C:\\Windows", "no_proxy=localhost", "GIT_AUTHOR_NAME=t", "KEPT_TOKEN=x",
		"PYTHONPATH=a@b", "TZ=",
	}
	dropped := []string{
		// Names that tell, and names that do not.
		"OPENAI_API_KEY=x", "GITHUB_TOKEN=x", "DB_PASSWORD=x", "MYAPP_CREDS=x", "SLACK_WEBHOOK=https://hooks.example/T/B/x", "STRIPE=sk_live_0123456789", "SOMETHING=x",
		"DATABASE_URL=postgres://u:p@h/db", "AGENT_LSP_PROFILE=x", "SSH_ASKPASS=x", "KUBECONFIG=/k", "GOAUTH=netrc", "NIX_CONFIG=access-tokens = x", "MAIL=a@b",
		// Sockets.
		"SSH_AUTH_SOCK=/s", "TMUX=/s", "NVIM=/s", "NVIM_LISTEN_ADDRESS=/s", "DBUS_SESSION_BUS_ADDRESS=unix:path=/s", "VSCODE_IPC_HOOK=/s", "VSCODE_IPC_HOOK_CLI=/s",
		"VSCODE_GIT_IPC_HANDLE=/s", "DOCKER_HOST=unix:///s", "DISPLAY=:0", "WAYLAND_DISPLAY=w", "XDG_RUNTIME_DIR=/run/user/1", "WSL_INTEROP=/s", "GPG_AGENT_INFO=/s", "STY=/s", "KITTY_LISTEN_ON=/s",
		// Families that are passed but for their secrets.
		"npm_config__authToken=x", "NPM_CONFIG__AUTH=x", "CARGO_REGISTRY_TOKEN=x", "CARGO_REGISTRIES_MINE_TOKEN=x", "UV_INDEX_MINE_PASSWORD=x", "PIP_PLAIN=ghp_0123456789abcdefghij",
		"GIT_EXTERNAL_DIFF=x", "GIT_CONFIG_PARAMETERS='a.b=c'", "GIT_DIR=/x",
		// Named, and named by both.
		"GOBIN=/never", "BOTH=x",
	}
	got := Environment(append(append([]string{"noequals", "=C:=C:\\x"}, dropped...), kept...), []string{"EMPTY_IS", "KEPT_TOKEN", "BOTH"}, []string{"GOBIN", "BOTH"})
	if d := cmp.Diff(kept, got); d != "" {
		t.Errorf("environment (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"CC=2"}, Environment([]string{"CC=1", "CC=2"}, nil, nil)); d != "" {
		t.Errorf("a name given twice (-want +got):\n%s", d)
	}
	for in, want := range map[string]string{
		"HTTPS_PROXY=http://user:pw@proxy:1":              "HTTPS_PROXY=http://proxy:1",
		"HTTPS_PROXY=http://tok@h":                        "HTTPS_PROXY=http://h",
		"http_proxy=http://u:p@ss@h/":                     "http_proxy=http://h/",
		"ALL_PROXY=socks5h://u:@h:1":                      "ALL_PROXY=socks5h://h:1",
		"GOPROXY=https://u:p@a.example,https://t@b|off":   "GOPROXY=https://a.example,https://b|off",
		"PIP_INDEX_URL=https://u:p@h/simple":              "PIP_INDEX_URL=https://h/simple",
		"PIP_EXTRA_INDEX_URL=https://a:b@h/x https://c@d": "PIP_EXTRA_INDEX_URL=https://h/x https://d",
		"PIP_FIND_LINKS=https://h/a@1":                    "PIP_FIND_LINKS=https://h/a@1",
	} {
		if d := cmp.Diff([]string{want}, Environment([]string{in}, nil, nil)); d != "" {
			t.Errorf("%s (-want +got):\n%s", in, d)
		}
	}
}

func TestLookIgnoresRelativePathEntries(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("file modes")
	}
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/tool", []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	if p, err := Look("tool", dir, []string{"PATH=.::"}); err == nil {
		t.Errorf("a relative PATH entry gave %s", p)
	}
	for _, tt := range []struct{ name, path string }{{"tool", dir}, {"./tool", "/none"}} {
		if p, err := Look(tt.name, dir, []string{"PATH=" + tt.path}); err != nil || p != dir+"/tool" {
			t.Errorf("look %s in %s gave %q, %v", tt.name, tt.path, p, err)
		}
	}
}

func TestALongCommandLineArrivesWhole(t *testing.T) {
	arg := strings.Repeat("long ", 20_000)
	env := append(os.Environ(), "LONG="+arg)
	r := sh(t, `printf %s "$LONG" | wc -c; printf %s "$0" | wc -c`, func(s *Spec) { s.Argv, s.Env = append(s.Argv, arg), env })
	if got := strings.Fields(r.Stdout.String()); len(got) != 2 || got[0] != "100000" || got[1] != "100000" {
		t.Errorf("the lengths are %v", got)
	}
	if _, err := Run(t.Context(), Spec{Policy: anything, Argv: []string{"sh", strings.Repeat("x", 4<<20)}, Dir: t.TempDir()}); err == nil {
		t.Error("an argument that the system does not take was taken")
	}
}
