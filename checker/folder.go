package checker

import (
	"context"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"
)

// FolderConfig are the settings of a Folder.
type FolderConfig struct {
	// Dir is the folder, an absolute path.
	Dir string
	// Checker returns the checker to use now: settings may have replaced the one
	// before. It is called from any goroutine.
	Checker func() *Checker
	// Report is called with each recheck, from the Folder's own goroutine; nil means
	// that nothing is checked again.
	Report func(Result)
	// Log gets a warning when a folder cannot be watched.
	Log *slog.Logger
}

// Folder checks a workspace folder and keeps its findings from going stale: while any
// are shown, its roots are rechecked when anybody changes their files. A requested
// check goes first: it cancels a running recheck and waits for its end. Changes are
// handled when no requested check is running, because that one may have read them. A
// Folder is safe for concurrent use; Close ends it.
type Folder struct {
	cfg   FolderConfig
	watch func(dir string, cfg WatchConfig) (*Watcher, error)
	inbox chan func(*upkeep)
	quit  context.CancelFunc
	ended chan struct{} // closed when the goroutine has ended
}

// NewFolder returns a Folder and starts its goroutine. Nothing is watched before the
// first finding.
func NewFolder(cfg FolderConfig) *Folder {
	return newFolder(cfg, Watch)
}

func newFolder(cfg FolderConfig, watch func(string, WatchConfig) (*Watcher, error)) *Folder {
	ctx, quit := context.WithCancel(context.Background())
	f := &Folder{cfg: cfg, watch: watch, inbox: make(chan func(*upkeep)), quit: quit, ended: make(chan struct{})}
	go newUpkeep(ctx, f).run()
	return f
}

// AfterEdit is Checker.AfterEdit for the folder.
func (f *Folder) AfterEdit(ctx context.Context, edited []string) []Result {
	end := f.begin(edited)
	results := f.cfg.Checker().AfterEdit(ctx, f.cfg.Dir, edited)
	end(results...)
	return results
}

// Check is Checker.Check for a root of the folder.
func (f *Folder) Check(ctx context.Context, root string) Result {
	end := f.begin(nil)
	r := f.cfg.Checker().Check(ctx, root)
	end(r)
	return r
}

// Hold ends rechecks of the roots of edited files until a check of them is requested:
// what would run was edited, and nobody has allowed that yet. It reports whether their
// check would run anything.
func (f *Folder) Hold(edited []string) bool {
	end := f.begin(nil) // no recheck runs from here on
	f.do(func(u *upkeep) { u.hold(edited) })
	end()
	return f.cfg.Checker().wouldRun(f.cfg.Dir, edited)
}

// Close ends the watch and a running recheck, and waits for their end. It is safe to call more than once.
func (f *Folder) Close() {
	f.quit()
	<-f.ended
}

// begin notes the start of a requested check, after edits if there were any; end is
// called with its outcome.
func (f *Folder) begin(edited []string) (end func(...Result)) {
	free := make(chan struct{})
	f.do(func(u *upkeep) { u.ask(free) })
	select {
	case <-free:
	case <-f.ended:
	}
	began := time.Now()
	saw := make(map[string]fileState, len(edited))
	for _, path := range edited {
		saw[path] = stateOf(f.cfg.Dir, path)
	}
	return func(results ...Result) {
		f.do(func(u *upkeep) { u.end(began, saw, results) })
	}
}

// do runs a function on the goroutine, unless the folder is closed.
func (f *Folder) do(something func(*upkeep)) {
	select {
	case f.inbox <- something:
	case <-f.ended:
	}
}

// upkeep is the state of the goroutine that owns a Folder.
type upkeep struct {
	*Folder
	ctx  context.Context
	jobs sync.WaitGroup // the goroutines below this one

	asked   int                  // requested checks, waiting ones included
	waiting []chan struct{}      // of those that wait for the end of the running recheck
	cancel  context.CancelFunc   // of the running recheck, nil when there is none
	stale   []string             // roots to check again
	since   time.Time            // when they were found to be stale
	began   map[string]time.Time // by root: when its last check began
	found   map[string][]string  // roots with findings shown, and the files of these
	saw     map[string]fileState // edited files, as the last check of their edits saw them

	watching bool // a watch was begun
	files    *Watcher
	first    bool // what changed before the watch began was not looked at
	watched  chan *Watcher
	checked  chan rechecked
}

// rechecked is the outcome of a recheck; cancelled says that a requested check
// canceled it.
type rechecked struct {
	root      string
	began     time.Time
	result    Result
	cancelled bool
}

func newUpkeep(ctx context.Context, f *Folder) *upkeep {
	return &upkeep{
		Folder: f, ctx: ctx,
		began: map[string]time.Time{}, found: map[string][]string{}, saw: map[string]fileState{},
		watched: make(chan *Watcher), checked: make(chan rechecked),
	}
}

func (u *upkeep) run() {
	defer close(u.ended)
	defer func() {
		u.jobs.Wait()
		if u.files != nil {
			_ = u.files.Close() // nothing is lost with a watch
		}
	}()
	for {
		u.next()
		var changes <-chan Change // merged by the Watcher while nobody receives
		if u.files != nil && u.idle() {
			changes = u.files.Changes()
		}
		select {
		case <-u.ctx.Done():
			return
		case something := <-u.inbox:
			something(u)
		case r := <-u.checked:
			u.done(r)
		case u.files = <-u.watched:
			u.first = true
			u.cfg.Log.Debug("findings are checked again when files change", "folder", u.cfg.Dir)
		case ch, ok := <-changes:
			if !ok {
				u.files = nil // it ended by itself
				continue
			}
			u.changed(ch)
		}
	}
}

