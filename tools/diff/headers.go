package diff

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"
)

const devNull = "/dev/null"

// names begins a file whose name before and after are given; "" for one that is not.
// A second pair for the same file goes on with it.
func (p *parser) names(old, now string) error {
	old, now = headerPath(old), headerPath(now)
	p.closeHunk()
	if f := p.file; f != nil && len(f.hunks) > 0 {
		if f.Kind == Update && f.Old == old && f.New == now {
			return nil
		}
		if err := p.closeFile(); err != nil {
			return err
		}
	}
	f := p.open()
	if f.Moved {
		return nil // git said the names without prefixes
	}
	f.Old, f.New = old, now
	switch {
	case old == devNull:
		f.Kind, f.Old = Add, ""
	case now == devNull:
		f.Kind, f.New = Delete, ""
	}
	return nil
}

// gitFile begins a file by git's own header line.
func (p *parser) gitFile(s string) error {
	if p.cur != nil || p.file != nil && (p.file.Kind != Update || p.file.Moved) {
		if err := p.closeFile(); err != nil {
			return err
		}
	}
	if rest, ok := strings.CutPrefix(s, "diff --git "); ok {
		if old, now, ok := strings.Cut(rest, " b/"); ok {
			f := p.open()
			f.Old, f.New = old, "b/"+now
		}
	}
	return nil
}

// gitLine reads a line of git's between its header and the hunks; false when it is
// none.
func (p *parser) gitLine(s string) (bool, error) {
	after := func(prefix string) (string, bool) {
		name, ok := strings.CutPrefix(s, prefix)
		return headerPath(name), ok
	}
	if strings.HasPrefix(s, "copy from ") || strings.HasPrefix(s, "copy to ") {
		return true, fmt.Errorf("the diff says %q; a copy is a new file with the whole text", s)
	}
	if strings.HasPrefix(s, "new file mode ") {
		p.open().Kind, p.open().Old = Add, ""
		return true, nil
	}
	if strings.HasPrefix(s, "deleted file mode ") {
		p.open().Kind, p.open().New = Delete, ""
		return true, nil
	}
	if name, ok := after("rename from "); ok {
		p.open().Old, p.open().Moved, p.open().Exact = name, true, true
		return true, nil
	}
	if name, ok := after("rename to "); ok {
		p.open().New, p.open().Moved, p.open().Exact = name, true, true
		return true, nil
	}
	return false, nil
}

// headerPath returns the file name in a header line: before a tab comes the name,
// after it a time; git quotes unusual names.
func headerPath(s string) string {
	s, _, _ = strings.Cut(s, "\t")
	s = strings.TrimSpace(s)
	if u, err := strconv.Unquote(s); err == nil && strings.HasPrefix(s, `"`) {
		return u
	}
	return s
}

// envelopeLine parses a marker of the form between "*** Begin Patch" and "*** End
// Patch".
func (p *parser) envelopeLine(s string) error {
	keyword, arg, _ := strings.Cut(strings.TrimPrefix(s, "*** "), ":")
	arg = strings.TrimSpace(arg)
	switch strings.TrimSpace(keyword) {
	case "Begin Patch":
		p.envelope = true
		return p.closeFile()
	case "End Patch":
		p.envelope = true
		if err := p.closeFile(); err != nil {
			return err
		}
		for p.at+1 < len(p.lines) && !strings.HasPrefix(p.lines[p.at+1], "*** ") {
			p.at++ // what stands behind is none of it
		}
	case "End of File":
		if p.cur != nil {
			p.cur.atEnd = true
		}
	case "Update File", "Add File", "Delete File":
		if err := p.closeFile(); err != nil {
			return err
		}
		p.envelope = true
		p.file = &File{Old: arg, New: arg, Exact: true}
		switch keyword {
		case "Add File":
			p.file.Kind, p.file.Old, p.added = Add, "", new([]string)
		case "Delete File":
			p.file.Kind, p.file.New = Delete, ""
		}
	case "Move to":
		if p.file == nil {
			return fmt.Errorf("the diff says %q without a file that is to be moved", s)
		}
		p.file.New, p.file.Moved = arg, true
	default:
		return p.body(s)
	}
	return nil
}

// addedLines returns the lines of a new file, each with a + before it, or none.
func addedLines(lines []string) ([]hunkLine, error) {
	plus := 0
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	for _, s := range lines {
		if strings.HasPrefix(s, "+") {
			plus++
		}
	}
	var out []hunkLine
	for i, s := range lines {
		rest, ok := strings.CutPrefix(s, "+")
		switch {
		case ok, plus == 0:
		case s == "":
			rest = ""
		case noNewline.MatchString(s) && i > 0:
			out[i-1].open = true
			continue
		default:
			return nil, fmt.Errorf("line %d (%s) has no + before it", i+1, strconv.Quote(shorten(s, 60)))
		}
		out = append(out, hunkLine{op: '+', text: rest})
	}
	if len(out) == 0 {
		return nil, errors.New("it has no text")
	}
	return out, nil
}

var (
	remark      = regexp.MustCompile(`\s+(\(.*\)|\[.*\])$`)
	placeholder = regexp.MustCompile(`(?i)^(a|b|old|new|original|modified|updated|before|after|current|previous|file|(old|new|original|modified|updated|current)[ _.-]?(file|version|text|code)?)$`)
	prefixed    = regexp.MustCompile(`^(?:[abciwo12]|old|new|orig|original)/`)
)

// IsFor reports whether a name in a diff means the file at path, a clean path. The
// name may have a prefix or a remark, be the base name alone, or be none at all.
func IsFor(name, file string) bool {
	if strings.ContainsFunc(name, func(r rune) bool { return r < ' ' }) {
		return false
	}
	name = remark.ReplaceAllString(name, "")
	if name == "" || name == file || placeholder.MatchString(name) && path.Ext(name) == "" {
		return true
	}
	if strings.HasPrefix(name, "/") || strings.Contains(name, "..") {
		return false
	}
	for _, n := range []string{name, strings.ReplaceAll(name, `\`, "/")} {
		for _, n := range []string{n, prefixed.ReplaceAllString(n, "")} {
			if n = path.Clean(n); n == file || n == path.Base(file) {
				return true
			}
		}
	}
	return false
}

// Names returns the paths that a name in a diff may mean, the likeliest first.
func Names(name string) []string {
	name = remark.ReplaceAllString(name, "")
	if name == "" || placeholder.MatchString(name) {
		return nil
	}
	if short := prefixed.ReplaceAllString(name, ""); short != name {
		return []string{short, name}
	}
	return []string{name}
}
