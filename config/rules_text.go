package config

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// errPlace says that the syntax tree does not tell where a rule belongs.
var errPlace = errors.New("it is written in a way that is not changed here")

// file is a YAML text with its syntax tree, which says where to change the text: the
// rest keeps its bytes.
type file struct {
	text string
	root *ast.MappingNode // nil for a file without settings
}

func parseFile(text string) (file, error) {
	f, err := parser.ParseBytes([]byte(text), 0)
	if err != nil {
		return file{}, err
	}
	out := file{text: text}
	for _, d := range f.Docs {
		if d.Body != nil {
			if out.root, err = mapping(d.Body); err != nil {
				return out, err
			}
		}
	}
	return out, nil
}

func mapping(n ast.Node) (*ast.MappingNode, error) {
	switch n := n.(type) {
	case *ast.MappingNode:
		return n, nil
	case *ast.MappingValueNode:
		return ast.Mapping(n.Start, false, n), nil
	case *ast.NullNode:
		return nil, nil
	}
	return nil, errPlace
}

// settingOf returns a member of a mapping, nil when it is not there.
func settingOf(m *ast.MappingNode, key string) *ast.MappingValueNode {
	if m == nil {
		return nil
	}
	for _, v := range m.Values {
		if v.Key.GetToken().Value == key {
			return v
		}
	}
	return nil
}

// at returns the offset of a token. Its column counts characters from 1.
func (f file) at(t *token.Token) int {
	p := t.Position
	offset := f.line(p.Line)
	for i := 1; i < p.Column && offset < len(f.text); i++ {
		_, n := utf8.DecodeRuneInString(f.text[offset:])
		offset += n
	}
	return offset
}

// line returns the offset of a line's beginning; lines count from 1.
func (f file) line(n int) int {
	offset := 0
	for ; n > 1; n-- {
		i := strings.IndexByte(f.text[offset:], '\n')
		if i < 0 {
			return len(f.text)
		}
		offset += i + 1
	}
	return offset
}

// insertLine puts a line before another one.
func (f file) insertLine(before int, line string) string {
	eol := "\n"
	if strings.Contains(f.text, "\r\n") {
		eol = "\r\n"
	}
	at := f.line(before)
	head := f.text[:at]
	if head != "" && !strings.HasSuffix(head, "\n") {
		head += eol
	}
	return head + strings.ReplaceAll(line, "\n", eol) + eol + f.text[at:]
}

// lines is the number of lines with text.
func (f file) lines() int { return strings.Count(strings.TrimRight(f.text, "\r\n"), "\n") + 1 }

func indent(t *token.Token) string { return strings.Repeat(" ", t.Position.Column-1) }

// withRule returns a file's text with one more allow rule.
func withRule(text string, r Rule) (string, error) {
	f, err := parseFile(text)
	if err != nil {
		return "", err
	}
	rules := settingOf(f.root, "rules")
	switch {
	case f.root != nil && f.root.IsFlowStyle:
		return "", errPlace
	case rules == nil && strings.TrimSpace(text) == "":
		return fmt.Sprintf("rules:\n  allow:\n    - %s\n", r), nil
	case rules == nil:
		return f.insertLine(f.lines()+1, fmt.Sprintf("rules:\n  allow:\n    - %s", r)), nil
	}
	inner, err := mapping(rules.Value)
	if err != nil {
		return "", err
	}
	key := rules.Key.GetToken()
	allow := settingOf(inner, "allow")
	switch {
	case inner == nil:
		return f.insertLine(key.Position.Line+1, fmt.Sprintf("%s  allow:\n%s    - %s", indent(key), indent(key), r)), nil
	case allow == nil && inner.IsFlowStyle:
		open := f.at(inner.Start)
		comma := ", "
		if len(inner.Values) == 0 {
			comma = ""
		}
		return f.text[:open+1] + fmt.Sprintf("allow: [%s]%s", r, comma) + f.text[open+1:], nil
	case allow == nil:
		first := inner.Values[0].Key.GetToken()
		return f.insertLine(first.Position.Line, fmt.Sprintf("%sallow:\n%s  - %s", indent(first), indent(first), r)), nil
	}
	return f.withItem(allow, r)
}

