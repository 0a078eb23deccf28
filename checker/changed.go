package checker

import (
	"os"
	"slices"
	"strings"
	"time"
)

// infoOf looks at files before a run, for changedMeanwhile to compare: a kernel stamps
// files by the last tick of its timer, so their times alone can be before the run's
// beginning. A file that cannot be looked at has no entry.
func infoOf(paths []string) map[string]os.FileInfo {
	infos := map[string]os.FileInfo{}
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil {
			infos[path] = info
		}
	}
	return infos
}

// changedMeanwhile lists the edited files and those with findings whose text, on the
// disk or in an editor, is another one than when the run began; before is what
// infoOf returned of the edited files then.
func (c *Checker) changedMeanwhile(j job, p plan, rep *report, began time.Time, before map[string]os.FileInfo) []string {
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
		if old := before[path]; err == nil && old != nil {
			return os.SameFile(old, info) && old.Size() == info.Size() && old.ModTime().Equal(info.ModTime())
		}
		return err != nil || !info.ModTime().After(began)
	})
}

// changedNote returns the note on files that changed during a run.
func changedNote(root string, paths []string) string {
	shown := strings.TrimSuffix(strings.TrimSuffix(names(root, paths), " is"), " are")
	return shown + " changed while it was checked, so this may be of an older text"
}
