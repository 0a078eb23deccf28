package model

import (
	"bytes"

	"github.com/agent-lsp/agent-lsp/core/abi"
	"github.com/go-json-experiment/json/jsontext"
)

// member is one parameter of a tool: a string, or a list of strings.
type member struct {
	name, about    string
	list, optional bool
}

// values holds a call's parameters by name: a string in texts, a list in lists.
// An optional one that was not given is in neither.
type values struct {
	texts map[string]string
	lists map[string][]string
}

func (v values) optional(name string) *string {
	if s, ok := v.texts[name]; ok {
		return &s
	}
	return nil
}

// tool is what a model may call: the definition, and both directions between
// its parameters and the typed call.
type tool struct {
	name, about string
	members     []member
	build       func(values) abi.Call
	take        func(abi.Call) (values, bool)
}

func texts(pairs ...string) values {
	v := values{texts: map[string]string{}}
	for i := 0; i < len(pairs); i += 2 {
		v.texts[pairs[i]] = pairs[i+1]
	}
	return v
}

// tools is the one table of what models are offered, in the order shown to them.
var tools = [...]tool{
	{
		name:    "read",
		about:   "Read a text file, or list a directory. Unsaved text in the editor counts.",
		members: []member{{name: "path", about: "relative to the workspace root; . is the root"}},
		build:   func(v values) abi.Call { return abi.Call{Read: &abi.Read{Path: v.texts["path"]}} },
		take: func(c abi.Call) (v values, ok bool) {
			if c.Read == nil {
				return v, false
			}
			return texts("path", c.Read.Path), true
		},
	},
	{
		name:  "write",
		about: "Create a file, or replace the whole text of one you have read. Prefer patch for small changes.",
		members: []member{
			{name: "path", about: "relative to the workspace root"},
			{name: "text", about: "the whole new text"},
		},
		build: func(v values) abi.Call {
			return abi.Call{Write: &abi.Write{Path: v.texts["path"], Text: v.texts["text"]}}
		},
		take: func(c abi.Call) (v values, ok bool) {
			if c.Write == nil {
				return v, false
			}
			return texts("path", c.Write.Path, "text", c.Write.Text), true
		},
	},
	{
		name:  "patch",
		about: "Change one file by a unified diff. Context lines must match the file exactly and in one place only; all hunks apply or none.",
		members: []member{
			{name: "path", about: "relative to the workspace root"},
			{name: "diff", about: "unified diff with @@ hunks and three lines of context"},
		},
		build: func(v values) abi.Call {
			return abi.Call{Patch: &abi.Patch{Path: v.texts["path"], Diff: v.texts["diff"]}}
		},
		take: func(c abi.Call) (v values, ok bool) {
			if c.Patch == nil {
				return v, false
			}
			return texts("path", c.Patch.Path, "diff", c.Patch.Diff), true
		},
	},
	{
		name:  "exec",
		about: "Run a program, without a shell: no pipes, globs or redirection. Its output and exit code come back.",
		members: []member{
			{name: "argv", about: "program and arguments", list: true},
			{name: "cwd", about: "directory relative to the workspace root; the root when absent", optional: true},
		},
		build: func(v values) abi.Call {
			return abi.Call{Exec: &abi.Exec{Argv: v.lists["argv"], Cwd: v.optional("cwd")}}
		},
		take: func(c abi.Call) (v values, ok bool) {
			if c.Exec == nil {
				return v, false
			}
			v = texts()
			if c.Exec.Cwd != nil {
				v.texts["cwd"] = *c.Exec.Cwd
			}
			v.lists = map[string][]string{"argv": c.Exec.Argv}
			return v, true
		},
	},
	{
		name:    "git",
		about:   "Run git in the workspace root.",
		members: []member{{name: "argv", about: "arguments after git, e.g. [\"diff\",\"--stat\"]", list: true}},
		build:   func(v values) abi.Call { return abi.Call{Git: &abi.Git{Argv: v.lists["argv"]}} },
		take: func(c abi.Call) (v values, ok bool) {
			if c.Git == nil {
				return v, false
			}
			return values{lists: map[string][]string{"argv": c.Git.Argv}}, true
		},
	},
	{
		name:  "browse",
		about: "Fetch a web page as Markdown, or a text resource as it is.",
		members: []member{
			{name: "url", about: "http or https"},
			{name: "body", about: "sent by POST when given, else GET", optional: true},
		},
		build: func(v values) abi.Call {
			return abi.Call{Browse: &abi.Browse{URL: v.texts["url"], Body: v.optional("body")}}
		},
		take: func(c abi.Call) (v values, ok bool) {
			if c.Browse == nil {
				return v, false
			}
			v = texts("url", c.Browse.URL)
			if c.Browse.Body != nil {
				v.texts["body"] = *c.Browse.Body
			}
			return v, true
		},
	},
}

// Tools answers the definitions of what a model may call: read, write, patch,
// exec, git and browse, each as {"type":"function","function":{name,
// description, parameters}} with a JSON Schema of its parameters. The bytes are
// the same at every call; the slice and its values are the caller's.
func Tools() []jsontext.Value {
	out := make([]jsontext.Value, len(tools))
	for i, t := range tools {
		out[i] = t.definition()
	}
	return out
}

// definition writes a tool in the chat-completions shape.
func (t tool) definition() jsontext.Value {
	w := newWriter()
	w.object(func() {
		w.text("type", "function")
		w.key("function")
		w.object(func() {
			w.text("name", t.name)
			w.text("description", t.about)
			w.key("parameters")
			w.object(func() {
				w.text("type", "object")
				w.key("properties")
				w.object(func() {
					for _, m := range t.members {
						w.key(m.name)
						w.object(m.schema(w))
					}
				})
				w.key("required")
				w.token(jsontext.BeginArray)
				for _, m := range t.members {
					if !m.optional {
						w.token(jsontext.String(m.name))
					}
				}
				w.token(jsontext.EndArray)
				w.key("additionalProperties")
				w.token(jsontext.False)
			})
		})
	})
	return w.value()
}

func (m member) schema(w *writer) func() {
	return func() {
		if m.list {
			w.text("type", "array")
			w.key("items")
			w.object(func() { w.text("type", "string") })
		} else {
			w.text("type", "string")
		}
		w.text("description", m.about)
	}
}

// writer writes JSON whose members keep their order. What it is given is this
// package's own, or was checked to be UTF-8, so a refused token is a bug.
type writer struct {
	buf *bytes.Buffer
	enc *jsontext.Encoder
}

func newWriter() *writer {
	buf := new(bytes.Buffer)
	return &writer{buf, jsontext.NewEncoder(buf, jsontext.AllowInvalidUTF8(true), jsontext.EscapeForHTML(false))}
}

func (w *writer) token(t jsontext.Token) {
	if err := w.enc.WriteToken(t); err != nil {
		panic("model: " + err.Error())
	}
}

func (w *writer) key(name string) { w.token(jsontext.String(name)) }

func (w *writer) text(name, value string) {
	w.key(name)
	w.token(jsontext.String(value))
}

func (w *writer) object(members func()) {
	w.token(jsontext.BeginObject)
	members()
	w.token(jsontext.EndObject)
}

func (w *writer) value() jsontext.Value {
	return jsontext.Value(bytes.TrimSuffix(w.buf.Bytes(), []byte("\n")))
}
