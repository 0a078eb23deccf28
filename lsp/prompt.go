package lsp

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/agent-lsp/agent-lsp/lsp/editor"
	"github.com/agent-lsp/agent-lsp/lsp/text"
	"github.com/agent-lsp/agent-lsp/session"
	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/google/uuid"
)

// promptResult is the result of agent.prompt and agent.fix; outcome and text are set
// when the caller waited.
type promptResult struct {
	Session uuid.UUID `json:"session"`
	Turn    uint64    `json:"turn"`
	Outcome string    `json:"outcome,omitzero"`
	Text    *string   `json:"text,omitzero"`
}

// prompt starts a turn: {text, session?, root?, context?, wait?}.
func (s commands) prompt(ctx context.Context, a *arguments) (any, error) {
	p := session.Prompt{Text: a.text("text"), Session: a.session(false)}
	root := s.rootArgument(a)
	places := s.contextArgument(a, &p)
	return s.run(ctx, a, p, root, places)
}

// run prompts the engine, and waits for the turn if the argument says so. The places
// are those of the prompt's context; the first that has a folder says which is meant
// where nothing else does.
func (s commands) run(ctx context.Context, a *arguments, p session.Prompt, root *editor.Folder, places []pointed) (any, error) {
	wait := a.flag("wait")
	engine, err := s.on(ctx, a)
	if err != nil {
		return nil, err
	}
	if p.Session != nil {
		if err := s.own(ctx, engine, *p.Session); err != nil {
			return nil, err
		}
		known, _ := s.roots.of(*p.Session)
		if root != nil && known != "" && s.editor.Folders.Named(known) != root {
			return nil, &session.ArgumentError{Member: "root", Text: fmt.Sprintf("session %s belongs to %s", *p.Session, known)}
		}
		p.Root = known
	}
	for i := 0; root == nil && i < len(places); i++ {
		root = places[i].folder
	}
	if root == nil && p.Root == "" {
		if root, err = s.defaultRoot(); err != nil {
			return nil, err
		}
	}
	if p.Root == "" {
		p.Root = root.Dir()
	}
	s.nameElsewhere(p, places)
	id, turn, err := engine.Prompt(ctx, p)
	if err != nil {
		return nil, err
	}
	s.roots.learn(id, p.Root)
	a.ticket.leave() // the turn runs: later commands see it
	if !wait {
		return promptResult{Session: id, Turn: turn}, nil
	}
	end, err := engine.Wait(ctx, id, turn)
	if err != nil {
		if errors.Is(err, context.Canceled) && s.ctx.Err() == nil {
			s.abandon(engine, id, turn)
		}
		return nil, err
	}
	return promptResult{Session: id, Turn: turn, Outcome: end.Outcome, Text: &end.Text}, nil
}

// abandon cancels a turn after its caller canceled the request that waits for it.
func (s commands) abandon(engine Engine, id uuid.UUID, turn uint64) {
	ctx, stop := context.WithTimeout(s.ctx, 10*time.Second)
	defer stop()
	if _, err := engine.Cancel(ctx, &id, &turn); err != nil {
		s.log.Warn("the turn was not cancelled", "session", id, "turn", turn, "err", err)
	}
}

// cancel stops a turn: {session?, turn?}.
func (s commands) cancel(ctx context.Context, a *arguments) (any, error) {
	id, turn := a.session(false), a.index("turn")
	engine, err := s.on(ctx, a)
	if err != nil {
		return nil, err
	}
	if id != nil {
		if err := s.own(ctx, engine, *id); err != nil {
			return nil, err
		}
	}
	done, err := engine.Cancel(ctx, id, turn)
	if err != nil {
		return nil, err
	}
	return struct {
		Cancelled bool `json:"cancelled"`
	}{done}, nil
}

// fix starts a turn on problems: {uri, diagnostics, session?, wait?}.
func (s commands) fix(ctx context.Context, a *arguments) (any, error) {
	p := session.Prompt{Session: a.session(false)}
	x := s.placeArgument(a)
	list := a.list("diagnostics", true)
	if len(list) == 0 {
		a.fail("diagnostics", "must name at least one problem")
	}
	var lines []string
	for i, raw := range list {
		d := readProblem(a.object(raw, fmt.Sprintf("diagnostics[%d]", i)))
		lines = append(lines, fmt.Sprintf("- %s:%d: %s", x.path, d.first, d.text))
		if x.lines != nil {
			p.Context = append(p.Context, event.Context{Path: x.path, First: d.first, Last: d.last, Text: x.cut(d.first, d.last)})
		}
	}
	p.Text = "Fix this problem:\n" + strings.Join(lines, "\n")
	if len(lines) != 1 {
		p.Text = "Fix these problems:\n" + strings.Join(lines, "\n")
	}
	return s.run(ctx, a, p, x.folder, nil)
}

// problem is a client's diagnostic; lines are 1-based and inclusive.
type problem struct {
	first, last int
	text        string
}

