package abi

// The structs that are no unions: every member, in the order of declaration.

func (e *encoder) action(a Action) {
	e.raw(`{"id":`).uint(a.ID).raw(`,"op":`)
	e.op(a.Op)
	e.raw(`}`)
}

func (e *encoder) turn(t Turn) {
	e.raw(`{"id":`).uint(t.ID).raw(`,"prompt":`).text(t.Prompt).raw(`}`)
}

func (e *encoder) cancel(c Cancel) { e.raw(`{"turn":`).uint(c.Turn).raw(`}`) }

func (e *encoder) rebase(b Rebase) {
	e.raw(`{"next_id":`).uint(b.NextID).raw(`,"turn":`).uint(b.Turn).raw(`,"messages":`)
	list(e, b.Messages, (*encoder).message)
	e.raw(`}`)
}

func (e *encoder) answer(a Answer) {
	e.raw(`{"id":`).uint(a.ID).raw(`,"reply":`)
	e.reply(a.Reply)
	e.raw(`}`)
}

func (e *encoder) reply(r Reply) {
	e.raw(`{"text":`).option(r.Text).raw(`,"calls":`)
	list(e, r.Calls, (*encoder).call)
	e.raw(`}`)
}

func (e *encoder) output(o Output) {
	e.raw(`{"id":`).uint(o.ID).raw(`,"text":`).text(o.Text).raw(`,"failed":`).bool(o.Failed).raw(`}`)
}

func (e *encoder) ask(a Ask) {
	e.raw(`{"model":`).option(a.Model).raw(`,"prelude":`).option(a.Prelude).raw(`,"messages":`)
	list(e, a.Messages, (*encoder).message)
	e.raw(`}`)
}

func (e *encoder) read(r Read) { e.raw(`{"path":`).text(r.Path).raw(`}`) }

func (e *encoder) write(w Write) {
	e.raw(`{"path":`).text(w.Path).raw(`,"text":`).text(w.Text).raw(`}`)
}

func (e *encoder) patch(p Patch) {
	e.raw(`{"path":`).text(p.Path).raw(`,"diff":`).text(p.Diff).raw(`}`)
}

func (e *encoder) exec(x Exec) {
	e.raw(`{"argv":`).argv(x.Argv)
	e.raw(`,"cwd":`).option(x.Cwd).raw(`}`)
}

func (e *encoder) git(g Git) {
	e.raw(`{"argv":`).argv(g.Argv)
	e.raw(`}`)
}

func (e *encoder) browse(b Browse) {
	e.raw(`{"url":`).text(b.URL).raw(`,"body":`).option(b.Body).raw(`}`)
}

func (e *encoder) use(u Use) {
	e.raw(`{"name":`).text(u.Name).raw(`,"arguments":`).text(u.Arguments).raw(`}`)
}

func (e *encoder) emit(text string) { e.text(text) }

func (e *encoder) end(d Done) {
	e.raw(`{"turn":`).uint(d.Turn).raw(`,"outcome":`)
	e.outcome(d.Outcome)
	e.raw(`}`)
}

func (e *encoder) agent(a Agent) {
	e.raw(`{"text":`).option(a.Text).raw(`,"calls":`)
	list(e, a.Calls, (*encoder).dispatch)
	e.raw(`}`)
}

func (e *encoder) dispatch(d Dispatch) {
	e.raw(`{"id":`).uint(d.ID).raw(`,"call":`)
	e.call(d.Call)
	e.raw(`}`)
}

func (e *encoder) tool(t Tool) {
	e.raw(`{"id":`).uint(t.ID).raw(`,"text":`).text(t.Text).raw(`,"failed":`).bool(t.Failed).raw(`}`)
}
