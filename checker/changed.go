package checker

import (
	"os"
	"slices"
	"strings"
	"time"
)

// changedMeanwhile lists the edited files and those with findings whose text, on the
// disk or in an editor, is another one than when the run began.
func (c *Checker) changedMeanwhile(j job, p plan, rep *report, began time.Time) []string {
	paths := slices.Clone(j.edited)
	base := p.base
	if base == "" {
		base = p.dir
	}
	for _, b := range rep.blocks {
		if b.finding != nil {
			path, _ := newPlaces(j.workspace).resolve(base, b.finding.Path)
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	now := c.cfg.unsaved(j.root)
	return slices.DeleteFunc(slices.Compact(paths), func(path string) bool {
		was, had := j.unsaved[path]
		is, has := now[path]
		if had && has {
			return was == is
		}
		info, err := os.Stat(path)
		return err != nil || !info.ModTime().After(began)
	})
}

// changedNote returns the note on files that changed during a run.
func changedNote(root string, paths []string) string {
	shown := strings.TrimSuffix(strings.TrimSuffix(names(root, paths), " is"), " are")
	return shown + " changed while it was checked, so this may be of an older text"
}
