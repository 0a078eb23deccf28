package core

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/agent-lsp/agent-lsp/core/abi"
	"github.com/agent-lsp/agent-lsp/core/internal/coretest"
)

// hostChild, when set, makes TestHostProcess do its work.
const hostChild = "AGENT_LSP_CORE_CHILD"

// TestHostProcess is what the processes of the tests below run: it opens the
// core and prints a digest of what a session returns for fixed events.
func TestHostProcess(t *testing.T) {
	if os.Getenv(hostChild) == "" {
		t.Skip("only as a child of another test")
	}
	s := hostNew(t, hostOpen(t))
	p := coretest.NewPlayer(coretest.Seeded(2))
	sum := sha256.New()
	for range 100 {
		actions := hostStep(t, s, p.Next())
		p.Saw(actions)
		encoded, err := abi.AppendActions(nil, actions)
		if err != nil {
			t.Fatal(err)
		}
		sum.Write(encoded)
	}
	sum.Write(hostSnapshot(t, s))
	t.Logf("digest %s", hex.EncodeToString(sum.Sum(nil)))
}

// hostRun runs TestHostProcess with a cache directory and returns its digest.
func hostRun(t *testing.T, cache string) string {
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestHostProcess$", "-test.v")
	cmd.Env = append(os.Environ(), hostChild+"=1", "XDG_CACHE_HOME="+cache, "HOME="+cache, "LocalAppData="+cache)
	out, err := cmd.CombinedOutput()
	_, digest, ok := strings.Cut(string(out), "digest ")
	if err != nil || !ok {
		t.Errorf("%v\n%s", err, out)
		return ""
	}
	digest, _, _ = strings.Cut(digest, "\n")
	return digest
}

// hostFiles lists what a cache directory holds.
func hostFiles(t *testing.T, dir string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestHostProcessesShareACompiledModule(t *testing.T) {
	if hostRace {
		t.Skip("not under the race detector")
	}
	cache := t.TempDir()
	digests := make([]string, 3)
	var all sync.WaitGroup
	for i := range digests { // all find an empty directory and fill it at once
		all.Go(func() { digests[i] = hostRun(t, cache) })
	}
	all.Wait()
	for _, digest := range digests {
		if digest == "" || digest != digests[0] {
			t.Fatalf("processes answer differently: %q", digests)
		}
	}
	files := hostFiles(t, cache)
	if len(files) != 1 || !strings.Contains(files[0], wazeroVersion) {
		t.Fatalf("the cache holds %q", files)
	}
	info, err := os.Stat(files[0])
	if err != nil {
		t.Fatal(err)
	}
	if hostRun(t, cache) != digests[0] {
		t.Fatal("a process that reads the cache answers differently")
	}
	if again, err := os.Stat(files[0]); err != nil || !again.ModTime().Equal(info.ModTime()) {
		t.Fatal("the module was compiled again", err)
	}

	// A damaged file costs one compilation and is gone after it.
	content, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	content[len(content)/2] ^= 1
	if err := os.WriteFile(files[0], content, 0o600); err != nil {
		t.Fatal(err)
	}
	if hostRun(t, cache) != digests[0] {
		t.Fatal("a process with a damaged cache answers differently")
	}
	if len(hostFiles(t, cache)) != 0 {
		t.Fatal("the damaged file is still there")
	}
}

func TestHostACacheDirectoryThatCannotBeUsedIsDoneWithout(t *testing.T) {
	if openDisk("") != nil {
		t.Error("no directory was opened")
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if openDisk(filepath.Join(file, "below")) != nil {
		t.Error("a directory below a file was opened")
	}
	if runtime.GOOS != "windows" {
		open := t.TempDir()
		if err := os.Chmod(open, 0o777); err != nil {
			t.Fatal(err)
		}
		if openDisk(open) != nil {
			t.Error("a directory that everyone may write to was opened")
		}
	}
	if !hostRace && hostRun(t, file) == "" {
		t.Error("no session without a cache directory")
	}
}

func TestHostTheCompilersVersionIsTheOneInGoMod(t *testing.T) {
	mod, err := os.ReadFile(filepath.Join("..", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	if want := "github.com/tetratelabs/wazero " + wazeroVersion; !strings.Contains(string(mod), want+"\n") {
		t.Errorf("go.mod does not require %s: change wazeroVersion", want)
	}
}

// TestHostTheModuleIsBuiltFromItsSource builds package guest again. Another
// release of Go makes other bytes, so it compares only with the one that the
// module was made by.
func TestHostTheModuleIsBuiltFromItsSource(t *testing.T) {
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("there is no go command here")
	}
	version, err := exec.CommandContext(t.Context(), tool, "env", "GOVERSION").Output()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(module, bytes.TrimSpace(version)) {
		t.Skipf("the module was built by another release than %s; go generate ./core builds it anew", bytes.TrimSpace(version))
	}
	out := filepath.Join(t.TempDir(), "module.wasm")
	cmd := exec.CommandContext(t.Context(), tool, "build", "-trimpath", "-buildvcs=false", "-buildmode=c-shared", "-o", out, "./guest")
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0", "GOFLAGS=", "GOWASM=", "GOEXPERIMENT=")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	built, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(built, module) {
		t.Fatal("module.wasm is not what its source makes: run go generate ./core and commit it")
	}
}
