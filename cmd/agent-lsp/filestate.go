package main

import (
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"os"
)

// maxState is the size up to which a file's bytes tell its states apart.
const maxState = 4 << 20

// fileState tells what a file holds at one time from what it holds at another.
type fileState struct {
	known   bool // false for what is no ordinary file or too large
	missing bool
	sum     [sha256.Size]byte
}

func stateOf(path string) fileState {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fileState{known: true, missing: true}
	}
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxState {
		return fileState{}
	}
	file, err := os.Open(path)
	if err != nil {
		return fileState{}
	}
	defer file.Close() //nolint:errcheck // only read
	sum := sha256.New()
	if _, err := io.Copy(sum, io.LimitReader(file, maxState)); err != nil {
		return fileState{}
	}
	state := fileState{known: true}
	sum.Sum(state.sum[:0])
	return state
}
