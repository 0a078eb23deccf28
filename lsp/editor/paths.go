package editor

import (
	"path/filepath"
	"strings"
)

// Below returns a path relative to a directory, with slashes.
func Below(dir, path string) (string, bool) {
	rel, err := filepath.Rel(dir, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

// RealPath is a path without symlinks. Of a path that does not exist yet the
// existing part is resolved.
func RealPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	dir, base := filepath.Split(filepath.Clean(path))
	if base == "" || dir == path {
		return path
	}
	return filepath.Join(RealPath(filepath.Clean(dir)), base)
}
