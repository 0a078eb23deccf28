package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// kind is the type of a value as it was written.
type kind string

const (
	null    kind = "nothing"
	boolean kind = "a boolean"
	number  kind = "a number"
	text    kind = "a text"
	list    kind = "a list"
	object  kind = "an object"
)

// place is a position in a source; line and column count from 1, 0 is unknown.
type place struct{ line, column int }

// node is a value of a file or message, whatever its syntax was.
type node struct {
	place
	kind    kind
	text    string // of a scalar, as written
	items   []*node
	members []member
}

type member struct {
	place
	key   string
	value *node
}

// maxDepth bounds how deep values nest; the configuration itself is 4 deep.
const maxDepth = 32

// syntaxError is a file that cannot be read as a whole.
type syntaxError struct {
	place
	text string
}

func (e *syntaxError) Error() string { return e.text }

// parseYAML reads one document; nil when it is empty. Anchors and aliases are
// refused: a few lines of them can stand for gigabytes.
func parseYAML(data []byte) (n *node, err error) {
	defer func() {
		if r := recover(); r != nil {
			n, err = nil, &syntaxError{place{1, 1}, fmt.Sprintf("the YAML parser gave up: %v", r)}
		}
	}()
	if err := shallow(data); err != nil {
		return nil, err
	}
	f, err := parser.ParseBytes(data, 0)
	if err != nil {
		e := &syntaxError{place{1, 1}, err.Error()}
		var placed yaml.Error
		if errors.As(err, &placed) {
			e.text = placed.GetMessage()
			if t := placed.GetToken(); t != nil && t.Position != nil {
				e.place = place{t.Position.Line, t.Position.Column}
			}
		}
		return nil, e
	}
	var body ast.Node
	for _, d := range f.Docs {
		if d.Body == nil {
			continue
		}
		if body != nil {
			return nil, &syntaxError{placeOf(d.Body), "the file holds more than one document"}
		}
		body = d.Body
	}
	if body == nil {
		return nil, nil
	}
	return fromYAML(body, 0)
}

// shallow refuses text that nests by brackets or by indentation so deep that
// parsing it would exhaust the stack. It may refuse too much,
// never too little: brackets in texts count, up to a limit that no sensible file
// reaches.
func shallow(data []byte) error {
	const most = 1000
	depth, line, dashes := 0, 1, 0
	for _, c := range data {
		switch c {
		case '[', '{':
			depth++
		case ']', '}':
			depth = max(0, depth-1)
		case '\n':
			line++
			dashes = 0
		case '-', '?':
			dashes++
		}
		if depth > most || dashes > most {
			return &syntaxError{place{line, 1}, "values are nested too deep"}
		}
	}
	return nil
}

func placeOf(n ast.Node) place {
	if m, ok := n.(*ast.MappingNode); ok && len(m.Values) > 0 {
		n = m.Values[0].Key
	}
	if t := n.GetToken(); t != nil && t.Position != nil {
		return place{t.Position.Line, t.Position.Column}
	}
	return place{}
}

func fromYAML(y ast.Node, depth int) (*node, error) {
	n := &node{place: placeOf(y)}
	if depth > maxDepth {
		return nil, &syntaxError{n.place, "values are nested too deep"}
	}
	switch y := y.(type) {
	case *ast.NullNode:
		n.kind = null
	case *ast.BoolNode:
		n.kind, n.text = boolean, fmt.Sprint(y.Value)
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		n.kind, n.text = number, y.GetToken().Value
	case *ast.StringNode:
		n.kind, n.text = text, y.Value
	case *ast.LiteralNode:
		n.kind, n.text = text, y.Value.Value
	case *ast.TagNode:
		return fromYAML(y.Value, depth+1)
	case *ast.SequenceNode:
		n.kind = list
		for _, v := range y.Values {
			item, err := fromYAML(v, depth+1)
			if err != nil {
				return nil, err
			}
			n.items = append(n.items, item)
		}
	case *ast.MappingNode:
		return n, n.addMembers(y.Values, depth)
	case *ast.MappingValueNode:
		return n, n.addMembers([]*ast.MappingValueNode{y}, depth)
	case *ast.AnchorNode, *ast.AliasNode:
		return nil, &syntaxError{n.place, "anchors and aliases are not read"}
	default:
		return nil, &syntaxError{n.place, fmt.Sprintf("a %s is not read here", y.Type())}
	}
	return n, nil
}

func (n *node) addMembers(values []*ast.MappingValueNode, depth int) error {
	n.kind = object
	for _, v := range values {
		if v.Key.IsMergeKey() {
			return &syntaxError{placeOf(v.Key), "merge keys are not read"}
		}
		value, err := fromYAML(v.Value, depth+1)
		if err != nil {
			return err
		}
		key := v.Key.GetToken().Value
		n.members = append(n.members, member{placeOf(v.Key), key, value})
	}
	return nil
}

// parseJSON reads one value; nil when there is none.
func parseJSON(data []byte) (*node, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, nil
	}
	dec := jsontext.NewDecoder(bytes.NewReader(data))
	n, err := fromJSON(dec, 0)
	if err != nil {
		return nil, &syntaxError{text: strings.TrimPrefix(err.Error(), "jsontext: ")}
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, &syntaxError{text: "there is more than one value"}
	}
	return n, nil
}

func fromJSON(dec *jsontext.Decoder, depth int) (*node, error) {
	if depth > maxDepth {
		return nil, errors.New("values are nested too deep")
	}
	t, err := dec.ReadToken()
	if err != nil {
		return nil, err
	}
	n := &node{text: t.String()}
	switch t.Kind() {
	case 'n':
		n.kind = null
	case 't', 'f':
		n.kind = boolean
	case '0':
		n.kind = number
	case '"':
		n.kind = text
	case '[':
		n.kind = list
		for dec.PeekKind() != ']' {
			item, err := fromJSON(dec, depth+1)
			if err != nil {
				return nil, err
			}
			n.items = append(n.items, item)
		}
		_, err = dec.ReadToken()
	case '{':
		n.kind = object
		for dec.PeekKind() != '}' {
			key, err := dec.ReadToken()
			if err != nil {
				return nil, err
			}
			name := key.String()
			value, err := fromJSON(dec, depth+1)
			if err != nil {
				return nil, err
			}
			n.members = append(n.members, member{key: name, value: value})
		}
		_, err = dec.ReadToken()
	}
	return n, err
}
