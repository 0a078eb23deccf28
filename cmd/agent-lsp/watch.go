package main

import (
	"context"
	"maps"
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

	mu sync.Mutex // guards what follows
	// A check that nobody asked for waits until none is asked: those may have seen
	// the change that it is about, and are never cut off. One that is asked for ends
	// it and waits for its end. Either waits for turn.
	turn  sync.Cond
	asked int                  // checks that somebody asked for, waiting ones included
	yield context.CancelFunc   // ends the check that nobody asked for, nil when there is none
	begun map[string]time.Time // by root: when its last check began
	found map[string][]string  // roots with findings shown, and the files of these
	saw   map[string]fileState // edited files, as the last check of their edits saw them
}

// watching answers a folder's entry.
func (c *checks) watching(folder string) *watched {
	c.mu.Lock()
	defer c.mu.Unlock()
	if w := c.watched[folder]; w != nil {
		return w
	}
	w := &watched{
		checks: c, folder: folder,
		begun: map[string]time.Time{}, found: map[string][]string{}, saw: map[string]fileState{},
	}
	w.turn.L = &w.mu
	w.ctx, w.stop = context.WithCancel(context.Background())
	if c.watched == nil {
		c.watched = map[string]*watched{}
	}
	c.watched[folder] = w
	return w
}

// checking notes that a check begins that somebody asked for, after edits if there
// were any; what it answers is told the outcome.
func (w *watched) checking(edited ...string) func(...checker.Result) {
	w.mu.Lock()
	w.asked++
	for w.yield != nil {
		w.yield()
		w.turn.Wait()
	}
	w.mu.Unlock()
	begun := time.Now()
	saw := make(map[string]fileState, len(edited))
	for _, path := range edited {
		saw[path] = stateOf(w.folder, path)
	}
	return func(results ...checker.Result) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.asked--
		w.turn.Broadcast()
		maps.Copy(w.saw, saw)
		w.note(begun, results...)
	}
}

// note remembers the outcome of checks; the caller holds w.mu.
func (w *watched) note(begun time.Time, results ...checker.Result) {
	for _, r := range results {
		if r.Superseded {
			continue
		}
		w.begun[r.Root] = begun
		switch r.Outcome {
		case checker.Found:
			w.found[r.Root] = files(r.Findings)
		case checker.Clean:
			delete(w.found, r.Root)
		}
		if r.Outcome == checker.Found && w.ended == nil && w.checks.report != nil && w.ctx.Err() == nil {
			w.ended = make(chan struct{})
			go w.run()
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
	w.again(func(root string) bool {
		unseen := slices.DeleteFunc(slices.Clone(w.found[root]), w.wasSeen)
		return changedSince(unseen, w.begun[root].Add(-coarse))
	})
	w.checks.log.Debug("findings are checked again when files change", "folder", w.folder)
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

// changed checks the roots again that a change makes stale. What the check of an
// edit saw is none: the edit itself is told here as well.
func (w *watched) changed(ch checker.Change) {
	var affected []string
	first := true
	w.again(func(root string) bool {
		if first {
			first = false
			ch.Paths = slices.DeleteFunc(ch.Paths, w.wasSeen)
			affected = w.checks.of(w.folder).Affected(ch)
		}
		return slices.Contains(affected, root) || ch.Affects(root)
	})
}

// wasSeen reports whether a file still is what the check of its last edit saw; the
// caller holds w.mu.
func (w *watched) wasSeen(path string) bool {
	saw, edited := w.saw[path]
	if !edited || !saw.known {
		return false
	}
	if stateOf(w.folder, path) == saw {
		return true
	}
	delete(w.saw, path)
	return false
}

// again checks the roots with findings again that are stale. It is asked with w.mu
// held, when no check is under way.
func (w *watched) again(isStale func(root string) bool) {
	w.mu.Lock()
	w.waitForTurn()
	var stale []string
	for _, root := range slices.Sorted(maps.Keys(w.found)) {
		if isStale(root) {
			stale = append(stale, root)
		}
	}
	since := time.Now()
	w.mu.Unlock()
	for _, root := range stale {
		for w.ctx.Err() == nil && !w.recheck(root, since) {
		}
	}
}

// waitForTurn waits until no check is under way that somebody asked for, or the
// folder is closed; the caller holds w.mu.
func (w *watched) waitForTurn() {
	for w.asked > 0 && w.ctx.Err() == nil {
		w.turn.Wait()
	}
}

// recheck checks a root again and shows what came out, unless a check of it began
// after since. It answers false when it gave way to a check that somebody asked for.
func (w *watched) recheck(root string, since time.Time) (done bool) {
	ctx, cancel := context.WithCancel(w.ctx)
	defer cancel()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waitForTurn()
	if w.begun[root].After(since) {
		return true
	}
	w.yield = cancel
	w.mu.Unlock()
	begun := time.Now()
	r := w.checks.of(w.folder).Check(ctx, root)
	w.mu.Lock()
	if done = ctx.Err() == nil; done {
		w.note(begun, r)
		w.mu.Unlock()
		w.checks.report(w.folder, r) // before a newer check of the root can be shown
		w.mu.Lock()
	}
	w.yield = nil
	w.turn.Broadcast()
	return done
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

// close ends the watch and waits for its goroutine.
func (w *watched) close() {
	w.stop()
	w.mu.Lock()
	w.turn.Broadcast()
	ended := w.ended
	w.mu.Unlock()
	if ended != nil {
		<-ended
	}
}
