package tools

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/agent-lsp/agent-lsp/workspace"
)

// Disk is a Workspace without an editor: its files are the whole truth.
type Disk struct {
	dir  string
	root *os.Root
}

var _ Workspace = (*Disk)(nil)

// NewDisk opens the directory dir, which may be reached through symbolic links,
// as a workspace. The caller closes it.
func NewDisk(dir string) (*Disk, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open workspace: %w", err)
	}
	root, err := os.OpenRoot(abs)
	if err != nil {
		return nil, fmt.Errorf("open workspace: %w", err)
	}
	return &Disk{dir: abs, root: root}, nil
}

// Close releases the directory.
func (d *Disk) Close() error { return d.root.Close() }

// Dir returns the absolute path that the workspace was opened with.
func (d *Disk) Dir() string { return d.dir }

// Root returns the open directory, which the workspace closes.
func (d *Disk) Root() *os.Root { return d.root }

// Buffer returns false: nothing is open.
func (d *Disk) Buffer(string) (Document, bool) { return Document{}, false }

// Apply performs an edit by WriteFile.
func (d *Disk) Apply(ctx context.Context, e Edit) (Applied, error) {
	if err := ctx.Err(); err != nil {
		return Applied{}, err
	}
	if e.Open {
		return Applied{}, fmt.Errorf("write %s: there are no open documents here", e.Path)
	}
	return Applied{}, WriteFile(d.root, e)
}

// WriteFile writes e.After to the file at e.Path, or removes it for e.Delete, but
// only if it holds exactly e.Before now, or, for e.Create, if nothing is there:
// otherwise it returns ErrStale and changes nothing. Parent directories of a new
// file are created. The new text is there whole or not at all, never in part, under
// the file's own mode and extended attributes (and owner, where the system lets it);
// no temporary file stays behind, unless the process is killed: see RemoveLeftovers.
// Other names of the file keep the old text. A file that the user may not write is
// refused. A path whose last element is a symbolic link is refused: resolve it first.
// Open buffers do not count.
func WriteFile(root *os.Root, e Edit) error {
	name := filepath.FromSlash(e.Path)
	if e.Create {
		if err := root.MkdirAll(filepath.FromSlash(path.Dir(e.Path)), 0o777); err != nil {
			return fmt.Errorf("write %s: %w", e.Path, err)
		}
	}
	// Everything happens in one directory, which stays the same one even when the
	// path to it is changed meanwhile.
	dir, err := root.OpenRoot(filepath.Dir(name))
	if err != nil {
		return fmt.Errorf("write %s: %w", e.Path, err)
	}
	defer func() { _ = dir.Close() }()
	base := filepath.Base(name)
	switch {
	case e.Create:
		err = createFile(dir, base, e.After)
	case e.Delete:
		if _, err = readRegular(dir, base, e.Before); err == nil {
			err = dir.Remove(base)
		}
	default:
		err = replaceFile(dir, base, e.Before, e.After)
	}
	if err != nil && !errors.Is(err, ErrStale) {
		return fmt.Errorf("write %s: %w", e.Path, err)
	}
	return err
}

// createFile makes a new file appear with its whole text.
func createFile(dir *os.Root, base, text string) error {
	if _, err := dir.Lstat(base); err == nil {
		return ErrStale
	}
	temp, err := writeTemp(dir, text, nil)
	if err != nil {
		return err
	}
	err = dir.Link(temp.name, base)
	if rerr := temp.remove(); err == nil {
		err = rerr
	}
	if errors.Is(err, fs.ErrExist) {
		return ErrStale
	}
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EMLINK) {
		return createPlain(dir, base, text)
	}
	return err
}

// createPlain is createFile where the file system has no links.
func createPlain(dir *os.Root, base, text string) error {
	f, err := dir.OpenFile(base, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return ErrStale
	}
	if err != nil {
		return err
	}
	_, err = io.WriteString(f, text)
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, dir.Remove(base))
	}
	return nil
}

// replaceFile swaps a regular file's text for another.
func replaceFile(dir *os.Root, base, before, after string) error {
	old, err := readRegular(dir, base, before)
	if err != nil {
		return err
	}
	if err := writable(dir, base, old); err != nil {
		return err
	}
	raw, err := workspace.Encode(after, old.head)
	if err != nil {
		return err
	}
	temp, err := writeTemp(dir, string(raw), old)
	if err != nil {
		return err
	}
	return temp.replace(base, old)
}

// replace puts the temporary file in the place of another, which is as it was found.
// Someone else may have written since: replace looks once more, as late as possible.
func (t *temporary) replace(base string, old *stored) error {
	now, err := t.dir.Lstat(base)
	if err == nil && (!os.SameFile(old.FileInfo, now) || !now.ModTime().Equal(old.ModTime()) || now.Size() != old.Size()) {
		err = ErrStale
	}
	if err == nil {
		err = t.dir.Rename(t.name, base)
	}
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = ErrStale
		}
		return errors.Join(err, t.remove())
	}
	return t.close()
}

// writable refuses a file that the user may not write, as a shell does: that its
// directory lets it be replaced does not count.
func writable(dir *os.Root, base string, old *stored) error {
	f, err := dir.OpenFile(base, os.O_WRONLY, 0)
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("it is read-only (%s): make it writable first", old.Mode())
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// stored is a file as it was found.
type stored struct {
	fs.FileInfo
	head       []byte // its first bytes, which show its encoding
	attributes map[string][]byte
}

// readRegular returns the state of a regular file that has the text want.
func readRegular(dir *os.Root, base, want string) (*stored, error) {
	info, err := dir.Lstat(base)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrStale
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &workspace.IrregularError{Mode: info.Mode()}
	}
	f, err := workspace.Open(dir, base)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	opened, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !os.SameFile(info, opened) {
		return nil, ErrStale
	}
	head := make([]byte, len(workspace.ByteOrderMark))
	n, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	old := &stored{FileInfo: opened}
	if old.attributes, err = attributes(f); err != nil {
		return nil, err
	}
	if strings.HasPrefix(want, workspace.ByteOrderMark) {
		old.head = head[:n] // else it is not read as UTF-16, whatever it looks like
	}
	same, err := holds(f, onDisk(want, old.head))
	if err == nil && !same {
		err = ErrStale
	}
	return old, err
}

// onDisk returns the bytes of a file that has a text as it was read.
func onDisk(text string, head []byte) string {
	raw, err := workspace.Encode(text, head)
	if err != nil {
		return text
	}
	return string(raw)
}

// holds reports whether r gives exactly want.
func holds(r io.Reader, want string) (bool, error) {
	buf := make([]byte, 64<<10)
	for {
		n, err := r.Read(buf)
		if n > len(want) || string(buf[:n]) != want[:n] {
			return false, nil
		}
		want = want[n:]
		if errors.Is(err, io.EOF) {
			return want == "", nil
		}
		if err != nil {
			return false, err
		}
	}
}
