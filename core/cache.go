package core

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

// wazeroVersion names the compiler whose output is on disk. A test compares it
// with go.mod.
const wazeroVersion = "v1.12.0"

// compilers turns modules into machine code, one at a time and each once per
// process. What it made also stands in the user's cache directory for the next
// process.
var compilers struct {
	mu     sync.Mutex // guards the below, and is locked while compiling
	memory wazero.CompilationCache
	disk   wazero.CompilationCache // nil when there is none to use
	opened bool
}

// compile makes a runtime with the module in it.
func compile(wasm []byte) (wazero.Runtime, wazero.CompiledModule, error) {
	compilers.mu.Lock()
	defer compilers.mu.Unlock()
	if !compilers.opened {
		compilers.opened = true
		compilers.memory = wazero.NewCompilationCache()
		compilers.disk = openDisk(cacheDir())
	}
	if compilers.disk != nil {
		r, m, err := compileWith(compilers.disk, wasm)
		if err == nil {
			return r, m, nil
		}
	}
	r, m, err := compileWith(compilers.memory, wasm)
	if err == nil && compilers.disk != nil {
		// The module is good, so the directory is not: it is full, was made
		// read-only or has a damaged file. The next process starts it anew.
		compilers.disk = nil
		_ = os.RemoveAll(cacheDir())
	}
	return r, m, err
}

func compileWith(cache wazero.CompilationCache, wasm []byte) (wazero.Runtime, wazero.CompiledModule, error) {
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().
		WithCompilationCache(cache).
		WithCloseOnContextDone(true).
		WithMemoryLimitPages(memoryPages))
	m, err := r.CompileModule(ctx, wasm)
	if err == nil {
		_, err = wasi_snapshot_preview1.Instantiate(ctx, r)
	}
	if err != nil {
		_ = r.Close(ctx)
		return nil, nil, fmt.Errorf("compile the core: %w", err)
	}
	return r, m, nil
}

// cacheDir is where compiled modules are kept, empty when the user has no cache
// directory.
func cacheDir() string {
	base, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(base, "agent-lsp", "wazero-"+wazeroVersion)
}

// openDisk opens the directory, or returns nil: when it cannot be made, when it
// is empty and cannot be written to, or when others may write to it, since what
// stands there is run.
func openDisk(dir string) wazero.CompilationCache {
	if dir == "" || os.MkdirAll(dir, 0o700) != nil {
		return nil
	}
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() || runtime.GOOS != "windows" && info.Mode().Perm()&0o022 != 0 {
		return nil
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) == 0 && !writable(dir) {
		return nil
	}
	cache, err := wazero.NewCompilationCacheWithDir(dir)
	if err != nil {
		return nil
	}
	return cache
}

func writable(dir string) bool {
	f, err := os.CreateTemp(dir, "probe-*")
	if err != nil {
		return false
	}
	_ = f.Close()
	return os.Remove(f.Name()) == nil
}
