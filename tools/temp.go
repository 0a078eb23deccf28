package tools

import (
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"time"

	"github.com/agent-lsp/agent-lsp/workspace"
)

// temporaryName is what temporary files are called.
var temporaryName = regexp.MustCompile(`^\.agent-lsp-[A-Z2-7]{12}\.tmp$`)

// temporary is a new file beside the one that it is to become. Its process has a lock
// on it, where the system has locks that end with their process, so that what a killed
// process left can be told from what is in use.
type temporary struct {
	dir  *os.Root
	name string
	file *os.File // nil once it is closed
}

// newTemp makes an empty temporary file. With like, nobody else may read it until it
// has that one's mode.
func newTemp(dir *os.Root, like *stored) (*temporary, error) {
	t := &temporary{dir: dir, name: ".agent-lsp-" + rand.Text()[:12] + ".tmp"}
	perm := fs.FileMode(0o666)
	if like != nil {
		perm = 0o600
	}
	var err error
	if t.file, err = dir.OpenFile(t.name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm); err != nil {
		return nil, err
	}
	lock(t.file)
	return t, nil
}

// writeTemp writes a text to a new file in dir. With like, the file gets that one's
// mode and extended attributes and, where possible, its owner.
func writeTemp(dir *os.Root, text string, like *stored) (*temporary, error) {
	t, err := newTemp(dir, like)
	if err != nil {
		return nil, err
	}
	_, err = io.WriteString(t.file, text)
	if err == nil && like != nil {
		keepOwner(t.file, like)
		err = setAttributes(t.file, like.attributes)
		if err == nil {
			err = t.file.Chmod(like.Mode() & (fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky))
		}
	}
	if err == nil && !locks {
		err = t.close() // an open file could not be renamed
	}
	if err != nil {
		return nil, errors.Join(err, t.remove())
	}
	return t, nil
}

// close releases the file, which stays.
func (t *temporary) close() error {
	if t.file == nil {
		return nil
	}
	err := t.file.Close()
	t.file = nil
	return err
}

func (t *temporary) remove() error { return errors.Join(t.close(), t.dir.Remove(t.name)) }

// maxLeftovers bounds how many files and directories RemoveLeftovers looks at.
const maxLeftovers = 500_000

// RemoveLeftovers removes the temporary files that killed processes left below a root,
// and returns their paths. It does not look into what git ignores, and ends when stop
// is closed or after half a million entries: then all is false.
func RemoveLeftovers(root *os.Root, stop <-chan struct{}) (removed []string, all bool) {
	ignore := workspace.NewIgnore(func(p string) (string, bool) {
		text, err := readFile(root, p, DefaultMaxRead)
		return text, err == nil
	})
	seen := 0
	all = true
	var found []string
	_ = fs.WalkDir(root.FS(), ".", func(p string, d fs.DirEntry, err error) error {
		if seen++; seen > maxLeftovers || over(stop, 0) {
			all = false
			return fs.SkipAll
		}
		switch {
		case err != nil: // what may not be listed was not written to
		case d.IsDir() && ignore.SkipsEntry(p, true):
			return fs.SkipDir
		case d.Type().IsRegular() && temporaryName.MatchString(path.Base(p)):
			found = append(found, filepath.FromSlash(p))
		}
		return nil
	})
	for _, name := range found {
		if info, err := root.Lstat(name); err != nil || over(stop, time.Until(info.ModTime().Add(leftoverAge))) {
			all = all && err != nil // it has got its name
			continue
		}
		if removeLeftover(root, name) {
			removed = append(removed, filepath.ToSlash(name))
		}
	}
	return removed, all
}

// leftoverAge is how old a temporary file is at least whose process must have locked it
// by now.
const leftoverAge = time.Second

// over waits, unless there is nothing to wait for, and reports whether stop is closed.
func over(stop <-chan struct{}, wait time.Duration) bool {
	select {
	case <-stop:
		return true
	default:
	}
	if wait <= 0 {
		return false
	}
	late := time.NewTimer(wait)
	defer late.Stop()
	select {
	case <-stop:
		return true
	case <-late.C:
		return false
	}
}

// removeLeftover removes a temporary file unless a process has it in use.
func removeLeftover(root *os.Root, name string) bool {
	f, err := workspace.Open(root, name)
	if err != nil {
		return false
	}
	used := inUse(f)
	return f.Close() == nil && !used && root.Remove(name) == nil
}
