package checker

import "strings"

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
}

// block is a piece of the tool's own text, with the finding that it stands for
// if it has one. The finding's paths are as the tool printed them until they are
// resolved.
type block struct {
	text    string
	finding *Finding
}

// parser reads one tool's output. Text that it does not understand becomes a
// block without a finding; only chatter is left out.
type parser func(output) report

func (r *report) add(text string, f *Finding) {
	r.blocks = append(r.blocks, block{text: text, finding: f})
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
