package checker

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// output is what a finished tool printed, made plain.
type output struct {
	stdout, stderr string
	code           int
}

// report is what a parser made of an output.
type report struct {
	blocks []block
	// broken says that the tool could not check, in its own words; the blocks do
	// not count then.
	broken string
	// partial says why the findings are not all there are, "" when they are.
	partial  string
	searched string // the PATH that lacks the tool
	also     bool   // a command beside the check's own found something
	group    string // of the blocks that are added next
	// more counts the blocks that were one too many, cut the lines that would have
	// made one too long; over says that the current block is of the former.
	more, cut int
	over      bool
}

// The bounds of a report, whatever a tool prints.
const (
	maxBlocks    = 10_000
	maxBlockText = 64 << 10
)

// block is a piece of the tool's own text, with the finding that it stands for
// if it has one. The finding's paths are as the tool printed them until they are
// resolved.
type block struct {
	text    string
	finding *Finding
	group   string // the package or crate that the tool was at
	// aside marks what is no error and not of the check command itself: it counts
	// only when it is new.
	aside bool
}

// parser reads one tool's output. Text that it does not understand becomes a
// block without a finding; only chatter is left out.
type parser func(output) report

func (r *report) add(text string, f *Finding) {
	if r.over = len(r.blocks) >= maxBlocks; r.over {
		r.more++
		return
	}
	r.blocks = append(r.blocks, block{text: text, finding: f, group: r.group})
}

// extend joins a continuation line to the last block and its finding's message.
func (r *report) extend(line string) { r.join(line, true) }

// frame joins a line to the last finding's text but not to its message; without
// one it stands alone.
func (r *report) frame(line string) {
	if !r.over && (len(r.blocks) == 0 || r.blocks[len(r.blocks)-1].finding == nil) {
		if strings.TrimSpace(line) != "" {
			r.add(line, nil)
		}
		return
	}
	r.join(line, false)
}

func (r *report) join(line string, message bool) {
	if r.over {
		return
	}
	if len(r.blocks) == 0 {
		r.add(line, nil)
		return
	}
	last := &r.blocks[len(r.blocks)-1]
	if len(last.text)+len(line) > maxBlockText {
		r.cut++
		return
	}
	last.text += "\n" + line
	if message && last.finding != nil {
		last.finding.Message += "\n" + strings.TrimSpace(line)
	}
}

// incomplete says what is missing of the report, "" when nothing is.
func (r *report) incomplete() string {
	var why []string
	if r.partial != "" {
		why = append(why, r.partial)
	}
	if r.more > 0 {
		why = append(why, fmt.Sprintf("%d more messages were left out", r.more))
	}
	if r.cut > 0 {
		why = append(why, fmt.Sprintf("%d lines of very long messages were left out", r.cut))
	}
	return strings.Join(why, "; ")
}

// sortGroups orders the blocks by their groups: a tool that works on packages in
// parallel prints them in any order. Within a group the order stays.
func (r *report) sortGroups() {
	slices.SortStableFunc(r.blocks, func(a, b block) int { return strings.Compare(a.group, b.group) })
}

func comparePlaces(a, b Finding) int {
	return cmp.Or(
		strings.Compare(a.Path, b.Path),
		cmp.Compare(a.Range.Start.Line, b.Range.Start.Line),
		cmp.Compare(a.Range.Start.Column, b.Range.Start.Column),
	)
}

// cannot adds the lines that say why the tool could not check, or not all. Next to
// findings they are shown; without any, the check failed.
func (r *report) cannot(lines []string) {
	why := strings.Join(lines, "\n")
	switch {
	case len(lines) == 0:
	case r.findings("") == 0:
		r.broken = why
	default:
		r.add(why, nil)
	}
}

// dropKnown leaves out the asides that were there before and returns the findings
// without theirs. Where nothing is known of before, an aside is new when it stands
// in an edited file.
func (r *report) dropKnown(before *baseline, edited []string, findings []Finding) []Finding {
	dropped := map[sameness]bool{}
	r.blocks = slices.DeleteFunc(r.blocks, func(b block) bool {
		known := b.aside && (before == nil && !slices.Contains(edited, b.finding.Path) || before != nil && before.counts[b.identity()] > 0)
		if known {
			dropped[b.identity()] = true
		} else if b.aside {
			r.also = true
		}
		return known
	})
	return slices.DeleteFunc(findings, func(f Finding) bool { return dropped[block{finding: &f}.identity()] })
}

// findings counts the blocks that have one of at least the severity.
func (r *report) findings(severity Severity) int {
	n := 0
	for _, b := range r.blocks {
		if b.finding != nil && (severity == "" || b.finding.Severity == severity) {
			n++
		}
	}
	return n
}

// text is the blocks as the tool printed them.
func (r *report) text() string {
	var b strings.Builder
	for _, block := range r.blocks {
		if strings.TrimSpace(block.text) == "" {
			continue
		}
		b.WriteString(strings.TrimRight(block.text, " \t\n"))
		b.WriteByte('\n')
	}
	return strings.TrimRight(b.String(), "\n")
}
