package checker

import (
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/agent-lsp/agent-lsp/workspace"
)

// maxState is the size up to which a file's bytes are compared.
const maxState = 4 << 20

// fileState identifies a file's content at one time, to compare it with a later one.
type fileState struct {
	known   bool // false for what is no ordinary file of the folder or too large
	missing bool
	sum     [sha256.Size]byte
}

// stateOf returns the state of a file of a folder.
func stateOf(folder, path string) fileState {
	rel, err := filepath.Rel(folder, path)
	if err != nil {
		return fileState{}
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return fileState{}
	}
	defer root.Close()
	file, err := workspace.Open(root, rel)
	if errors.Is(err, fs.ErrNotExist) {
		return fileState{known: true, missing: true}
	}
	if err != nil {
		return fileState{}
	}
	defer file.Close() //nolint:errcheck // only read
	sum := sha256.New()
	if n, err := io.Copy(sum, io.LimitReader(file, maxState+1)); err != nil || n > maxState {
		return fileState{}
	}
	state := fileState{known: true}
	sum.Sum(state.sum[:0])
	return state
}
