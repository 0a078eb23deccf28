package loop

import (
	"strconv"

	"github.com/agent-lsp/agent-lsp/core/abi"
)

// readMessages reads a list of abi.Message and returns it as the encoder spells
// it, without brackets.
func readMessages(r *abi.Reader) []byte {
	if r.Null() {
		return nil
	}
	start := r.Mark()
	r.Enter('[')
	for r.More(']') {
		readMessage(r, nil)
	}
	if r.Err() != nil {
		return nil
	}
	list := r.Since(start)
	if r.Plain() {
		return list[1 : len(list)-1]
	}
	again := abi.NewReader(list)
	out := make([]byte, 0, len(list))
	again.Enter('[')
	for again.More(']') {
		if len(out) > 0 {
			out = append(out, ',')
		}
		out = readMessage(&again, out)
	}
	return out
}

// readMessage reads an abi.Message and appends it to out as the encoder spells
// it; nothing is written to a nil out. Plain says whether it was spelt so.
func readMessage(r *abi.Reader, out []byte) []byte {
	name, bare := r.Variant()
	switch {
	case bare:
		r.Unknown("message", name)
		return out
	case string(name) == "User":
		text := r.Literal()
		if out != nil {
			out = appendAll(out, `{"User":`, text, `}`)
		}
	case string(name) == "Tool":
		id, text, failed := readOutput(r)
		if out != nil {
			out = strconv.AppendUint(append(out, `{"Tool":{"id":`...), id, 10)
			out = appendAll(out, `,"text":`, text, `,"failed":`)
			out = append(strconv.AppendBool(out, failed), "}}"...)
		}
	case string(name) == "Agent":
		out = readAgent(r, out)
	default:
		r.Unknown("message", name)
	}
	r.Close()
	return out
}

func readAgent(r *abi.Reader, out []byte) []byte {
	var seen uint
	text, calls := null, []byte(nil)
	if out != nil {
		calls = []byte{}
	}
	r.Enter('{')
	for r.More('}') {
		switch name := r.Name(); string(name) {
		case "text":
			r.Once(&seen, 0)
			if lit := optional(r); lit != nil {
				text = lit
			}
		case "calls":
			r.Once(&seen, 1)
			if r.Null() {
				r.Foreign()
				continue
			}
			r.Enter('[')
			for r.More(']') {
				calls = readDispatch(r, calls)
			}
		default:
			r.Unknown("member", name)
		}
	}
	r.Whole(seen, 2)
	if out == nil {
		return nil
	}
	out = appendAll(out, `{"Agent":{"text":`, text, `,"calls":[`)
	return append(append(out, calls...), "]}}"...)
}

// readDispatch is readMessage for an abi.Dispatch of a list.
func readDispatch(r *abi.Reader, out []byte) []byte {
	var seen uint
	var id uint64
	var body []byte
	r.Enter('{')
	for r.More('}') {
		switch name := r.Name(); string(name) {
		case "id":
			r.Once(&seen, 0)
			id = r.Uint()
		case "call":
			r.Once(&seen, 1)
			plain := r.Plain()
			body = readCall(r).body
			if !plain {
				r.Foreign()
			}
		default:
			r.Unknown("member", name)
		}
	}
	r.Whole(seen, 2)
	if out == nil {
		return nil
	}
	if len(out) > 0 {
		out = append(out, ',')
	}
	out = strconv.AppendUint(append(out, `{"id":`...), id, 10)
	return appendAll(out, `,"call":`, body, `}`)
}

func appendAll(out []byte, before string, value []byte, behind string) []byte {
	return append(append(append(out, before...), value...), behind...)
}
