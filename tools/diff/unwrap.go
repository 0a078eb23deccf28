package diff

import (
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
)

var (
	heredoc   = regexp.MustCompile(`<<-?\s*["']?([A-Za-z_][A-Za-z0-9_]*)["']?\s*$`)
	classic   = regexp.MustCompile(`^\d+(,\d+)?[acd]\d+(,\d+)?$`)
	quote     = regexp.MustCompile(`^(?:> ?|[ \t]+)`)
	searching = regexp.MustCompile(`^<{5,9}( (SEARCH|ORIGINAL|OLD|BEFORE))?$`)
	starts    = []string{"@@", "diff --git ", "*** Begin Patch", "*** Update File:", "*** Add File:", "*** Delete File:"}
)

// unescape reads the escapes of a JSON string in a text that was escaped once too
// often.
var unescape = strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\t`, "\t", `\r`, "\r", `\"`, `"`)

// unwrapped is a diff without what stood around it.
type unwrapped struct {
	lines  []string
	notes  []string
	blocks []block // an edit as JSON in place of a diff
}

// block is an old text and the new one for its place.
type block struct{ old, now string }

// unwrap takes off what models put around a diff: JSON, fences, shell commands, prose.
func unwrap(text string) unwrapped {
	if u, ok := fromJSON(text); ok {
		return u
	}
	var u unwrapped
	if t := strings.TrimSpace(text); !strings.Contains(t, "\n") && strings.Contains(t, `\n`) {
		text = unescape.Replace(t)
		u.notes = append(u.notes, "its line breaks were escaped")
	}
	u.lines = Texts(Split(text))
	u.unquote()
	u.unfence()
	u.cutProse()
	return u
}

// fromJSON reads arguments of a tool that were given as the diff itself.
func fromJSON(text string) (unwrapped, bool) {
	t := strings.TrimSpace(text)
	if !strings.HasPrefix(t, "{") {
		return unwrapped{}, false
	}
	var args struct {
		Diff  *string `json:"diff"`
		Patch *string `json:"patch"`
		Input *string `json:"input"`
		Old   *string `json:"old_string"`
		New   *string `json:"new_string"`
		Old2  *string `json:"old"`
		New2  *string `json:"new"`
	}
	if json.Unmarshal([]byte(t), &args) != nil {
		return unwrapped{}, false
	}
	for _, inner := range []*string{args.Diff, args.Patch, args.Input} {
		if inner != nil && !strings.HasPrefix(strings.TrimSpace(*inner), "{") {
			u := unwrap(*inner)
			u.notes = append(u.notes, "it was JSON with the diff in it")
			return u, true
		}
	}
	if args.Old == nil {
		args.Old, args.New = args.Old2, args.New2
	}
	if args.Old == nil || args.New == nil {
		return unwrapped{}, false
	}
	return unwrapped{blocks: []block{{*args.Old, *args.New}}, notes: []string{"it was JSON with an old and a new text"}}, true
}

// unquote takes off what each line begins with, a mail's > or an indentation, where only
// then the lines are those of a diff.
func (u *unwrapped) unquote() {
	if u.structure(u.lines) >= 0 {
		return
	}
	prefix, first := "", true
	for _, s := range u.lines {
		if blank(s) || trimEnd(s) == ">" {
			continue
		}
		own := quote.FindString(s)
		if first {
			prefix, first = own, false
		}
		for !strings.HasPrefix(own, prefix) {
			prefix = prefix[:len(prefix)-1]
		}
	}
	if prefix == "" {
		return
	}
	lines := each(u.lines, func(s string) string {
		if rest, ok := strings.CutPrefix(s, prefix); ok {
			return rest
		}
		return ""
	})
	if u.structure(lines) >= 0 {
		u.lines = lines
		u.notes = append(u.notes, "each of its lines was quoted or indented")
	}
}

// isFence reports a line that opens or closes a fenced block.
func isFence(s string) bool { return strings.HasPrefix(s, "```") || strings.HasPrefix(s, "~~~") }

// unfence keeps what stands in fences when the diff does. A fence that the diff's own
// lines come before is part of them.
func (u *unwrapped) unfence() {
	first := slices.IndexFunc(u.lines, isFence)
	if first < 0 {
		return
	}
	if u.structure(u.lines[:first]) >= 0 || slices.ContainsFunc(u.lines[:first], isSigned) && !slices.ContainsFunc(u.lines[first:], isSigned) {
		last := len(u.lines) - 1
		for last > 0 && blank(u.lines[last]) {
			last--
		}
		if first == last { // the opening one was lost
			u.lines = u.lines[:last]
			u.notes = append(u.notes, "a fence stood behind it")
		}
		return
	}
	var kept []string
	inside, from := false, 0
	for i, s := range u.lines {
		switch {
		case !inside && isFence(s):
			inside, from = true, i+1
		case inside && isFence(s) && blank(strings.Trim(s, "`~")):
			inside = false
			kept = append(kept, u.diffLines(u.lines[from:i])...)
		}
	}
	if inside {
		kept = append(kept, u.diffLines(u.lines[from:])...)
	}
	if len(kept) > 0 {
		u.lines = kept
		u.notes = append(u.notes, "it stood in a fence")
	}
}

// diffLines returns the lines of a fenced block if they are of a diff.
func (u *unwrapped) diffLines(lines []string) []string {
	if u.structure(lines) < 0 && !slices.ContainsFunc(lines, isSigned) {
		return nil
	}
	return lines
}

func isSigned(s string) bool { return s != "" && (s[0] == '+' || s[0] == '-') }

// structure returns the index of the first line that only a diff has, -1 for none.
func (u *unwrapped) structure(lines []string) int {
	for i, s := range lines {
		if slices.ContainsFunc(starts, func(p string) bool { return strings.HasPrefix(s, p) }) ||
			searching.MatchString(s) || classic.MatchString(s) {
			return i
		}
		if named := strings.HasPrefix(s, "--- ") || strings.HasPrefix(s, "+++ ") || strings.HasPrefix(s, "*** "); !named || i+1 == len(lines) {
			continue
		}
		for _, next := range []string{"--- ", "+++ ", "@@", "***************"} {
			if strings.HasPrefix(lines[i+1], next) {
				return i
			}
		}
		if isSigned(lines[i+1]) || strings.HasPrefix(lines[i+1], " ") {
			return i
		}
	}
	return -1
}

// cutProse takes off what comes before the diff, and the end of the shell command
// that it was the input of.
func (u *unwrapped) cutProse() {
	first := u.structure(u.lines)
	if first <= 0 {
		return
	}
	prose := u.lines[:first]
	u.lines = u.lines[first:]
	if slices.ContainsFunc(prose, func(s string) bool { return !blank(s) }) {
		u.notes = append(u.notes, "other text stood before it")
	}
	for _, s := range prose {
		m := heredoc.FindStringSubmatch(s)
		if m == nil {
			continue
		}
		for i, l := range slices.Backward(u.lines) {
			if strings.TrimSpace(l) == m[1] {
				u.lines = u.lines[:i]
				return
			}
		}
	}
}
