package abi

// fields reads an object that has all members named, in any order; each is
// called with the index of the one that is next.
func (r *messageReader) fields(names []string, each func(index int)) {
	r.Whole(r.members(names, each), len(names))
}

// members is fields for an object that may lack some.
func (r *messageReader) members(names []string, each func(index int)) (seen uint) {
	r.Enter('{')
	for r.More('}') {
		name := r.Name()
		index := 0
		for index < len(names) && names[index] != string(name) {
			index++
		}
		if index == len(names) {
			r.Unknown("member", name)
			return seen
		}
		r.Once(&seen, index)
		each(index)
	}
	return seen
}

var (
	configNames   = []string{"model", "prelude"}
	actionNames   = []string{"id", "op"}
	turnNames     = []string{"id", "prompt"}
	cancelNames   = []string{"turn"}
	doneNames     = []string{"turn", "outcome"}
	askNames      = []string{"model", "prelude", "messages"}
	readNames     = []string{"path"}
	writeNames    = []string{"path", "text"}
	patchNames    = []string{"path", "diff"}
	execNames     = []string{"argv", "cwd"}
	gitNames      = []string{"argv"}
	browseNames   = []string{"url", "body"}
	useNames      = []string{"name", "arguments"}
	rebaseNames   = []string{"next_id", "turn", "messages"}
	answerNames   = []string{"id", "reply"}
	replyNames    = []string{"text", "calls"}
	dispatchNames = []string{"id", "call"}
	outputNames   = []string{"id", "text", "failed"}
)

// config takes an absent member for null, as the core always has.
func (r *messageReader) config() (c Config) {
	r.members(configNames, func(i int) {
		if i == 0 {
			c.Model = r.Option()
		} else {
			c.Prelude = r.Option()
		}
	})
	return c
}

func (r *messageReader) action(d *Decoder) (a Action) {
	r.fields(actionNames, func(i int) {
		if i == 0 {
			a.ID = r.Uint()
		} else {
			a.Op = r.op(d)
		}
	})
	return a
}

func (r *messageReader) turn() (t Turn) {
	r.fields(turnNames, func(i int) {
		if i == 0 {
			t.ID = r.Uint()
		} else {
			t.Prompt = r.Text()
		}
	})
	return t
}

func (r *messageReader) cancel() (c Cancel) {
	r.fields(cancelNames, func(int) { c.Turn = r.Uint() })
	return c
}

func (r *messageReader) end() (d Done) {
	r.fields(doneNames, func(i int) {
		if i == 0 {
			d.Turn = r.Uint()
		} else {
			d.Outcome = r.outcome()
		}
	})
	return d
}

func (r *messageReader) ask(d *Decoder) (a Ask) {
	r.fields(askNames, func(i int) {
		switch i {
		case 0:
			a.Model = r.Option()
		case 1:
			a.Prelude = r.Option()
		default:
			a.Messages = d.conversation(r)
		}
	})
	return a
}

func (r *messageReader) read() (v Read) {
	r.fields(readNames, func(int) { v.Path = r.Text() })
	return v
}

func (r *messageReader) write() (v Write) {
	r.fields(writeNames, func(i int) {
		if i == 0 {
			v.Path = r.Text()
		} else {
			v.Text = r.Text()
		}
	})
	return v
}

func (r *messageReader) patch() (v Patch) {
	r.fields(patchNames, func(i int) {
		if i == 0 {
			v.Path = r.Text()
		} else {
			v.Diff = r.Text()
		}
	})
	return v
}

func (r *messageReader) exec() (v Exec) {
	r.fields(execNames, func(i int) {
		if i == 0 {
			v.Argv = elements(&r.Reader, r.Text)
		} else {
			v.Cwd = r.Option()
		}
	})
	return v
}

func (r *messageReader) git() (v Git) {
	r.fields(gitNames, func(int) { v.Argv = elements(&r.Reader, r.Text) })
	return v
}

func (r *messageReader) browse() (v Browse) {
	r.fields(browseNames, func(i int) {
		if i == 0 {
			v.URL = r.Text()
		} else {
			v.Body = r.Option()
		}
	})
	return v
}

func (r *messageReader) use() (v Use) {
	r.fields(useNames, func(i int) {
		if i == 0 {
			v.Name = r.Text()
		} else {
			v.Arguments = r.Text()
		}
	})
	return v
}

func (r *messageReader) rebase() (v Rebase) {
	r.fields(rebaseNames, func(i int) {
		switch i {
		case 0:
			v.NextID = r.Uint()
		case 1:
			v.Turn = r.Uint()
		default:
			v.Messages = elements(&r.Reader, r.message)
		}
	})
	return v
}

func (r *messageReader) answer() (a Answer) {
	r.fields(answerNames, func(i int) {
		if i == 0 {
			a.ID = r.Uint()
		} else {
			a.Reply = r.reply()
		}
	})
	return a
}

func (r *messageReader) reply() (v Reply) {
	r.fields(replyNames, func(i int) {
		if i == 0 {
			v.Text = r.Option()
		} else {
			v.Calls = elements(&r.Reader, r.call)
		}
	})
	return v
}

func (r *messageReader) output() (o Output) {
	r.fields(outputNames, func(i int) {
		switch i {
		case 0:
			o.ID = r.Uint()
		case 1:
			o.Text = r.Text()
		default:
			o.Failed = r.Bool()
		}
	})
	return o
}

func (r *messageReader) agent() (a Agent) {
	r.fields(replyNames, func(i int) {
		if i == 0 {
			a.Text = r.Option()
		} else {
			a.Calls = elements(&r.Reader, r.dispatch)
		}
	})
	return a
}

func (r *messageReader) dispatch() (d Dispatch) {
	r.fields(dispatchNames, func(i int) {
		if i == 0 {
			d.ID = r.Uint()
		} else {
			d.Call = r.call()
		}
	})
	return d
}

func (r *messageReader) tool() Tool { return Tool(r.output()) }
