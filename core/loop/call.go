package loop

import "github.com/agent-lsp/agent-lsp/core/abi"

// shape is what a variant of abi.Call has: members of strings, the first of
// which may be a list and the last of which may be an option.
type shape struct {
	family  family
	members [2]string
	count   int
	list    bool // the first member is a list
	option  bool // the last member is an option
	path    int  // the member that must stay inside the workspace, -1 for none
}

var shapes = [...]struct {
	name string
	shape
}{
	{"Read", shape{fileFamily, [2]string{"path"}, 1, false, false, 0}},
	{"Write", shape{fileFamily, [2]string{"path", "text"}, 2, false, false, 0}},
	{"Patch", shape{fileFamily, [2]string{"path", "diff"}, 2, false, false, 0}},
	{"Exec", shape{execFamily, [2]string{"argv", "cwd"}, 2, true, true, 1}},
	{"Git", shape{gitFamily, [2]string{"argv"}, 1, true, false, -1}},
	{"Browse", shape{browseFamily, [2]string{"url", "body"}, 2, false, true, -1}},
	{"Tool", shape{toolFamily, [2]string{"name", "arguments"}, 2, false, false, -1}},
}

// readCall reads a call of the model and judges its path.
func readCall(r *abi.Reader) (c request) {
	start := r.Mark()
	name, bare := r.Variant()
	at := 0
	for at < len(shapes) && shapes[at].name != string(name) {
		at++
	}
	if bare || at == len(shapes) {
		r.Unknown("call", name)
		return c
	}
	sh := &shapes[at].shape
	values := sh.read(r)
	r.Close()
	if r.Err() != nil {
		return c
	}
	c.family = sh.family
	if r.Plain() {
		c.body = r.Since(start)
	} else {
		c.body = sh.write(shapes[at].name, values)
	}
	if sh.path >= 0 && values[sh.path] != nil && !inside(values[sh.path]) {
		c.refused = values[sh.path]
	}
	return c
}

// read returns the encoded value of each member, nil for a null option.
func (sh *shape) read(r *abi.Reader) (values [2][]byte) {
	for i := range sh.count {
		switch {
		case i == 0 && sh.list:
			values[i] = []byte("[]")
		case i == sh.count-1 && sh.option:
		default:
			values[i] = empty
		}
	}
	var seen uint
	r.Enter('{')
	for r.More('}') {
		name := r.Name()
		i := 0
		for i < sh.count && sh.members[i] != string(name) {
			i++
		}
		switch {
		case i == sh.count:
			r.Unknown("member", name)
			return values
		case i == 0 && sh.list:
			values[i] = readList(r)
		case i == sh.count-1 && sh.option:
			values[i] = optional(r)
		default:
			values[i] = r.Literal()
		}
		r.Once(&seen, i)
	}
	r.Whole(seen, sh.count)
	return values
}

// readList reads a list of strings and returns it encoded.
func readList(r *abi.Reader) []byte {
	if r.Null() {
		r.Foreign()
		return []byte("[]")
	}
	start := r.At()
	r.Enter('[')
	for r.More(']') {
		r.Literal()
	}
	if r.Err() != nil || r.Plain() {
		return r.Since(start)
	}
	again := abi.NewReader(r.Since(start))
	list := []byte{'['}
	again.Enter('[')
	for again.More(']') {
		if len(list) > 1 {
			list = append(list, ',')
		}
		list = append(list, again.Literal()...)
	}
	return append(list, ']')
}

// write encodes a call that was spelt otherwise.
func (sh *shape) write(name string, values [2][]byte) []byte {
	out := append([]byte(`{"`), name...)
	out = append(out, `":{`...)
	for i := range sh.count {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, '"')
		out = append(out, sh.members[i]...)
		out = append(out, `":`...)
		if values[i] == nil {
			out = append(out, "null"...)
		} else {
			out = append(out, values[i]...)
		}
	}
	return append(out, "}}"...)
}
