package script

import (
	"slices"
	"strings"
	"time"

	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
)

// entry decodes an Entry, with its place and its rules.
type entry struct{ Entry }

// UnmarshalYAML implements yaml.NodeUnmarshaler.
func (e *entry) UnmarshalYAML(n ast.Node) error {
	var f struct {
		When       text     `yaml:"when"`
		Text       *text    `yaml:"text"`
		Reasoning  *text    `yaml:"reasoning"`
		Calls      []call   `yaml:"calls"`
		Usage      usage    `yaml:"usage"`
		Finish     text     `yaml:"finish"`
		ProviderID text     `yaml:"provider_id"`
		Sealed     text     `yaml:"sealed"`
		Latency    latency  `yaml:"latency"`
		Stream     []text   `yaml:"stream"`
		Fail       *fail    `yaml:"fail"`
		Request    *request `yaml:"request"`
	}
	if err := yaml.NodeToValue(n, &f, yaml.Strict()); err != nil {
		return err
	}
	e.Entry = Entry{
		When: string(f.When), Text: (*string)(f.Text), Reasoning: (*string)(f.Reasoning), Usage: model.Usage(f.Usage),
		Finish: string(f.Finish), ProviderID: string(f.ProviderID), Latency: time.Duration(f.Latency),
	}
	if f.Sealed != "" {
		if e.Sealed = jsontext.Value(f.Sealed); !e.Sealed.IsValid() {
			return misplaced(n, "sealed is no JSON")
		}
	}
	if t := start(n); t != nil && t.Position != nil {
		e.Line = t.Position.Line
	}
	for _, c := range f.Stream {
		e.Stream = append(e.Stream, string(c))
	}
	for _, c := range f.Calls {
		e.Calls = append(e.Calls, model.FunctionCall(c))
	}
	if f.Request != nil {
		p := Print(*f.Request)
		e.Request = &p
	}
	if f.Fail != nil {
		if e.Text != nil || e.Reasoning != nil || e.Calls != nil {
			return misplaced(n, "an entry that fails answers no text, reasoning or calls; stream is what arrives before")
		}
		e.Fail = (*Fail)(f.Fail)
		return nil
	}
	return e.complete(n)
}

// complete fills in what an entry that succeeds may leave out.
func (e *entry) complete(n ast.Node) error {
	joined := strings.Join(e.Stream, "")
	switch {
	case e.Stream != nil && e.Text == nil:
		e.Text = &joined
	case e.Stream != nil && *e.Text != joined:
		return misplaced(n, "stream joined is %q, but text is %q", joined, *e.Text)
	}
	if e.Finish == "" {
		e.Finish = "stop"
		if len(e.Calls) > 0 {
			e.Finish = "tool_calls"
		}
	}
	return nil
}

// text reads any scalar as it stands in the file: argv: [sleep, 010] is two
// strings, and the second has its zeros.
type text string

// UnmarshalYAML implements yaml.NodeUnmarshaler.
func (s *text) UnmarshalYAML(n ast.Node) error {
	switch n := n.(type) {
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		*s = text(n.GetToken().Value)
		return nil
	case *ast.StringNode:
		*s = text(n.Value)
		return nil
	}
	return yaml.NodeToValue(n, (*string)(s))
}

// latency reads a duration such as 30s, which is never negative.
type latency time.Duration

// UnmarshalYAML implements yaml.NodeUnmarshaler.
func (l *latency) UnmarshalYAML(n ast.Node) error {
	var s text
	if err := s.UnmarshalYAML(n); err != nil {
		return err
	}
	d, err := time.ParseDuration(string(s))
	if err != nil || d < 0 {
		return misplaced(n, "latency %q is not a duration such as 30s or 250ms", s)
	}
	*l = latency(d)
	return nil
}

type usage struct {
	Input       uint64 `yaml:"input"`
	CachedInput uint64 `yaml:"cached_input"`
	Output      uint64 `yaml:"output"`
	Reasoning   uint64 `yaml:"reasoning"`
	Estimated   bool   `yaml:"estimated"`
}

type fail Fail