// readProblem reads the members of a diagnostic that it needs and ignores others:
// clients add their own.
func readProblem(o *arguments) problem {
	var p problem
	p.first, p.last = readRange(o, "range", true)
	if raw, ok := o.consume("message"); ok {
		n := tree(raw)
		if p.text, ok = n.v.(string); !ok {
			p.text = n.text("value") // markup
		}
	}
	if p.text == "" {
		o.fail("message", "is missing: it must be a string")
	}
	if raw, ok := o.consume("source"); ok {
		if source, ok := tree(raw).v.(string); ok {
			p.text += " (" + source + ")"
		}
	}
	o.order = nil
	return p
}

// pointed is a file that an argument refers to.
type pointed struct {
	folder *editor.Folder
	path   string    // relative to the folder, or what a buffer without a file is called
	lines  *text.Doc // nil when the file cannot be read
}

// cut returns the text of lines, 1-based and inclusive.
func (x pointed) cut(first, last int) string {
	start, _, _ := x.lines.LineSpan(first - 1)
	_, _, next := x.lines.LineSpan(last - 1)
	return x.lines.String()[start:max(start, next)]
}

// placeArgument reads the member uri: a file in a workspace folder, or an open
// buffer that has no file.
func (s commands) placeArgument(a *arguments) pointed {
	name := a.text("uri")
	if name == "" {
		return pointed{}
	}
	docs := a.docs
	path, err := text.Path(name)
	if err != nil {
		if d := docs.Named(name); d != nil {
			return pointed{path: withoutFile(d.URI), lines: d.Text}
		}
		a.fail("uri", "%v", err)
		return pointed{}
	}
	f, rel := s.editor.Folders.Holding(path)
	if f == nil {
		a.fail("uri", "%s is in no workspace folder of this editor: it has %s", path, s.folderNames())
		return pointed{}
	}
	x := pointed{folder: f, path: rel}
	if d := docs.File(path); d != nil {
		x.lines = d.Text
	} else if disk, ok := s.editor.Read(path); ok {
		x.lines = text.New(disk)
	}
	return x
}

// withoutFile is what a model reads for a buffer that has no file: no tool reaches it,
// and its URI would pass for the path of a file to make.
func withoutFile(uri string) string {
	return strings.TrimPrefix(uri, "untitled:") + " (a document without a file: no tool can read or change it)"
}

// contextArgument reads context: [{uri, range?}] and returns its places.
func (s commands) contextArgument(a *arguments, p *session.Prompt) []pointed {
	var places []pointed
	for i, raw := range a.list("context", false) {
		o := a.object(raw, fmt.Sprintf("context[%d]", i))
		x := s.placeArgument(o)
		c := event.Context{Path: x.path}
		if first, last := readRange(o, "range", false); first > 0 {
			c.First, c.Last = first, last
			if x.lines != nil {
				c.Text = x.cut(first, last)
			}
		} else if x.folder == nil && x.lines != nil {
			c.Text = x.lines.String()
		}
		_ = o.done() // a failure is stored in a
		p.Context = append(p.Context, c)
		places = append(places, x)
	}
	return places
}

// nameElsewhere says which folder a place is in that is not in the session's: its
// path alone would name another file there. Its text is added, since no tool reaches
// it.
func (s commands) nameElsewhere(p session.Prompt, places []pointed) {
	root := s.editor.Folders.Named(p.Root)
	for i, x := range places {
		if root == nil || x.folder == nil || x.folder == root {
			continue
		}
		c := &p.Context[i]
		c.Path = fmt.Sprintf("%s of the other folder %s (no tool can read or change it)", c.Path, filepath.Base(x.folder.Dir()))
		if c.First == 0 && x.lines != nil {
			c.Text = x.lines.String()
		}
	}
}

// readRange reads a range as lines, 1-based and inclusive; zeroes when it is
// absent. A range that ends before the first character of a line does not include
// that line, unless it begins there.
func readRange(o *arguments, name string, required bool) (first, last int) {
	raw, ok := o.consume(name)
	if !ok {
		if required {
			o.fail(name, "is missing: it must be a range")
		}
		return 0, 0
	}
	r := o.object(raw, name)
	from, _ := readPosition(r, "start")
	to, character := readPosition(r, "end")
	if to > from && character == 0 {
		to--
	}
	if to < from {
		from, to = to, from
	}
	_ = r.done() // a failure is stored in the parent
	return from + 1, to + 1
}

func readPosition(r *arguments, name string) (line, character int) {
	raw, ok := r.consume(name)
	if !ok {
		r.fail(name, "is missing: it must be a position")
		return 0, 0
	}
	p := r.object(raw, name)
	l, _ := scalar[uint32](p, "line", "a whole number that is not negative", true, "0")
	c, _ := scalar[uint32](p, "character", "a whole number that is not negative", true, "0")
	_ = p.done()
	return int(l), int(c)
}
