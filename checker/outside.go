package checker

import (
	"path/filepath"
	"regexp"
	"strings"

	"github.com/agent-lsp/agent-lsp/workspace"
)

// Compilers show the source of what they complain about, also where that is a file
// outside the workspace, which a source file can include: what the model may not read
// must not come to it this way.

var (
	// placeLine names a file and a line in it: the place of a finding, or of what is
	// shown below.
	placeLine = regexp.MustCompile(`^\s*(?:(?:-->|:::|at|from|In file included from)\s+)?(?:file://)?((?:[A-Za-z]:[/\\])?[^\s:"'` + "`" + `][^:"'` + "`" + `]*):\d+`)
	// sourceLine is a line of a file with its number, or what is drawn below it.
	sourceLine = regexp.MustCompile(`^\s*\d*\s*\|`)
)

// withoutOutside takes the source lines of files outside the workspace out of what a
// tool said; names that are not absolute are below base.
func (r *report) withoutOutside(base, root string) {
	root = workspace.RealPath(root)
	outside := func(name string) bool {
		if !filepath.IsAbs(name) {
			name = filepath.Join(base, name)
		}
		_, in := workspace.Below(root, workspace.RealPath(name))
		return !in
	}
	for i := range r.blocks {
		b := &r.blocks[i]
		if strings.Contains(b.text, "\n") {
			b.text = sourceInside(b.text, outside, b.finding != nil && b.finding.Path != "" && outside(b.finding.Path))
		}
	}
}

// sourceInside is a text without the source lines of files that are outside. Whole says that
// the text is about such a file, so that only its first line and places are known to be
// none of its source.
func sourceInside(text string, outside func(string) bool, whole bool) string {
	lines := strings.Split(text, "\n")
	kept, hide := lines[:0:0], whole
	for i, line := range lines {
		m := placeLine.FindStringSubmatch(line)
		source := m == nil && sourceLine.MatchString(line)
		if m != nil && !sourceLine.MatchString(line) {
			hide = outside(m[1])
		}
		if i > 0 && (source && hide || whole && m == nil) {
			continue
		}
		kept = append(kept, line)
	}
	if len(kept) < len(lines) {
		kept = append(kept, "(source lines of files outside the workspace are left out)")
	}
	return strings.Join(kept, "\n")
}
