package checker

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-lsp/agent-lsp/workspace"
)

// notBuilt is the reason for a file that a tool skipped.
const notBuilt = "is not part of this build"

// unseen returns the files that a run should have read and did not, and stores them
// for a later check without edits.
func (c *Checker) unseen(j job, p plan) []Unseen {
	var all []Unseen
	var left []string
	for _, path := range c.asked(j) {
		why := c.whyUnseen(j, p, path)
		if why == "" {
			continue
		}
		left = append(left, path)
		if len(j.edited) == 0 || slices.Contains(j.edited, path) {
			all = append(all, Unseen{Path: path, Reason: why})
		}
	}
	c.mu.Lock()
	c.roots[rootKey{j.root, j.tc.Ecosystem}].unseen = left
	c.mu.Unlock()
	if p.stale != nil {
		all = append(all, p.stale(j.edited)...)
	}
	return all
}

func isUnseen(unseen []Unseen, path string) bool {
	return slices.ContainsFunc(unseen, func(u Unseen) bool { return u.Path == path })
}

// asked returns the files that a check should read: those edited now, and those of
// earlier edits that no check has read yet.
func (c *Checker) asked(j job) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	asked := slices.Concat(j.edited, c.roots[rootKey{j.root, j.tc.Ecosystem}].unseen)
	slices.Sort(asked)
	return slices.Compact(asked)
}

// whyUnseen returns why a run did not read a file, "" also for a file that is no
// source of the ecosystem or no longer exists.
func (c *Checker) whyUnseen(j job, p plan, path string) string {
	if slices.Contains(p.outside, path) {
		return "is in no module that is built here"
	}
	e := ecosystemOf(j.tc.Ecosystem)
	if p.unseen == nil || !slices.Contains(slices.Concat(e.sources, e.looks), strings.ToLower(filepath.Ext(path))) {
		return ""
	}
	if _, open := j.unsaved[path]; !open && !isFile(path) {
		return ""
	}
	return p.unseen(path)
}

// notLookedAt names unseen files, of many the first ones.
func notLookedAt(root string, unseen []Unseen) string {
	const shown = 5
	var list []string
	for _, u := range unseen[:min(len(unseen), shown)] {
		list = append(list, workspace.Listed(workspace.Relative(root, u.Path))+" "+u.Reason)
	}
	if more := len(unseen) - shown; more > 0 {
		list = append(list, fmt.Sprintf("%d more", more))
	}
	return "not looked at: " + strings.Join(list, ", ")
}

// fileSet is a set of files, as a tool spells them.
type fileSet map[string]bool

// has reports whether a file is in the set, by whatever name.
func (s fileSet) has(path string) bool {
	if s[path] {
		return true
	}
	real := workspace.RealPath(path)
	if s[real] {
		return true
	}
	for name := range s {
		if filepath.Base(name) == filepath.Base(path) && workspace.RealPath(name) == real {
			return true
		}
	}
	return false
}

// below reports whether a file of the set lies in a directory.
func (s fileSet) below(dir string) bool {
	real := workspace.RealPath(dir)
	for name := range s {
		if within(dir, name) || within(real, name) {
			return true
		}
	}
	return false
}

// whyNot returns notBuilt for a file that is not in the set.
func (s fileSet) whyNot(path string) string {
	if s.has(path) {
		return ""
	}
	return notBuilt
}
