package tools

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agent-lsp/agent-lsp/workspace"
)

const (
	searchMost    = 200    // matches that are shown unless the call says otherwise
	searchText    = 15_000 // bytes of a result, about a quarter of that in tokens
	searchLine    = 300    // characters of a line
	searchContext = 10     // lines around a match, at most
)

// searchTool is the tool search.
type searchTool struct{ e *Executor }

type searchArgs struct {
	Pattern string `json:"pattern" about:"regular expression (RE2), matched line by line; (?i) ignores case"`
	Path    string `json:"path,omitzero" about:"file or directory relative to the workspace root; the root when absent"`
	Glob    string `json:"glob,omitzero" about:"only files like this, e.g. *.go or src/**/*.{ts,tsx}"`
	Literal bool   `json:"literal,omitzero" about:"the pattern is plain text"`
	Context int    `json:"context,omitzero" about:"lines to show around each match, at most 10"`
	Max     int    `json:"max,omitzero" about:"matches to show, at most 200"`
}

func (searchTool) Definition() Definition {
	return Define[searchArgs]("search", "Search the texts of the workspace, unsaved ones as they are in the editor. Files that git ignores and binary ones are left out. Free: nobody is asked.", Read)
}

func (t searchTool) Decide(_ context.Context, c Call) Decision {
	op := Arguments[searchArgs](c)
	d := Decision{Title: "Search for " + clip(op.Pattern), Detail: op.Pattern, Effect: Read, Path: op.Path}
	if op.Path != "" {
		d.Title += " in " + op.Path
	}
	if op.Glob != "" {
		d.Title += " (" + op.Glob + ")"
	}
	return d
}

func (t searchTool) Run(ctx context.Context, c Call) Outcome {
	op := Arguments[searchArgs](c)
	re, err := searchPattern(op)
	if err != nil {
		return failed(err)
	}
	if op.Path == "" {
		op.Path = "."
	}
	at, err := t.e.find(op.Path)
	if err != nil {
		return failed(err)
	}
	files, err := t.e.files(ctx, at, op.Glob, "search")
	if err != nil {
		return failed(pathError(at, err))
	}
	s := searching{op: op, pattern: re, most: searchMost, room: t.e.room(searchText)}
	if op.Max > 0 {
		s.most = min(op.Max, searchMost)
	}
	for _, p := range files {
		if ctx.Err() != nil {
			return cancelled()
		}
		f, err := t.e.load(p, DefaultMaxFile)
		switch {
		case errors.Is(err, errTooBig):
			s.big++
		case err == nil && f.exists && strings.IndexByte(f.text, 0) < 0:
			s.file(workspace.Listed(p), strings.TrimPrefix(f.text, workspace.ByteOrderMark))
		}
	}
	return Outcome{State: Completed, Text: s.text()}
}

// searchPattern compiles what a call looks for; an error says what RE2 lacks.
func searchPattern(op searchArgs) (*regexp.Regexp, error) {
	text := op.Pattern
	if text == "" {
		return nil, errors.New("the pattern is empty: give the text or the regular expression to look for")
	}
	if op.Literal {
		text = regexp.QuoteMeta(text)
	}
	re, err := regexp.Compile(text)
	if err == nil {
		return re, nil
	}
	for _, around := range []string{"(?=", "(?!", "(?<=", "(?<!"} {
		if strings.Contains(text, around) {
			return nil, fmt.Errorf("the pattern has look-around (%s…), which RE2 lacks: search for what is always there and look at the lines", around)
		}
	}
	if regexp.MustCompile(`\\[1-9]`).MatchString(text) {
		return nil, errors.New(`the pattern has a back-reference (\1), which RE2 lacks: search for what is always there and look at the lines`)
	}
	return nil, fmt.Errorf("the pattern is no regular expression of RE2: %s; literal: true searches for plain text",
		strings.TrimPrefix(err.Error(), "error parsing regexp: "))
}

