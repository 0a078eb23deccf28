package caches

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"
)

// Entry is one tool's private cache for a workspace.
type Entry struct {
	Workspace string    // its path
	Tool      string    // the directory's name, e.g. go-build
	Bytes     int64     // of all its files
	Used      time.Time // when a file of it was last written, or touched as it was used
	dir       string
}

// List returns the private caches below base, those used last first. None are there
// before the first command.
func List(ctx context.Context, base string) ([]Entry, error) {
	root, err := os.OpenRoot(base)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the private caches: %w", err)
	}
	defer root.Close()
	return list(ctx, root)
}

func list(ctx context.Context, root *os.Root) ([]Entry, error) {
	var out []Entry
	dirs, err := fs.Glob(root.FS(), "*/"+filesDir+"/*")
	if err != nil {
		return nil, fmt.Errorf("read the private caches: %w", err)
	}
	for _, dir := range dirs {
		e := Entry{Tool: path.Base(dir), dir: dir}
		if of, err := root.ReadFile(path.Join(path.Dir(path.Dir(dir)), ofFile)); err == nil {
			e.Workspace = strings.TrimSpace(string(of))
		}
		err := fs.WalkDir(root.FS(), dir, func(_ string, d fs.DirEntry, err error) error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				return nil //nolint:nilerr // what a tool removes meanwhile is not counted
			}
			if info, err := d.Info(); err == nil && d.Type().IsRegular() {
				e.Bytes += info.Size()
				if info.ModTime().After(e.Used) {
					e.Used = info.ModTime()
				}
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("read the private caches: %w", err)
		}
		out = append(out, e)
	}
	slices.SortFunc(out, func(a, b Entry) int { return cmp.Or(b.Used.Compare(a.Used), strings.Compare(a.dir, b.dir)) })
	return out, nil
}

// Trim keeps the private caches below base that were used last, as far as they fit into
// limit bytes, removes the others, and returns those. A cache goes whole: a tool
// that finds half of its downloads fails, one that finds none starts again.
func Trim(ctx context.Context, base string, limit int64) ([]Entry, error) {
	root, err := os.OpenRoot(base)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("trim the private caches: %w", err)
	}
	defer root.Close()
	entries, err := list(ctx, root)
	if err != nil {
		return nil, err
	}
	var kept int64
	var gone []Entry
	var failed error
	for _, e := range entries {
		if kept+e.Bytes <= limit && limit > 0 {
			kept += e.Bytes
			continue
		}
		if err := remove(root, e.dir); err != nil {
			failed = errors.Join(failed, fmt.Errorf("remove the private cache %s of %s: %w", e.Tool, e.Workspace, err))
			continue
		}
		gone = append(gone, e)
	}
	return gone, failed
}

// remove removes a directory whose own directories may be read-only, as Go's downloads
// are. A program may have put links there: nothing outside the root is reached.
func remove(root *os.Root, dir string) error {
	err := fs.WalkDir(root.FS(), dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			err = root.Chmod(name, 0o700)
		}
		return err
	})
	return errors.Join(err, root.RemoveAll(dir))
}
