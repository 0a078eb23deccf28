package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// copyWorkspace copies dir into a fresh temporary directory, which remove deletes.
// Links that leave dir are refused: the copy must not reach the original.
func copyWorkspace(dir string) (copied string, remove func(), err error) {
	tmp, err := os.MkdirTemp("", "agent-lsp-")
	if err != nil {
		return "", nil, fmt.Errorf("copy the workspace: %w", err)
	}
	remove = func() { os.RemoveAll(tmp) } //nolint:errcheck // a leftover in the temporary directory harms nobody
	root, err := os.OpenRoot(dir)
	if err == nil {
		defer root.Close()
		copied = filepath.Join(tmp, filepath.Base(dir))
		err = os.CopyFS(copied, root.FS())
	}
	if err != nil {
		remove()
		return "", nil, fmt.Errorf("copy the workspace: %w", err)
	}
	return copied, remove, nil
}
