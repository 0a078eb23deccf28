package tools

import (
	"slices"

	"github.com/agent-lsp/agent-lsp/tools/diff"
)

// merge3 merges two edits of base, theirs and ours, line by line. It returns theirs
// with the changes of ours applied; every byte that ours did not change stays as
// theirs has it. Where both changed the same lines of base differently, or inserted
// different lines at one place, nothing is merged and clash lists the conflicts, as
// changes from base to theirs.
func merge3(base, theirs, ours string) (merged string, clash []change) {
	switch {
	case theirs == base:
		return ours, nil
	case ours == base:
		return theirs, nil
	}
	bl, tl, ol := diff.Split(base), diff.Split(theirs), diff.Split(ours)
	b, t, o := diff.Texts(bl), diff.Texts(tl), diff.Texts(ol)
	dt, do := diffLines(b, t), diffLines(b, o)
	var out []diff.Line
	at := 0    // the first line of theirs that is not copied yet
	shift := 0 // how far theirs is behind base up to here
	i := 0
	for _, d := range do {
		taken := false
		for ; i < len(dt) && before(dt[i], d); i++ {
			shift += (dt[i].newEnd - dt[i].newStart) - (dt[i].end - dt[i].start)
		}
		for j := i; j < len(dt) && !before(d, dt[j]); j++ {
			same := dt[j].start == d.start && dt[j].end == d.end &&
				slices.Equal(t[dt[j].newStart:dt[j].newEnd], o[d.newStart:d.newEnd])
			if !same {
				clash = append(clash, dt[j])
			}
			taken = same
		}
		if taken || len(clash) > 0 {
			continue
		}
		from, to := d.start+shift, d.end+shift
		out = append(out, tl[at:from]...)
		eol := diff.Ending(tl, from)
		for k, l := range ol[d.newStart:d.newEnd] {
			e := eol
			if p := from + k; p < to && tl[p].EOL != "" {
				e = tl[p].EOL
			}
			out = append(out, diff.Line{Text: l.Text, EOL: e})
		}
		at = to
	}
	if len(clash) > 0 {
		return "", clash
	}
	out = append(out, tl[at:]...)
	return diff.Join(diff.Close(out, lastEnding(bl, tl, ol))), nil
}

// before reports whether x changes only what stands before all that y changes.
// Two insertions at one place are in no order.
func before(x, y change) bool {
	if x.start == x.end && y.start == y.end {
		return x.start < y.start
	}
	return x.end <= y.start
}

// lastEnding merges how the last line is ended: ours where it differs from base.
func lastEnding(base, theirs, ours []diff.Line) string {
	last := func(l []diff.Line) string {
		if len(l) == 0 {
			return "\n"
		}
		return l[len(l)-1].EOL
	}
	if (last(ours) == "") != (last(base) == "") {
		return last(ours)
	}
	return last(theirs)
}
