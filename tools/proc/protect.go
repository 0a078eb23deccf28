package proc

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// guard stores the state of protected places, so that what a program changed in them
// all the same can be put back: in places that did not exist and could not
// be mounted over, and wherever the system cannot take a path out of a writable
// directory.
type guard struct {
	places []string
	aside  string
	before map[string]entry
	left   int64 // bytes that may still be stored
}

// entry is a file, directory or link as it was.
type entry struct {
	mode fs.FileMode
	link string
	text []byte
	size int64
	mod  time.Time
	kept bool // text is the whole of a file
}

// How many bytes a guard stores at most: of one file, and of all.
const (
	guardFile = 1 << 20
	guardAll  = 32 << 20
)

func newGuard(places []string, aside string) *guard {
	g := &guard{places: places, aside: aside, before: map[string]entry{}, left: guardAll}
	for _, p := range places {
		g.walk(p, func(path string, e entry) {
			if e.mode.IsRegular() && e.size <= guardFile && e.size <= g.left {
				if text, err := os.ReadFile(path); err == nil {
					e.text, e.kept, e.size = text, true, int64(len(text))
					g.left -= e.size
				}
			}
			g.before[path] = e
		})
	}
	return g
}

// walk calls visit for everything at and below a place.
func (g *guard) walk(place string, visit func(string, entry)) {
	_ = filepath.WalkDir(place, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // what is not there, or cannot be read, is not remembered
		}
		info, err := d.Info()
		if err != nil {
			return nil //nolint:nilerr // it went meanwhile
		}
		e := entry{mode: info.Mode(), size: info.Size(), mod: info.ModTime()}
		if e.mode&fs.ModeSymlink != 0 {
			e.link, _ = os.Readlink(path)
		}
		visit(path, e)
		return nil
	})
}

// restore puts back what changed, and returns the paths that changed. An error names what
// could not be put back.
func (g *guard) restore() (back []string, err error) {
	now := map[string]entry{}
	for _, p := range g.places {
		g.walk(p, func(path string, e entry) { now[path] = e })
	}
	var made, lost []string
	for path, e := range now {
		if was, ok := g.before[path]; !ok || was.mode.Type() != e.mode.Type() {
			made = append(made, path)
		}
	}
	slices.Sort(made)
	var errs []error
	for i, path := range made {
		if i > 0 && slices.ContainsFunc(made[:i], func(outer string) bool { return within(filepath.ToSlash(outer), filepath.ToSlash(path)) }) {
			continue // it went with the directory
		}
		errs = append(errs, g.remove(path))
		back = append(back, path)
	}
	for path, was := range g.before {
		if g.changed(path, was) {
			lost = append(lost, path)
		}
	}
	slices.Sort(lost)
	for _, path := range lost {
		errs = append(errs, g.write(path, g.before[path]))
		if !slices.Contains(back, path) {
			back = append(back, path)
		}
	}
	slices.Sort(back)
	return back, errors.Join(errs...)
}

func (g *guard) changed(path string, was entry) bool {
	info, err := os.Lstat(path)
	if err != nil {
		return true
	}
	switch {
	case info.Mode() != was.mode:
		return true
	case was.mode&fs.ModeSymlink != 0:
		to, err := os.Readlink(path)
		return err != nil || to != was.link
	case !was.mode.IsRegular():
		return false
	case !was.kept:
		return info.Size() != was.size || !info.ModTime().Equal(was.mod)
	case info.Size() == was.size && info.ModTime().Equal(was.mod) && info.Size() > 64<<10:
		return false // who sets a time back is seen in all but big files
	}
	text, err := os.ReadFile(path)
	return err != nil || !bytes.Equal(text, was.text)
}

// remove removes a path that was created: it moves it to aside where that is set.
func (g *guard) remove(path string) error {
	if g.aside != "" {
		if err := os.MkdirAll(g.aside, 0o700); err == nil {
			to := filepath.Join(g.aside, time.Now().UTC().Format("20060102T150405.000000000")+"-"+filepath.Base(path))
			if os.Rename(path, to) == nil {
				return nil
			}
		}
	}
	if err := os.RemoveAll(path); err != nil {
		return fmt.Errorf("take %s away, which the program made: %w", path, err)
	}
	return nil
}

// write restores a path to a stored entry.
func (g *guard) write(path string, was entry) error {
	if was.mode.IsDir() {
		err := os.MkdirAll(path, 0o700)
		return errors.Join(err, os.Chmod(path, was.mode.Perm()))
	}
	if was.mode&fs.ModeSymlink != 0 {
		_ = os.Remove(path)
		return errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.Symlink(was.link, path))
	}
	if !was.kept {
		return fmt.Errorf("put back %s, which the program changed: it was too big to be remembered", path)
	}
	if _, err := os.Lstat(path); err == nil {
		if err := g.remove(path); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(path, was.text, was.mode.Perm()); err != nil {
		return fmt.Errorf("put back %s, which the program changed: %w", path, err)
	}
	return errors.Join(os.Chmod(path, was.mode.Perm()), os.Chtimes(path, was.mod, was.mod))
}
