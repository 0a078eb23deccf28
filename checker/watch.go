package checker

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agent-lsp/agent-lsp/workspace"
)

// DefaultDebounce is how long a Watcher waits for more changes.
const DefaultDebounce = 100 * time.Millisecond

// maxPaths is how many changed paths are kept apart before a Change says that
// anything may have changed.
const maxPaths = 4096

// Change is a set of files that anybody changed on the disk. An editor's
// file watcher can make one as well as a Watcher.
type Change struct {
	// Paths are absolute, sorted, each once.
	Paths []string
	// Everything says that more files may have changed than those of Paths: the system lost
	// events, or there were too many.
	Everything bool
	// Err is why a part of the workspace is not watched, nil when all of it is.
	Err error
}

// Affects reports whether a root may have changed.
func (ch Change) Affects(root string) bool {
	return ch.Everything || slices.ContainsFunc(ch.Paths, func(path string) bool { return within(root, path) })
}

// Roots lists the nearest roots of the changed files in a workspace, sorted.
func (ch Change) Roots(workspace string) []string {
	var roots []string
	for _, path := range ch.Paths {
		if root, _, ok := new(Config).rootOf(workspace, path); ok && !slices.Contains(roots, root) {
			roots = append(roots, root)
		}
	}
	slices.Sort(roots)
	return roots
}

// Affected lists the roots that were checked before and that a change touches, the
// modules of a go.work outside its directory included. Whose findings are shown
// should be given to Check.
func (c *Checker) Affected(ch Change) []string {
	c.mu.Lock()
	keys := make([]rootKey, 0, len(c.roots))
	for key := range c.roots {
		keys = append(keys, key)
	}
	c.mu.Unlock()
	var roots []string
	for _, key := range keys {
		dirs := []string{key.root}
		if also := ecosystemOf(key.ecosystem).also; also != nil {
			dirs = append(dirs, also(key.root)...)
		}
		if slices.ContainsFunc(dirs, ch.Affects) && !slices.Contains(roots, key.root) {
			roots = append(roots, key.root)
		}
	}
	slices.Sort(roots)
	return roots
}

// WatchConfig are the settings of a Watcher.
type WatchConfig struct {
	// Debounce is the quiet time after which changes are reported; after twenty times
	// as long they are reported although more keep coming. Zero means DefaultDebounce.
	Debounce time.Duration
	// After replaces time.After, for tests.
	After func(time.Duration) <-chan time.Time
}

// Watcher reports which files of a workspace change on the disk. Directories of
// version control, installed packages and build output are not watched. One
// goroutine owns it; Close ends it.
type Watcher struct {
	workspace string
	cfg       WatchConfig
	system    *workspace.Notifier
	changes   chan Change
	quit      context.CancelFunc
	ended     chan struct{}
}

// Watch starts to watch a workspace. An error means that nothing is watched, as
// when the system's limit of watches is reached.
func Watch(folder string, cfg WatchConfig) (*Watcher, error) {
	folder = absolute(folder)
	if cfg.Debounce <= 0 {
		cfg.Debounce = DefaultDebounce
	}
	if cfg.After == nil {
		cfg.After = time.After
	}
	if info, err := os.Stat(folder); err != nil {
		return nil, fmt.Errorf("watch: %w", err)
	} else if !info.IsDir() {
		return nil, fmt.Errorf("watch %s: it is not a directory", folder)
	}
	system, err := workspace.NewNotifier()
	if err != nil {
		return nil, fmt.Errorf("watch %s: %w", folder, err)
	}
	ctx, quit := context.WithCancel(context.Background())
	w := &Watcher{
		workspace: folder, cfg: cfg, system: system, quit: quit,
		changes: make(chan Change), ended: make(chan struct{}),
	}
	l := &watching{Watcher: w, dirs: make(map[string]bool), texts: make(sameText), pending: make(map[string]bool)}
	if err := l.add(ctx, folder, false); err != nil {
		quit()
		_ = system.Close()
		return nil, fmt.Errorf("watch %s: %w", folder, err)
	}
	go l.run(ctx)
	return w, nil
}

// Changes returns the channel of changes. Changes that come while nobody receives are
// merged, not lost. It is closed when the watcher ends.
func (w *Watcher) Changes() <-chan Change { return w.changes }

// Close ends the watcher and waits for its goroutine. It is safe to call more
// than once.
func (w *Watcher) Close() error {
	w.quit()
	<-w.ended
	return nil
}

