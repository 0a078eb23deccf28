package checker

import (
	"cmp"
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
	partial string
	group   string // of the blocks that are added next
}

// block is a piece of the tool's own text, with the finding that it stands for
// if it has one. The finding's paths are as the tool printed them until they are
// resolved.
type block struct {
	text    string
	finding *Finding
	group   string // the package or crate that the tool was at
}

// parser reads one tool's output. Text that it does not understand becomes a
// block without a finding; only chatter is left out.
type parser func(output) report

func (r *report) add(text string, f *Finding) {
	r.blocks = append(r.blocks, block{text: text, finding: f, group: r.group})
}

// extend joins a continuation line to the last block.
func (r *report) extend(line string) {
	if len(r.blocks) == 0 {
		r.add(line, nil)
		return
	}
	last := &r.blocks[len(r.blocks)-1]
	last.text += "\n" + line
	if last.finding != nil {
		last.finding.Message += "\n" + strings.TrimSpace(line)
	}
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
