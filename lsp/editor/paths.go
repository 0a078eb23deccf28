package editor

import (
	"path/filepath"

	// The name is that of a type here.
	disk "github.com/agent-lsp/agent-lsp/workspace"
)

// byteOrderMark is what editors take out of a buffer and put back when they save.
const byteOrderMark = disk.ByteOrderMark

// Below returns a path relative to a directory, with slashes.
func Below(dir, path string) (string, bool) {
	rel, ok := disk.Below(dir, path)
	return filepath.ToSlash(rel), ok
}

// RealPath returns a path without symlinks. Of a path that does not exist yet the
// existing part is resolved.
func RealPath(path string) string { return disk.RealPath(path) }