// watching is the state of the goroutine that owns a Watcher.
type watching struct {
	*Watcher
	dirs    map[string]bool // that are watched
	texts   sameText
	pending map[string]bool
	lost    bool // Everything of the next change
	err     error
	quiet   <-chan time.Time // nil while nothing is pending
	overdue <-chan time.Time
	due     bool
}

func (l *watching) run(ctx context.Context) {
	defer close(l.ended)
	defer close(l.changes)
	defer l.system.Close() //nolint:errcheck // nothing is left to lose
	for {
		var out chan<- Change
		var next Change
		if l.due {
			out, next = l.changes, l.change()
		}
		select {
		case <-ctx.Done():
			return
		case out <- next:
			l.reset()
		case <-l.quiet:
			l.due = true
			l.quiet, l.overdue = nil, nil
		case <-l.overdue:
			l.due = true
			l.quiet, l.overdue = nil, nil
		case e, ok := <-l.system.Events():
			if !ok {
				return
			}
			l.event(ctx, e)
		case err, ok := <-l.system.Errors():
			if !ok {
				return
			}
			l.failure(ctx, err)
		}
	}
}

func (l *watching) change() Change {
	ch := Change{Everything: l.lost, Err: l.err}
	for path := range l.pending {
		ch.Paths = append(ch.Paths, path)
	}
	slices.Sort(ch.Paths)
	return ch
}

func (l *watching) reset() {
	clear(l.pending)
	l.lost, l.err, l.due = false, nil, false
	l.quiet, l.overdue = nil, nil
}

// touch starts the quiet time anew.
func (l *watching) touch() {
	if l.due {
		return // it is reported with the next receive
	}
	l.quiet = l.cfg.After(l.cfg.Debounce)
	if l.overdue == nil {
		l.overdue = l.cfg.After(20 * l.cfg.Debounce)
	}
}

func (l *watching) file(path string) {
	if skipFile(path) || !l.texts.changed(path) {
		return
	}
	l.pending[path] = true
	if len(l.pending) > maxPaths {
		clear(l.pending)
		l.lost = true
	}
	l.touch()
}

func (l *watching) event(ctx context.Context, e workspace.Event) {
	path := e.Path
	if e.What.Has(workspace.Gone) {
		if l.dirs[path] {
			l.forget(path)
		}
		if !skipDir(path) {
			l.file(path)
		}
	}
	if e.What.Has(workspace.Made) {
		info, err := os.Lstat(path)
		if err == nil && info.IsDir() {
			if skipDir(path) {
				return
			}
			// The same name may have been another directory before.
			l.forget(path)
			if err := l.add(ctx, path, true); err != nil {
				l.failure(ctx, err)
			}
			return
		}
	}
	if e.What.Has(workspace.Made | workspace.Written) {
		l.file(path)
	}
}

// add watches a directory and all below it. Files that were made in a new
// directory before it was watched are reported like others.
func (l *watching) add(ctx context.Context, dir string, tell bool) error {
	return walk(ctx, dir, func(dir string) error {
		if err := l.system.Add(dir); err != nil {
			if errors.Is(err, os.ErrNotExist) {
				return nil // it was deleted again
			}
			return fmt.Errorf("watch %s: %w", dir, err)
		}
		l.dirs[dir] = true
		if !tell {
			return nil
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil // it was deleted again, which has its own event
		}
		for _, e := range entries {
			if !e.IsDir() {
				l.file(filepath.Join(dir, e.Name()))
			}
		}
		return nil
	})
}

// forget stops watching a directory that was removed and all below it: the system
// would continue to report a moved one by its old name.
func (l *watching) forget(dir string) {
	for path := range l.dirs {
		if path == dir || strings.HasPrefix(path, dir+string(filepath.Separator)) {
			_ = l.system.Remove(path) // it may be removed already
			delete(l.dirs, path)
		}
	}
}

// failure adds an error to the next change; after lost events all is read anew.
func (l *watching) failure(ctx context.Context, err error) {
	if errors.Is(err, workspace.ErrLost) {
		l.lost = true
		clear(l.pending)
		clear(l.texts)
		err = l.add(ctx, l.workspace, false)
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		l.err = err
		l.lost = true
	}
	l.touch()
}

func hash(text []byte) [32]byte { return sha256.Sum256(text) }
