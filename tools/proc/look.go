package proc

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Look finds the file that a program's name stands for. A name with a separator
// is a path, relative to dir; any other is looked up on the PATH of env, where
// only absolute entries count: a relative one would let the directory that a
// program runs in choose the program. The error is fs.ErrNotExist when there is
// none, and fs.ErrPermission when what is there cannot be run.
func Look(name, dir string, env []string) (string, error) {
	if strings.ContainsRune(name, '/') || strings.ContainsRune(name, filepath.Separator) {
		path := name
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		return firstRunnable(name, path, env)
	}
	path, ok := Getenv(env, "PATH")
	if !ok && runtime.GOOS != "windows" {
		path = "/usr/local/bin:/usr/bin:/bin"
	}
	var denied error
	for _, d := range filepath.SplitList(path) {
		if !filepath.IsAbs(d) {
			continue
		}
		found, err := firstRunnable(name, filepath.Join(d, name), env)
		if err == nil {
			return found, nil
		}
		if errors.Is(err, fs.ErrPermission) && denied == nil {
			denied = err
		}
	}
	if denied != nil {
		return "", denied
	}
	return "", fmt.Errorf("no program %q on PATH: %w", name, fs.ErrNotExist)
}

// firstRunnable returns path, or path with one of the system's program
// extensions, whichever is a file that may be run.
func firstRunnable(name, path string, env []string) (string, error) {
	for _, p := range candidates(path, env) {
		info, err := os.Stat(p)
		if err != nil {
			continue
		}
		if info.IsDir() {
			continue
		}
		if !runnable(info) {
			return "", fmt.Errorf("%s: %w", p, fs.ErrPermission)
		}
		return p, nil
	}
	return "", fmt.Errorf("no program %q: %w", name, fs.ErrNotExist)
}

// candidates returns the files that a path with or without an extension may mean.
func candidates(path string, env []string) []string {
	if runtime.GOOS != "windows" {
		return []string{path}
	}
	exts, ok := Getenv(env, "PATHEXT")
	if !ok {
		exts = ".com;.exe;.bat;.cmd"
	}
	var out []string
	have := strings.ToLower(filepath.Ext(path))
	for e := range strings.SplitSeq(strings.ToLower(exts), ";") {
		if e == "" {
			continue
		}
		if e == have {
			return []string{path}
		}
		out = append(out, path+e)
	}
	return out
}

func runnable(info fs.FileInfo) bool {
	return runtime.GOOS == "windows" || info.Mode()&0o111 != 0
}
