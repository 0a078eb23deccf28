package editor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/agent-lsp/agent-lsp/tools"
)

// files are those of a folder on the disk, whatever the editor's buffers show. Names
// are relative to the folder, with slashes.
type files struct {
	folder *Folder
	root   *os.Root
}

// read reads the text of a regular file of the folder.
func (d files) read(name string) (string, error) { return tools.ReadText(d.root, name) }

// has reports whether a file of the folder has a text.
func (d files) has(name, want string) bool {
	disk, err := d.read(name)
	return err == nil && matches(disk, want)
}

// write changes or creates a file that is not open.
func (d files) write(e tools.Edit) error {
	if e.Create {
		target, err := d.resolve(e.Path)
		if err != nil {
			return fmt.Errorf("write %s: %w", e.Path, err)
		}
		return tools.WriteFile(d.root, tools.Edit{Path: target, Create: true, After: e.After})
	}
	return d.replace(e.Path, e.After, func(disk string, exists bool) bool { return exists && disk == e.Before })
}

// replace writes a file whole if accept allows its present text; else it returns
// tools.ErrStale and changes nothing. The target of a symlink is written, and a byte
// order mark is kept.
func (d files) replace(name, after string, accept func(disk string, exists bool) bool) error {
	target, err := d.resolve(name)
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	disk, err := d.read(target)
	exists := err == nil
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("write %s: %w", name, err)
	}
	if !accept(disk, exists) {
		return fmt.Errorf("%s changed on disk: %w", name, tools.ErrStale)
	}
	if strings.HasPrefix(disk, byteOrderMark) && !strings.HasPrefix(after, byteOrderMark) {
		after = byteOrderMark + after
	}
	return tools.WriteFile(d.root, tools.Edit{Path: target, Create: !exists, Before: disk, After: after})
}

// resolve returns a file's path in the root without symlinks, with slashes.
func (d files) resolve(name string) (string, error) {
	rel, ok := Below(d.folder.real, RealPath(d.folder.Abs(name)))
	if !ok {
		return "", errors.New("it is a link out of the workspace folder")
	}
	return rel, nil
}

// makeParents creates the directories above a file and returns a function that
// removes those of them that are still empty.
func (d files) makeParents(name string) (undo func(), err error) {
	var made []string
	for dir := filepath.Dir(name); dir != "."; dir = filepath.Dir(dir) {
		if _, err := d.root.Stat(dir); err == nil {
			break
		}
		made = append(made, dir)
	}
	undo = func() {
		for _, dir := range made {
			_ = d.root.Remove(dir) // fails on one that is in use by now
		}
	}
	if len(made) == 0 {
		return undo, nil
	}
	if err := d.root.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		undo()
		return nil, err
	}
	return undo, nil
}

// expect returns tools.ErrStale unless a file has the text that an edit deletes.
func (d files) expect(e tools.Edit, open bool) error {
	disk, err := d.read(e.Path)
	switch {
	case open && errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s is gone already: %w", e.Path, tools.ErrStale)
	case err != nil:
		return fmt.Errorf("delete %s: %w", e.Path, err)
	case disk != e.Before && (!open || !matches(disk, e.Before)):
		return fmt.Errorf("%s changed on disk: %w", e.Path, tools.ErrStale)
	}
	return nil
}

// remove deletes a file that still has the text that the edit deletes.
func (d files) remove(e tools.Edit, open bool) error {
	if err := d.expect(e, open); err != nil {
		return err
	}
	// The name itself is removed, even if it is a link.
	if err := d.root.Remove(filepath.FromSlash(e.Path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("delete %s: %w", e.Path, err)
	}
	return nil
}

// removed reports whether nothing is at an edit's path.
func (d files) removed(e tools.Edit) bool {
	_, err := d.root.Lstat(filepath.FromSlash(e.Path))
	return errors.Is(err, fs.ErrNotExist)
}
