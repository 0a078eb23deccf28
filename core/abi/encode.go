package abi

import "strconv"

// AppendConfig appends c as the module reads it. It fails on text that is not
// UTF-8.
func AppendConfig(dst []byte, c Config) ([]byte, error) {
	e := encoder{buf: dst}
	e.raw(`{"model":`).option(c.Model)
	e.raw(`,"prelude":`).option(c.Prelude)
	return e.raw(`}`).done()
}

// AppendEvent appends ev as the module reads it. It fails unless exactly one
// variant is set, in each union within, and on text that is not UTF-8.
func AppendEvent(dst []byte, ev Event) ([]byte, error) {
	e := encoder{buf: dst}
	e.event(ev)
	return e.done()
}

// AppendActions appends actions as the module returns them, or fails as
// AppendEvent does.
func AppendActions(dst []byte, actions []Action) ([]byte, error) {
	e := encoder{buf: dst}
	list(&e, actions, (*encoder).action)
	return e.done()
}

// AppendMessage appends m as it stands in a conversation, or fails as
// AppendEvent does.
func AppendMessage(dst []byte, m Message) ([]byte, error) {
	e := encoder{buf: dst}
	e.message(m)
	return e.done()
}

// encoder appends; its first error sticks.
type encoder struct {
	buf []byte
	err error
}

func (e *encoder) done() ([]byte, error) {
	if e.err != nil {
		return nil, e.err
	}
	return e.buf, nil
}

func (e *encoder) fail(what string) {
	if e.err == nil {
		e.err = &Error{At: len(e.buf), What: what}
	}
}

func (e *encoder) raw(s string) *encoder {
	e.buf = append(e.buf, s...)
	return e
}

func (e *encoder) text(s string) *encoder {
	var valid bool
	if e.buf, valid = AppendQuoted(e.buf, s); !valid {
		e.fail("text that is not UTF-8")
	}
	return e
}

func (e *encoder) option(s *string) *encoder {
	if s == nil {
		return e.raw("null")
	}
	return e.text(*s)
}

func (e *encoder) uint(n uint64) *encoder {
	e.buf = strconv.AppendUint(e.buf, n, 10)
	return e
}

func (e *encoder) bool(b bool) *encoder {
	e.buf = strconv.AppendBool(e.buf, b)
	return e
}

func list[T any](e *encoder, elements []T, each func(*encoder, T)) {
	e.raw("[")
	for i, element := range elements {
		if i > 0 {
			e.raw(",")
		}
		each(e, element)
	}
	e.raw("]")
}

func (e *encoder) argv(argv []string) {
	list(e, argv, func(e *encoder, arg string) { e.text(arg) })
}

// union counts the variants of one union that are set.
type union struct {
	e    *encoder
	name string
	set  int
}

func (u *union) close() {
	if u.set != 1 {
		u.e.fail(u.name + " with " + strconv.Itoa(u.set) + " variants instead of one")
	}
}

// variant writes a variant with a value when it is set.
func variant[T any](u *union, name string, value *T, write func(*encoder, T)) {
	if value == nil {
		return
	}
	u.set++
	u.e.raw(`{"`).raw(name).raw(`":`)
	write(u.e, *value)
	u.e.raw(`}`)
}

// bare writes a variant without a value when it is set.
func (u *union) bare(name string, set bool) {
	if set {
		u.set++
		u.e.raw(`"`).raw(name).raw(`"`)
	}
}

func (e *encoder) event(ev Event) {
	u := union{e: e, name: "an event"}
	defer u.close()
	variant(&u, "Turn", ev.Turn, (*encoder).turn)
	variant(&u, "Model", ev.Model, (*encoder).answer)
	variant(&u, "Exec", ev.Exec, (*encoder).output)
	variant(&u, "File", ev.File, (*encoder).output)
	variant(&u, "Git", ev.Git, (*encoder).output)
	variant(&u, "Browse", ev.Browse, (*encoder).output)
	variant(&u, "Tool", ev.Tool, (*encoder).output)
	u.bare("Timer", ev.Timer)
	variant(&u, "Cancel", ev.Cancel, (*encoder).cancel)
	variant(&u, "Rebase", ev.Rebase, (*encoder).rebase)
}

func (e *encoder) op(o Op) {
	u := union{e: e, name: "an operation"}
	defer u.close()
	variant(&u, "Model", o.Model, (*encoder).ask)
	variant(&u, "Read", o.Read, (*encoder).read)
	variant(&u, "Write", o.Write, (*encoder).write)
	variant(&u, "Patch", o.Patch, (*encoder).patch)
	variant(&u, "Exec", o.Exec, (*encoder).exec)
	variant(&u, "Git", o.Git, (*encoder).git)
	variant(&u, "Browse", o.Browse, (*encoder).browse)
	variant(&u, "Tool", o.Tool, (*encoder).use)
	variant(&u, "Emit", o.Emit, (*encoder).emit)
	u.bare("Save", o.Save)
	variant(&u, "Done", o.Done, (*encoder).end)
}

func (e *encoder) call(c Call) {
	u := union{e: e, name: "a call"}
	defer u.close()
	variant(&u, "Read", c.Read, (*encoder).read)
	variant(&u, "Write", c.Write, (*encoder).write)
	variant(&u, "Patch", c.Patch, (*encoder).patch)
	variant(&u, "Exec", c.Exec, (*encoder).exec)
	variant(&u, "Git", c.Git, (*encoder).git)
	variant(&u, "Browse", c.Browse, (*encoder).browse)
	variant(&u, "Tool", c.Tool, (*encoder).use)
}

func (e *encoder) message(m Message) {
	u := union{e: e, name: "a message"}
	defer u.close()
	variant(&u, "User", m.User, (*encoder).emit)
	variant(&u, "Agent", m.Agent, (*encoder).agent)
	variant(&u, "Tool", m.Tool, (*encoder).tool)
}

func (e *encoder) outcome(o Outcome) {
	u := union{e: e, name: "an outcome"}
	defer u.close()
	u.bare("Complete", o.Complete)
	u.bare("Cancelled", o.Cancelled)
}
