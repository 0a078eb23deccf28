// Package coretest plays the host of a session in tests: from a stream of
// choices it makes events that are mostly what a host would pass to the core and
// sometimes late, doubled, of the wrong family or for nobody.
package coretest

import (
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/agent-lsp/agent-lsp/core/abi"
)

// Choose returns a number from 0 to n-1.
type Choose func(n int) int

// Seeded draws choices from a generator with this seed.
func Seeded(seed uint64) Choose {
	return rand.New(rand.NewPCG(seed, 1)).IntN
}

// FromBytes draws choices from data, then ones of 0.
func FromBytes(data []byte) Choose {
	return func(n int) int {
		if len(data) == 0 {
			return 0
		}
		c := int(data[0])
		data = data[1:]
		return c % n
	}
}

// Texts are prompts, replies and results that are hard to spell.
var Texts = []string{
	"", "a", "two\nlines\r\n", "\"quoted\" and \\ and /", "\x00\x01\x1f\x7f\b\f\t",
	"h\u00e9 \u6f22\u5b57 \U0001f600\u2028\u2029", "</script>&amp;", "{\"User\":\"no\"}", "null", "\\u0041",
	strings.Repeat("0123456\n", 700), strings.Repeat("\U0001f600", 40),
}

// Paths are some inside the workspace and some outside.
var Paths = []string{
	"a.go", "", ".", "./b", "dir/../c", "..foo", "a/..b", "...", "x:y:z", "a b",
	"/etc/passwd", "..", "../x", "a/../../x", "a\\..\\..\\x", "\\x", "C:x", "c:\\x", "a/../D:/x", "\\\\host\\share",
}

// Player makes events. Saw must be passed every result.
type Player struct {
	choose Choose
	turn   uint64         // the last one sent
	last   uint64         // the last action's id
	asks   []uint64       // every ask seen, the last one is newest
	open   []abi.Dispatch // calls that were dispatched and have no result
	past   []abi.Event    // events to send again
}

// NewPlayer makes one.
func NewPlayer(choose Choose) *Player { return &Player{choose: choose} }

// Saw notes the actions of the last event.
func (p *Player) Saw(actions []abi.Action) {
	for _, a := range actions {
		o := a.Op
		p.last = a.ID
		switch {
		case o.Model != nil:
			p.asks = append(p.asks, a.ID)
		case o.Save, o.Emit != nil, o.Done != nil:
		default:
			p.open = append(p.open, abi.Dispatch{ID: a.ID, Call: abi.Call{
				Read: o.Read, Write: o.Write, Patch: o.Patch, Exec: o.Exec, Git: o.Git, Browse: o.Browse, Tool: o.Tool,
			}})
		}
	}
}

// Next makes an event.
func (p *Player) Next() abi.Event {
	ev := p.next()
	p.past = append(p.past, ev)
	return ev
}

func (p *Player) next() abi.Event {
	c := p.choose
	switch c(18) {
	case 0, 1:
		p.turn += uint64(1 + c(2))
		return abi.Event{Turn: &abi.Turn{ID: p.turn, Prompt: p.text()}}
	case 2:
		return abi.Event{Timer: true}
	case 3:
		return abi.Event{Cancel: &abi.Cancel{Turn: p.turn - min(p.turn, uint64(c(4)))}}
	case 4:
		if len(p.past) > 0 {
			return p.past[len(p.past)-1-c(min(len(p.past), 8))]
		}
	case 5:
		return p.result(abi.Output{ID: uint64(c(200)), Text: p.text()}, c(5))
	case 16:
		return p.rebase()
	case 6, 7, 8, 9:
		if len(p.asks) > 0 {
			id := p.asks[len(p.asks)-1-c(c(len(p.asks))+1)%len(p.asks)]
			return abi.Event{Model: &abi.Answer{ID: id, Reply: p.reply()}}
		}
	default:
		if len(p.open) > 0 {
			i := c(len(p.open))
			d := p.open[i]
			p.open = slices.Delete(p.open, i, i+1)
			family := 1
			switch {
			case d.Call.Exec != nil:
				family = 0
			case d.Call.Git != nil:
				family = 2
			case d.Call.Browse != nil:
				family = 3
			case d.Call.Tool != nil:
				family = 4
			}
			if c(8) == 7 { // of the wrong family, and then again
				p.open = append(p.open, d)
				family = c(5)
			}
			return p.result(abi.Output{ID: d.ID, Text: p.text(), Failed: c(2) == 1}, family)
		}
	}
	p.turn++
	return abi.Event{Turn: &abi.Turn{ID: p.turn, Prompt: p.text()}}
}

func (p *Player) result(o abi.Output, family int) abi.Event {
	switch family {
	case 0:
		return abi.Event{Exec: &o}
	case 1:
		return abi.Event{File: &o}
	case 2:
		return abi.Event{Git: &o}
	case 4:
		return abi.Event{Tool: &o}
	}
	return abi.Event{Browse: &o}
}

// rebase makes one with ids and turns that mostly go forward.
func (p *Player) rebase() abi.Event {
	c := p.choose
	b := abi.Rebase{NextID: p.last + uint64(c(6)), Turn: p.turn + 1 - min(p.turn, uint64(c(3)))}
	for i := range uint64(c(5)) {
		switch c(3) {
		case 0:
			b.Messages = append(b.Messages, abi.Message{User: new(p.text())})
		case 1:
			b.Messages = append(b.Messages, abi.Message{Tool: &abi.Tool{ID: i, Text: p.text(), Failed: c(2) == 1}})
		default:
			m := abi.Agent{Text: p.option()}
			for range c(3) {
				m.Calls = append(m.Calls, abi.Dispatch{ID: i, Call: p.Call()})
			}
			b.Messages = append(b.Messages, abi.Message{Agent: &m})
		}
	}
	p.turn = max(p.turn, b.Turn)
	return abi.Event{Rebase: &b}
}

func (p *Player) text() string { return Texts[p.choose(len(Texts))] }
func (p *Player) path() string { return Paths[p.choose(len(Paths))] }

func (p *Player) option() *string {
	if p.choose(3) == 0 {
		return nil
	}
	return new(p.text())
}

func (p *Player) argv() (argv []string) {
	for range p.choose(4) {
		argv = append(argv, p.text())
	}
	return argv
}

func (p *Player) reply() abi.Reply {
	r := abi.Reply{Text: p.option()}
	if p.choose(3) == 0 {
		return r
	}
	for range p.choose(4) {
		r.Calls = append(r.Calls, p.Call())
	}
	return r
}

// Call makes a call of a model.
func (p *Player) Call() abi.Call {
	switch p.choose(8) {
	case 7:
		return abi.Call{Tool: &abi.Use{Name: p.text(), Arguments: p.text()}}
	case 0, 1:
		return abi.Call{Read: &abi.Read{Path: p.path()}}
	case 2:
		return abi.Call{Write: &abi.Write{Path: p.path(), Text: p.text()}}
	case 3:
		return abi.Call{Patch: &abi.Patch{Path: p.path(), Diff: p.text()}}
	case 4:
		x := abi.Exec{Argv: p.argv()}
		if p.choose(2) == 1 {
			x.Cwd = new(p.path())
		}
		return abi.Call{Exec: &x}
	case 5:
		return abi.Call{Git: &abi.Git{Argv: p.argv()}}
	}
	return abi.Call{Browse: &abi.Browse{URL: p.text(), Body: p.option()}}
}

// Config makes a configuration.
func (p *Player) Config() abi.Config { return abi.Config{Model: p.option(), Prelude: p.option()} }