// UnmarshalYAML implements yaml.NodeUnmarshaler.
func (d *fail) UnmarshalYAML(n ast.Node) error {
	var f struct {
		Kind    Failure         `yaml:"kind"`
		Error   model.ErrorKind `yaml:"error"`
		Message text            `yaml:"message"`
	}
	if err := yaml.NodeToValue(n, &f, yaml.Strict()); err != nil {
		return err
	}
	switch f.Kind {
	case FailError:
		if !slices.Contains(errorKinds, f.Error) {
			return misplaced(n, "fail has the error %q; it is one of %q", f.Error, errorKinds)
		}
	case FailTimeout, FailHang:
		if f.Error != "" {
			return misplaced(n, "fail of kind %s takes no error", f.Kind)
		}
	default:
		return misplaced(n, "fail has the kind %q; it is error, timeout or hang", f.Kind)
	}
	*d = fail{Kind: f.Kind, Error: f.Error, Message: string(f.Message)}
	return nil
}

var errorKinds = []model.ErrorKind{
	model.Rate, model.Overloaded, model.Auth, model.ContextOverflow,
	model.BadRequest, model.Timeout, model.Network, model.Cancelled,
}

// call reads a typed call by the tool's name, or a raw one.
type call model.FunctionCall

// UnmarshalYAML implements yaml.NodeUnmarshaler.
func (c *call) UnmarshalYAML(n ast.Node) error {
	m, ok := n.(*ast.MappingNode)
	if !ok || len(m.Values) != 1 {
		return misplaced(n, "a call is one tool's name with its arguments, e.g. read: {path: main.go}")
	}
	name, value := m.Values[0].Key.String(), m.Values[0].Value
	if quoted, ok := m.Values[0].Key.(*ast.StringNode); ok {
		name = quoted.Value
	}
	if name == "raw" {
		var raw struct {
			ID        text `yaml:"id"`
			Name      text `yaml:"name"`
			Arguments text `yaml:"arguments"`
		}
		if err := yaml.NodeToValue(value, &raw, yaml.Strict()); err != nil {
			return err
		}
		if raw.ID == pendingID {
			return misplaced(value, "a raw call's id holds a NUL")
		}
		*c = call{ID: string(raw.ID), Name: string(raw.Name), Arguments: string(raw.Arguments)}
		return nil
	}
	arguments, err := argumentsOf(value)
	if err != nil {
		return err
	}
	*c = call{ID: pendingID, Name: name, Arguments: string(arguments)}
	return nil
}

// texts are members that are text however it is spelt: text: 42 is "42", and
// argv: [sleep, 010] two strings. Every other value is what YAML makes of it.
var texts = []string{"path", "text", "diff", "argv", "cwd", "url", "body"}

// argumentsOf is a mapping as the JSON object that a provider would send, members
// in the same order. Which there are is for the tool to judge.
func argumentsOf(n ast.Node) (jsontext.Value, error) {
	m, ok := n.(*ast.MappingNode)
	if !ok {
		return nil, misplaced(n, "the arguments of a call are an object, e.g. {path: main.go}")
	}
	out := []byte{'{'}
	for i, v := range m.Values {
		name := v.Key.String()
		if quoted, ok := v.Key.(*ast.StringNode); ok {
			name = quoted.Value
		}
		value, err := valueOf(v.Value, slices.Contains(texts, name))
		if err != nil {
			return nil, err
		}
		if i > 0 {
			out = append(out, ',')
		}
		if out, err = jsontext.AppendQuote(out, name); err != nil {
			return nil, misplaced(v, "the member %q is not text: %v", name, err)
		}
		out = append(append(out, ':'), value...)
	}
	return append(out, '}'), nil
}

// valueOf is a node as JSON; with asText, scalars are text as they stand.
func valueOf(n ast.Node, asText bool) (jsontext.Value, error) {
	switch n := n.(type) {
	case *ast.MappingNode:
		return argumentsOf(n)
	case *ast.SequenceNode:
		out := []byte{'['}
		for i, v := range n.Values {
			value, err := valueOf(v, asText)
			if err != nil {
				return nil, err
			}
			if i > 0 {
				out = append(out, ',')
			}
			out = append(out, value...)
		}
		return append(out, ']'), nil
	case *ast.NullNode:
		return jsontext.Value("null"), nil
	}
	var v any = new(any)
	if asText {
		v = new(text)
	}
	if err := yaml.NodeToValue(n, v); err != nil {
		return nil, err
	}
	out, err := json.Marshal(v)
	if err != nil {
		return nil, misplaced(n, "this is not text: %v", err)
	}
	return out, nil
}