// withItem adds a rule behind those of a list.
func (f file) withItem(allow *ast.MappingValueNode, r Rule) (string, error) {
	key := allow.Key.GetToken()
	switch list := allow.Value.(type) {
	case *ast.NullNode:
		return f.insertLine(key.Position.Line+1, fmt.Sprintf("%s  - %s", indent(key), r)), nil
	case *ast.SequenceNode:
		if !list.IsFlowStyle {
			return f.insertLine(lastLine(list.Values[len(list.Values)-1])+1, fmt.Sprintf("%s- %s", indent(list.Start), r)), nil
		}
		if list.End == nil {
			return "", errPlace
		}
		closing := f.at(list.End)
		if start := f.line(list.End.Position.Line); len(list.Values) > 0 && strings.TrimSpace(f.text[start:closing]) == "" {
			return f.insertLine(list.End.Position.Line, indent(first(list.Values[0]))+r.String()+","), nil
		}
		comma := ", "
		if head := strings.TrimRight(f.text[:closing], " \t\r\n"); len(list.Values) == 0 || strings.HasSuffix(head, ",") {
			comma = ""
		}
		return f.text[:closing] + comma + r.String() + f.text[closing:], nil
	}
	return "", errPlace
}

// lastLine is the last line that a node has text on.
func lastLine(n ast.Node) int {
	last := n.GetToken().Position.Line
	ast.Walk(lineVisitor(func(line int) { last = max(last, line) }), n)
	return last
}

type lineVisitor func(line int)

// Visit looks at each token of a node.
func (v lineVisitor) Visit(n ast.Node) ast.Visitor {
	if t := n.GetToken(); t != nil {
		v(t.Position.Line + strings.Count(strings.TrimRight(t.Origin, " \t\r\n"), "\n") - strings.Count(leading(t.Origin), "\n"))
	}
	if s, ok := n.(*ast.SequenceNode); ok && s.End != nil {
		v(s.End.Position.Line)
	}
	if m, ok := n.(*ast.MappingNode); ok && m.End != nil {
		v(m.End.Position.Line)
	}
	return v
}

func leading(s string) string { return s[:len(s)-len(strings.TrimLeft(s, " \t\r\n"))] }

// withoutRule returns a file's text without an allow rule.
func withoutRule(text string, r Rule) (string, error) {
	f, err := parseFile(text)
	if err != nil {
		return "", err
	}
	rules := settingOf(f.root, "rules")
	if rules == nil {
		return "", errPlace
	}
	inner, err := mapping(rules.Value)
	if err != nil {
		return "", err
	}
	allow := settingOf(inner, "allow")
	if allow == nil {
		return "", errPlace
	}
	list, ok := allow.Value.(*ast.SequenceNode)
	if !ok {
		return "", errPlace
	}
	for i, item := range list.Values {
		if !isRule(item, r) {
			continue
		}
		if list.IsFlowStyle {
			return f.withoutFlow(list, i), nil
		}
		from, to := f.line(first(item).Position.Line), f.line(lastLine(item)+1)
		return f.text[:from] + f.text[to:], nil
	}
	return "", errPlace
}

// isRule reports whether a list's item is this rule and no other beside it.
func isRule(item ast.Node, r Rule) bool {
	n, err := fromYAML(item, 0)
	if err != nil {
		return false
	}
	var got []Rule
	d := &decoder{layer: UserFile, origins: map[string]Origin{}, warn: func(Warning) {}, anyTool: true}
	d.rules(&node{kind: list, items: []*node{n}}, &got, spot{}, "")
	return len(got) == 1 && got[0].equal(r)
}

// first is the token that a node begins with.
func first(n ast.Node) *token.Token {
	switch n := n.(type) {
	case *ast.MappingNode:
		if n.IsFlowStyle {
			return n.Start
		}
		return n.Values[0].Key.GetToken()
	case *ast.MappingValueNode:
		return n.Key.GetToken()
	}
	return n.GetToken()
}

func (f file) withoutFlow(list *ast.SequenceNode, i int) string {
	from, to := f.at(first(list.Values[i])), f.at(list.End)
	line := f.line(first(list.Values[i]).Position.Line)
	after := f.line(lastLine(list.Values[i]) + 1)
	if strings.TrimSpace(f.text[line:from]) == "" && after <= f.line(list.End.Position.Line) {
		return f.text[:line] + f.text[after:] // it has lines of its own
	}
	if i+1 < len(list.Values) {
		to = f.at(first(list.Values[i+1]))
	} else if i > 0 {
		from = strings.LastIndexByte(f.text[:from], ',')
	}
	return f.text[:from] + f.text[to:]
}
