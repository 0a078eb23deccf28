package main

import (
	"context"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/agent-lsp/agent-lsp/checker"
)

// watched is a workspace folder whose findings must not go stale: while any are
// shown, a change of its files by whatever hand has their roots checked again.
type watched struct {
	checks *checks
	folder string
	ctx    context.Context
	stop   context.CancelFunc
	ended  chan struct{} // closed when the goroutine has ended; nil before it starts

	// quiet is held for reading by checks that somebody asked for: checking again
	// because of the very edit that is being checked would cut that check off.
	quiet sync.RWMutex

	mu    sync.Mutex           // guards what follows
	since map[string]time.Time // by root: when its last check began
	found map[string][]string  // roots with findings shown, and the files of these
}

// watching answers a folder's entry.
func (c *checks) watching(folder string) *watched {
	c.mu.Lock()
	defer c.mu.Unlock()
	if w := c.watched[folder]; w != nil {
		return w
	}
	w := &watched{checks: c, folder: folder, since: map[string]time.Time{}, found: map[string][]string{}}
	w.ctx, w.stop = context.WithCancel(context.Background())
	if c.watched == nil {
		c.watched = map[string]*watched{}
	}
	c.watched[folder] = w
	return w
}

// checking notes that a check begins; what it answers is told the outcome.
func (w *watched) checking() func(...checker.Result) {
	w.quiet.RLock()
	begun := time.Now()
	return func(results ...checker.Result) {
		w.quiet.RUnlock()
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, r := range results {
			if r.Superseded {
				continue
			}
			w.since[r.Root] = begun
			switch r.Outcome {
			case checker.Found:
				w.found[r.Root] = files(r.Findings)
			case checker.Clean:
				delete(w.found, r.Root)
			}
			if r.Outcome == checker.Found && w.ended == nil && w.checks.recheck != nil && w.ctx.Err() == nil {
				w.ended = make(chan struct{})
				go w.run()
			}
		}
	}
}

// run checks again until the folder is closed.
func (w *watched) run() {
	defer close(w.ended)
	files, err := checker.Watch(w.folder, checker.WatchConfig{})
	if err != nil {
		w.checks.log.Warn("findings are not checked again when files change", "folder", w.folder, "err", err)
		return
	}
	defer files.Close() //nolint:errcheck // nothing is lost with a watch
	// What was written between the check and the beginning of the watch is not
	// told; at least the files with findings are looked at.
	w.again(func(root string) (time.Time, bool) {
		at := changedAt(checker.Change{Paths: w.found[root]})
		return at, len(w.found[root]) > 0
	})
	for {
		select {
		case <-w.ctx.Done():
			return
		case ch, ok := <-files.Changes():
			if !ok {
				return
			}
			if ch.Err != nil {
				w.checks.log.Warn("a part of the folder is not watched", "folder", w.folder, "err", ch.Err)
			}
			w.changed(ch)
		}
	}
}

// changed checks the roots again that a change makes stale.
func (w *watched) changed(ch checker.Change) {
	at := changedAt(ch)
	affected := w.checks.of(w.folder).Affected(ch)
	w.again(func(root string) (time.Time, bool) {
		return at, slices.Contains(affected, root) || ch.Affects(root)
	})
}

// again checks the roots with findings that were changed after their last check
// began. It waits for the checks under way, and calls changed with mu held.
func (w *watched) again(changed func(root string) (at time.Time, ok bool)) {
	w.quiet.Lock()
	var stale []string
	w.mu.Lock()
	for root := range w.found {
		if at, ok := changed(root); ok && !w.since[root].After(at) {
			stale = append(stale, root)
		}
	}
	w.mu.Unlock()
	w.quiet.Unlock()
	slices.Sort(stale)
	for _, root := range stale {
		if w.ctx.Err() == nil {
			w.checks.recheck(w.ctx, w.folder, root)
		}
	}
}

// files are those that findings are about, each once.
func files(findings []checker.Finding) []string {
	out := []string{}
	for _, f := range findings {
		out = append(out, f.Path)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// changedAt is when the newest of the changed files was written. For one that is
// gone, and for changes that were lost count of, it is now.
func changedAt(ch checker.Change) time.Time {
	var newest time.Time
	for _, path := range ch.Paths {
		info, err := os.Lstat(path)
		if err != nil {
			return time.Now()
		}
		if info.ModTime().After(newest) {
			newest = info.ModTime()
		}
	}
	if ch.Everything || newest.IsZero() {
		return time.Now()
	}
	return newest
}

// close ends the watch and waits for its goroutine.
func (w *watched) close() {
	w.stop()
	w.mu.Lock()
	ended := w.ended
	w.mu.Unlock()
	if ended != nil {
		<-ended
	}
}
