package tools

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/agent-lsp/agent-lsp/core/abi"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Registry stores the tools of one session, in the order in which models are shown
// them. It is safe for concurrent use. The zero value is empty.
type Registry struct {
	mu    sync.Mutex // guards tools
	tools []Tool
}

// Add appends tools. A name that another tool has already is an error, and then
// nothing is added.
func (r *Registry) Add(more ...Tool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := slices.Clone(r.tools)
	for _, t := range more {
		name := t.Definition().Name
		if name == "" || slices.ContainsFunc(all, func(o Tool) bool { return o.Definition().Name == name }) {
			return fmt.Errorf("tools: no second tool can be named %q", name)
		}
		all = append(all, t)
	}
	r.tools = all
	return nil
}

func (r *Registry) all() []Tool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.tools
}

// Lookup returns the tool with a name, and false when there is none.
func (r *Registry) Lookup(name string) (Tool, bool) {
	for _, t := range r.all() {
		if t.Definition().Name == name {
			return t, true
		}
	}
	return nil, false
}

// Definitions returns the definitions of all tools, in order.
func (r *Registry) Definitions() []Definition {
	all := r.all()
	out := make([]Definition, len(all))
	for i, t := range all {
		out[i] = t.Definition()
	}
	return out
}

// Typed reads a call as a provider sent it for the core. Absent, blank and null
// arguments are {}. A name or a member that models use from habit is taken for ours
// when the arguments fit then (see Habit); all else is strict: a name that is no
// tool, arguments that are not one JSON object, and a member that is missing,
// unknown, given twice or of another type are errors. Such an error is one sentence
// for the model to read: it says what is wrong and which members the tool takes.
func (r *Registry) Typed(name, arguments string) (abi.Call, error) {
	c, err := r.understand(name, arguments)
	if err != nil {
		return abi.Call{}, err
	}
	d := c.tool.Definition()
	canonical, err := d.parse(c.arguments)
	if err != nil && d.members == nil {
		return abi.Call{}, fmt.Errorf("%s was not called: %w", d.Name, err)
	}
	if err != nil {
		return abi.Call{}, fmt.Errorf("%s was not called: %w; %s", d.Name, err, d.usage())
	}
	return variant(d.Name, canonical), nil
}

// Habit returns what the result of a call says that Typed took for one of ours: which
// names to use. It is empty for a call that is written as its tool's definition says.
func (r *Registry) Habit(name, arguments string) string {
	c, err := r.understand(name, arguments)
	if err != nil {
		return ""
	}
	return c.note()
}

// names returns the tools' names as a sentence lists them.
func (r *Registry) names() string {
	defs := r.Definitions()
	var b strings.Builder
	for i, d := range defs {
		switch i {
		case 0:
		case len(defs) - 1:
			b.WriteString(" and ")
		default:
			b.WriteString(", ")
		}
		b.WriteString(d.Name)
	}
	return b.String()
}

// open returns the tool that a call of the core names, and the call in the form that
// Tool.Run takes. It fails for an unknown tool and for arguments that do not fit.
func (r *Registry) open(op abi.Call) (Tool, Call, error) {
	name, arguments := Untyped(op)
	t, ok := r.Lookup(name)
	if !ok {
		return nil, Call{}, fmt.Errorf("there is no tool %s in this session", quoted(name))
	}
	canonical, err := t.Definition().parse(arguments)
	if err != nil {
		return nil, Call{}, fmt.Errorf("%s was not called: %w", name, err)
	}
	return t, Call{Name: name, Arguments: canonical}, nil
}

// variant returns a call in the core's form: its own variant for one of the six tools
// that the core knows, with arguments that it knows, else a Use. The arguments
// must have been checked.
func variant(name, arguments string) (c abi.Call) {
	var known bool
	switch name {
	case "read":
		c.Read, known = as[abi.Read](arguments)
	case "write":
		c.Write, known = as[abi.Write](arguments)
	case "patch":
		c.Patch, known = as[abi.Patch](arguments)
		known = known && c.Patch.Path != "" // without one it names its files itself
	case "exec":
		c.Exec, known = as[abi.Exec](arguments)
	case "git":
		c.Git, known = as[abi.Git](arguments)
	case "browse":
		c.Browse, known = as[abi.Browse](arguments)
	}
	if known {
		return c
	}
	return abi.Call{Tool: &abi.Use{Name: name, Arguments: arguments}}
}

// as decodes arguments into a T; it reports false when T lacks a member for one.
func as[T any](arguments string) (*T, bool) {
	v := new(T)
	if err := json.Unmarshal([]byte(arguments), v, json.RejectUnknownMembers(true)); err != nil {
		return nil, false
	}
	return v, true
}

// Untyped returns the name of the tool that a call is for and its arguments as
// compact JSON, without those that are not set. Equal calls give equal bytes. A call
// without a variant has an empty name and "{}".
func Untyped(c abi.Call) (name, arguments string) {
	switch {
	case c.Read != nil:
		return "read", compact(c.Read)
	case c.Write != nil:
		return "write", compact(c.Write)
	case c.Patch != nil:
		return "patch", compact(c.Patch)
	case c.Exec != nil:
		return "exec", compact(execArgs{Argv: c.Exec.Argv, Cwd: c.Exec.Cwd})
	case c.Git != nil:
		return "git", compact(c.Git)
	case c.Browse != nil:
		return "browse", compact((*browseArgs)(c.Browse))
	case c.Tool != nil:
		return c.Tool.Name, c.Tool.Arguments
	}
	return "", "{}"
}

func compact(v any) string {
	out, err := json.Marshal(v, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		panic("tools: write arguments: " + err.Error())
	}
	return string(out)
}
