package diff

import "slices"

// forms returns the hunk's lines with each of the signs that its empty lines may have
// lost. The header's counts decide; without them an empty line between others is as
// its neighbours are, or context.
func (h *hunk) forms() [][]hunkLine {
	runs := h.bareRuns()
	if len(runs) == 0 {
		return [][]hunkLine{h.lines}
	}
	old, now, empty := 0, 0, 0
	for _, l := range h.lines {
		switch {
		case l.sign == bare:
			empty++
		case l.op != '+':
			old++
			fallthrough
		default:
			if l.op != '-' {
				now++
			}
		}
	}
	if h.oldCount >= 0 && (h.oldCount != old+empty || h.newCount != now+empty) {
		context := h.oldCount - old + h.newCount - now - empty
		gone, added := h.oldCount-old-context, h.newCount-now-context
		if context >= 0 && gone >= 0 && added >= 0 {
			if forms := h.signs(runs, func(run) string { return " -+" }, gone, added); len(forms) > 0 {
				return forms
			}
		}
	}
	if h.oldCount == old+empty && h.newCount == now+empty {
		return [][]hunkLine{h.lines}
	}
	return h.signs(runs, func(r run) string {
		switch {
		case r.above == '-' && r.below == '-':
			return " -"
		case r.above == '+' || r.below == '+':
			return " +"
		}
		return " "
	}, -1, -1)
}

// run is empty lines without a sign, [from, to), and the signs around them.
type run struct {
	from, to     int
	above, below byte
}

func (h *hunk) bareRuns() []run {
	var out []run
	for i := 0; i < len(h.lines); i++ {
		if h.lines[i].sign != bare {
			continue
		}
		r := run{from: i, to: i}
		for r.to < len(h.lines) && h.lines[r.to].sign == bare {
			r.to++
		}
		if r.from > 0 {
			r.above = h.lines[r.from-1].op
		}
		if r.to < len(h.lines) {
			r.below = h.lines[r.to].op
		}
		out = append(out, r)
		i = r.to
	}
	return out
}

// signs returns the lines with every choice of signs for the runs that has as many
// deleted and added lines as wanted, -1 for any. Too many choices are none.
func (h *hunk) signs(runs []run, options func(run) string, gone, added int) [][]hunkLine {
	const most = 256
	var out [][]hunkLine
	tried := 0
	var choose func(i int, lines []hunkLine, gone, added int)
	choose = func(i int, lines []hunkLine, left, right int) {
		if tried++; tried > 4*most || len(out) > most {
			return
		}
		if i == len(runs) {
			if (gone < 0 || left == 0) && (added < 0 || right == 0) {
				out = append(out, slices.Clone(lines))
			}
			return
		}
		r := runs[i]
		for _, op := range []byte(options(r)) {
			l, a := left, right
			switch op {
			case '-':
				l -= r.to - r.from
			case '+':
				a -= r.to - r.from
			}
			if gone >= 0 && l < 0 || added >= 0 && a < 0 {
				continue
			}
			for k := r.from; k < r.to; k++ {
				lines[k].op = op
			}
			choose(i+1, lines, l, a)
		}
	}
	choose(0, slices.Clone(h.lines), gone, added)
	if tried > 4*most || len(out) > most {
		return [][]hunkLine{h.lines}
	}
	return out
}
