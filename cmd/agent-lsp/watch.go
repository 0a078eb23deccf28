package main

import (
	"context"
	"os"
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
	found map[string]bool      // roots with findings shown
}

// watching answers a folder's entry.
func (c *checks) watching(folder string) *watched {
	c.mu.Lock()
	defer c.mu.Unlock()
	if w := c.watched[folder]; w != nil {
		return w
	}
	w := &watched{checks: c, folder: folder, since: map[string]time.Time{}, found: map[string]bool{}}
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
			if r.Outcome == checker.Found || r.Outcome == checker.Clean {
				w.found[r.Root] = r.Outcome == checker.Found
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
	w.quiet.Lock() // after the checks under way
	var stale []string
	w.mu.Lock()
	for _, root := range w.checks.of(w.folder).Affected(ch) {
		if w.found[root] && !w.since[root].After(at) {
			stale = append(stale, root)
		}
	}
	w.mu.Unlock()
	w.quiet.Unlock()
	for _, root := range stale {
		if w.ctx.Err() == nil {
			w.checks.recheck(w.ctx, w.folder, root)
		}
	}
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