// idle reports whether changes may be handled.
func (u *upkeep) idle() bool { return u.asked == 0 && u.cancel == nil && len(u.stale) == 0 }

// ask starts a requested check as soon as no recheck runs.
func (u *upkeep) ask(free chan struct{}) {
	u.asked++
	if u.cancel == nil {
		close(free)
		return
	}
	u.cancel()
	u.waiting = append(u.waiting, free)
}

// end handles the outcome of a requested check.
func (u *upkeep) end(began time.Time, saw map[string]fileState, results []Result) {
	u.asked--
	for path, state := range saw {
		u.saw[path] = state
	}
	u.note(began, results...)
}

// note stores the outcome of checks.
func (u *upkeep) note(began time.Time, results ...Result) {
	for _, r := range results {
		if r.Superseded {
			continue
		}
		u.began[r.Root] = began
		switch r.Outcome {
		case Found:
			u.found[r.Root] = files(r.Findings)
			u.startWatch()
		case Clean:
			delete(u.found, r.Root)
		}
	}
}

// startWatch starts the watch of the folder, once.
func (u *upkeep) startWatch() {
	if u.watching || u.cfg.Report == nil {
		return
	}
	u.watching = true
	u.jobs.Go(func() {
		w, err := u.watch(u.cfg.Dir, WatchConfig{})
		if err != nil {
			u.cfg.Log.Warn("findings are not checked again when files change", "folder", u.cfg.Dir, "err", err)
			return
		}
		select {
		case u.watched <- w:
		case <-u.ctx.Done():
			_ = w.Close() // nothing is lost with a watch
		}
	})
}

// next starts the next recheck, if it is time for one.
func (u *upkeep) next() {
	if u.first && u.idle() {
		// Changes between the check and the start of the watch are not reported; at
		// least the files with findings are checked for such.
		u.first = false
		u.again(func(root string) bool {
			unseen := slices.DeleteFunc(slices.Clone(u.found[root]), u.wasSeen)
			return changedSince(unseen, u.began[root].Add(-coarse))
		})
	}
	for u.asked == 0 && u.cancel == nil && len(u.stale) > 0 {
		root := u.stale[0]
		if u.began[root].After(u.since) {
			u.stale = u.stale[1:] // checked meanwhile
			continue
		}
		ctx, cancel := context.WithCancel(u.ctx)
		u.cancel = cancel
		u.jobs.Go(func() {
			r := rechecked{root: root, began: time.Now()}
			r.result = u.cfg.Checker().Check(ctx, root)
			r.cancelled = ctx.Err() != nil
			select {
			case u.checked <- r:
			case <-u.ctx.Done():
			}
		})
	}
}

// done handles the outcome of a recheck and starts the checks that waited for its end.
func (u *upkeep) done(r rechecked) {
	u.cancel()
	u.cancel = nil
	if !r.cancelled {
		u.stale = u.stale[1:]
		u.note(r.began, r.result)
		u.cfg.Report(r.result) // before a newer check of the root can be shown
	}
	for _, free := range u.waiting {
		close(free)
	}
	u.waiting = nil
}

// changed finds the roots that a change makes stale. A file that is as the check of
// an edit read it has not changed: the watcher reports the edit itself, too.
func (u *upkeep) changed(ch Change) {
	if ch.Err != nil {
		u.cfg.Log.Warn("a part of the folder is not watched", "folder", u.cfg.Dir, "err", ch.Err)
	}
	ch.Paths = slices.DeleteFunc(ch.Paths, func(path string) bool {
		return u.wasSeen(path) || RunsInCheck(path) // nobody allowed to run it as it is now
	})
	affected := u.cfg.Checker().Affected(ch)
	u.again(func(root string) bool { return slices.Contains(affected, root) || ch.Affects(root) })
}

// hold forgets the findings of the roots that files belong to, which are rechecked no
// more.
func (u *upkeep) hold(edited []string) {
	isHeld := func(root string) bool {
		return slices.ContainsFunc(edited, func(path string) bool { return within(root, path) })
	}
	for root := range u.found {
		if isHeld(root) {
			delete(u.found, root)
		}
	}
	u.stale = slices.DeleteFunc(u.stale, isHeld)
}

// again schedules a recheck of the roots with findings that are stale.
func (u *upkeep) again(isStale func(root string) bool) {
	u.since = time.Now()
	for root := range u.found {
		if isStale(root) {
			u.stale = append(u.stale, root)
		}
	}
	slices.Sort(u.stale)
}

// wasSeen reports whether a file still is what the check of its last edit saw.
func (u *upkeep) wasSeen(path string) bool {
	saw, edited := u.saw[path]
	if !edited || !saw.known {
		return false
	}
	if stateOf(u.cfg.Dir, path) == saw {
		return true
	}
	delete(u.saw, path)
	return false
}

// files returns the files of findings, each once.
func files(findings []Finding) []string {
	out := []string{}
	for _, f := range findings {
		out = append(out, f.Path)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// coarse is by how much a file system's times may be behind the clock.
const coarse = 2 * time.Second

// changedSince reports whether one of the files was written or removed after a
// time.
func changedSince(paths []string, when time.Time) bool {
	return slices.ContainsFunc(paths, func(path string) bool {
		info, err := os.Lstat(path)
		return err != nil || info.ModTime().After(when)
	})
}
