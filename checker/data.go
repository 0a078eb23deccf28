package checker

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/BurntSushi/toml"
	"github.com/agent-lsp/agent-lsp/workspace"
	"github.com/go-json-experiment/json/jsontext"
	yaml "github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Data names no kind of project but the files that are parsed after an edit
// whatever project they are in: JSON, YAML, TOML and notebooks.
const Data = "data"

// dataParsers are by extension. Each returns where and why a text is invalid; it sees the file's name with slashes.
var dataParsers = map[string]func(name, text string) (Position, error){
	".json": parseJSON, ".jsonc": parseJSON, ".code-workspace": parseJSON, ".ipynb": parseJSON,
	".yaml": parseYAML, ".yml": parseYAML, ".toml": parseTOML,
}

// maxData bounds the files that are parsed.
const maxData = 4 << 20

// data parses the edited files that need no project, and those that did not parse
// before: a result for each that does not now, or did not then.
func (c *Checker) data(folder string, edited []string) []Result {
	c.mu.Lock()
	asked := slices.Concat(edited, slices.Collect(maps.Keys(c.unparsed)))
	c.mu.Unlock()
	asked = slices.DeleteFunc(asked, func(path string) bool {
		return dataParsers[strings.ToLower(filepath.Ext(path))] == nil || !within(folder, path)
	})
	if len(asked) == 0 {
		return nil
	}
	slices.Sort(asked)
	unsaved := c.cfg.unsaved(folder)
	var results []Result
	for _, path := range slices.Compact(asked) {
		if r, was := c.datum(folder, path, unsaved); r.Outcome == Found || was {
			results = append(results, r)
		}
	}
	return results
}

// datum parses one file, which is the root of its result; was reports whether it
// did not parse the last time.
func (c *Checker) datum(folder, path string, unsaved map[string]string) (r Result, was bool) {
	r = Result{Outcome: Clean, Root: path, Ecosystem: Data, New: -1, Began: time.Now(), Unsaved: unsaved, Command: []string{"parse", workspace.Relative(folder, path)}}
	f, bad := parseData(folder, path, unsaved)
	if bad {
		r.Outcome, r.Findings = Found, []Finding{f}
		r.Text = headAndTail(fmt.Sprintf("After this edit, which was applied, %s cannot be parsed:\n%s:%d:%d: %s", filepath.Base(path),
			workspace.Relative(folder, path), f.Range.Start.Line, f.Range.Start.Column, f.Message), c.cfg.cap())
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	was = c.unparsed[path]
	delete(c.unparsed, path)
	if bad {
		c.unparsed[path] = true
	}
	return r, was
}

// parseData parses one file; bad reports whether it is none of its kind. What
// cannot be read, and what a template engine makes YAML of only later, is not.
func parseData(folder, path string, unsaved map[string]string) (f Finding, bad bool) {
	parse := dataParsers[strings.ToLower(filepath.Ext(path))]
	if parse == nil {
		return f, false
	}
	text, open := unsaved[path]
	if !open {
		disk, err := readText(path)
		if err != nil || len(disk) > maxData {
			return f, false
		}
		text = string(disk)
	}
	at, err := parse(workspace.Relative(folder, path), strings.TrimPrefix(text, workspace.ByteOrderMark))
	if err == nil {
		return f, false
	}
	message, _, _ := strings.Cut(err.Error(), "\n")
	return Finding{Path: path, Range: Range{Start: at}, Unit: Runes, Severity: Error, Message: message, Tool: "parser"}, true
}

// commented reports whether a JSON file is one that its readers allow comments and
// trailing commas in.
func commented(name string) bool {
	base, dir := path.Base(name), path.Base(path.Dir(name))
	for _, pattern := range []string{"*.jsonc", "*.code-workspace", "tsconfig*.json", "jsconfig*.json", "*.tsconfig.json", ".*rc.json", "devcontainer.json", "deno.json", "api-extractor.json", "tslint.json", "language-configuration.json"} {
		if fits, err := path.Match(pattern, base); err == nil && fits {
			return true
		}
	}
	return dir == ".vscode" || dir == ".devcontainer"
}

func parseJSON(name, text string) (Position, error) {
	at, err := strictJSON(text)
	plain := string(withoutComments([]byte(text)))
	if err == nil || plain == text {
		return at, err
	}
	// A file with comments has a reader that accepts them.
	if _, still := strictJSON(plain); still == nil && (commented(name) || hasComment(text)) {
		return Position{}, nil
	}
	return at, err
}

// hasComment reports whether a JSON text has a comment outside its strings.
func hasComment(text string) bool {
	rest := []byte(text)
	for len(rest) > 0 {
		n := 1
		switch {
		case rest[0] == '"':
			n = stringLen(rest)
		case bytes.HasPrefix(rest, []byte("//")), bytes.HasPrefix(rest, []byte("/*")):
			return true
		}
		rest = rest[n:]
	}
	return false
}

// strictJSON parses a text that has to be one JSON value.
func strictJSON(text string) (Position, error) {
	d := jsontext.NewDecoder(strings.NewReader(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	err := d.SkipValue()
	if err == nil {
		if d.PeekKind() == 0 {
			_, err = d.ReadToken()
		} else {
			err = errors.New("more text behind the value")
		}
		if err != nil && err.Error() == "EOF" {
			return Position{}, nil
		}
	}
	at := d.InputOffset()
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		at = syntax.ByteOffset
		err = syntax.Err
	}
	if text == "" || err.Error() == "EOF" || err.Error() == "unexpected EOF" {
		err = errors.New("the JSON ends too early")
	}
	return placeIn(text, int(at)), err
}

// placeIn returns the position of a byte in a text.
func placeIn(text string, offset int) Position {
	head := text[:min(max(offset, 0), len(text))]
	line := head[strings.LastIndexByte(head, '\n')+1:]
	return Position{strings.Count(head, "\n") + 1, len([]rune(line)) + 1}
}

// tokenError is an error of the YAML parser that knows its place.
type tokenError interface {
	GetToken() *token.Token
	GetMessage() string
}

func parseYAML(_, text string) (at Position, err error) {
	defer func() {
		if recover() != nil {
			err = nil // the parser's fault, not the file's
		}
	}()
	_, err = yaml.ParseBytes([]byte(text), 0)
	if err == nil || strings.Contains(text, "{{") || strings.Contains(text, "{%") {
		return at, nil
	}
	at = Position{1, 1}
	var known tokenError
	if errors.As(err, &known) && known.GetToken() != nil {
		place := known.GetToken().Position
		return Position{place.Line, place.Column}, errors.New(known.GetMessage())
	}
	return at, err
}

func parseTOML(_, text string) (Position, error) {
	var into map[string]any
	_, err := toml.Decode(text, &into)
	var broken toml.ParseError
	if errors.As(err, &broken) {
		return placeIn(text, broken.Position.Start), errors.New(broken.Message)
	}
	if err != nil {
		return Position{1, 1}, err
	}
	return Position{}, nil
}