// files are the paths that a look is about, in order: those at or below a clean path,
// on the disk or in a buffer, without what git ignores, what a rule denies to read or
// to a tool, and what the glob, "" for any, is not about. A file that is named itself
// is always one.
func (e *Executor) files(ctx context.Context, at, glob string, tool Family) ([]string, error) {
	root := e.ws.Root()
	policy := e.policy()
	ignore := workspace.NewIgnore(func(p string) (string, bool) {
		f, err := e.load(p, DefaultMaxRead)
		return f.text, err == nil && f.exists
	})
	var out []string
	hidden := policy.otherNames(root)
	add := func(p string) {
		denied := func(f Family) bool {
			_, no := policy.denied(subject{family: f, paths: []string{p}})
			return no
		}
		if (glob == "" || workspace.Match(glob, p)) && !denied(FamilyRead) && !denied(tool) && !slices.Contains(hidden, p) {
			out = append(out, p)
		}
	}
	for _, p := range e.opened(at) {
		if p == at || !ignore.Skips(p, false) {
			add(p)
		}
	}
	err := fs.WalkDir(root.FS(), at, func(p string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return fs.SkipAll
		case err != nil && p == at:
			return err
		case err != nil:
			return nil // what may not be listed cannot be searched
		case p == at && !d.IsDir():
			out = out[:0]
			add(p)
			return nil
		case p != at && ignore.SkipsEntry(p, d.IsDir()):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.Type().IsRegular():
			add(p)
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) && len(out) > 0 {
		err = nil // it is in buffers only
	}
	slices.Sort(out)
	return slices.Compact(out), err
}

// opened are the paths of buffers at or below a clean path.
func (e *Executor) opened(at string) []string {
	o, ok := e.ws.(Opener)
	if !ok {
		return nil
	}
	return slices.DeleteFunc(o.Opened(), func(p string) bool {
		return at != "." && p != at && !strings.HasPrefix(p, at+"/")
	})
}

// searching is one search on its way.
type searching struct {
	op      searchArgs
	pattern *regexp.Regexp
	most    int
	room    int // bytes

	out      bytes.Buffer
	shown    int
	more, in int // matches that are not shown, and the files that have them
	big      int // files that are too long
	whole    bool
}

// file looks through one text.
func (s *searching) file(name, text string) {
	prefix, _ := s.pattern.LiteralPrefix()
	if prefix != "" && !strings.Contains(text, prefix) {
		return
	}
	lines := strings.Split(text, "\n")
	more, last := 0, -1
	for i, line := range lines {
		line = strings.TrimSuffix(line, "\r")
		if i == len(lines)-1 && line == "" || prefix != "" && !strings.Contains(line, prefix) || !s.pattern.MatchString(line) {
			continue
		}
		if s.whole || s.shown == s.most {
			more++
			continue
		}
		before := s.out.Len()
		last = s.show(name, lines, i, last)
		if s.out.Len() > s.room {
			s.out.Truncate(before)
			s.whole = true
			more++
			continue
		}
		s.shown++
	}
	if more > 0 {
		s.more += more
		s.in++
	}
}

// show writes a match with the lines around it, from behind the last line that
// was written of this file, and returns its own last one.
func (s *searching) show(name string, lines []string, at, last int) int {
	if last < 0 {
		if s.out.Len() > 0 {
			s.out.WriteByte('\n')
		}
		s.out.WriteString(name + "\n")
	}
	around := min(max(s.op.Context, 0), searchContext)
	from := max(at-around, last+1)
	if last >= 0 && from > last+1 && around > 0 {
		s.out.WriteString("--\n")
	}
	to := min(at+around, len(lines)-1)
	for i := min(from, at); i <= to; i++ {
		mark := byte('-')
		if i > at && s.pattern.MatchString(strings.TrimSuffix(lines[i], "\r")) {
			to = i - 1 // it is shown as a match of its own
			break
		}
		if i == len(lines)-1 && lines[i] == "" {
			break
		}
		if i == at {
			mark = ':'
		}
		fmt.Fprintf(&s.out, "%d%c %s\n", i+1, mark, searchShown(lines[i]))
	}
	return to
}

// searchShown is a line as it is shown.
func searchShown(line string) string {
	line = strings.ToValidUTF8(strings.TrimSuffix(line, "\r"), "\ufffd")
	if utf8.RuneCountInString(line) <= searchLine {
		return line
	}
	return string([]rune(line)[:searchLine]) + " [… line cut]"
}

// text is the result.
func (s *searching) text() string {
	text := s.out.String()
	if s.shown == 0 && s.more == 0 {
		where := "the workspace"
		if s.op.Path != "." {
			where = path.Clean(filepath.ToSlash(s.op.Path))
		}
		text = fmt.Sprintf("nothing in %s matches %s\n", where, quoted(s.op.Pattern))
	}
	if s.more > 0 {
		text += fmt.Sprintf("\n[%d more in %d files: narrow the pattern, the path or the glob]\n", s.more, s.in)
	}
	if s.big > 0 {
		text += fmt.Sprintf("[%d files over %d MB were not searched]\n", s.big, DefaultMaxFile>>20)
	}
	return strings.TrimSuffix(text, "\n")
}
