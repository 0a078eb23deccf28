package core

import "encoding/binary"

// hostFake is a module made by hand, for what the real one never does.
type hostFake struct {
	noMemory bool
	imports  []hostImport
	data     []byte // stands at address 64
	exports  []hostExport
}

// hostExport is a function: so many i32 parameters (wide makes the first one an
// i64), an i32 result or none, and the code of its body.
type hostExport struct {
	name   string
	params int
	wide   bool
	result bool
	code   []byte
}

// hostImport is a function of WASI that the module asks for. Imports are numbered
// from 0, before the exports, and return an i32.
type hostImport struct {
	name   string
	params []byte // 0x7f for an i32, 0x7e for an i64
}

// Code of bodies.
var (
	hostSpin = []byte{0x03, 0x40, 0x0c, 0x00, 0x0b, 0x00} // loop, br 0, end, unreachable
	hostTrap = []byte{0x00}                               // unreachable
	hostNone = []byte(nil)
)

// hostConst returns n.
func hostConst(n int32) []byte { return append([]byte{0x41}, hostSigned(int64(n))...) }

// hostStore writes v at the address in parameter p plus offset, and leaves the
// stack as it was.
func hostStore(p byte, offset uint32, v int32) []byte {
	code := append([]byte{0x20, p, 0x41}, hostSigned(int64(v))...)
	return append(append(code, 0x36, 0x02), hostUnsigned(offset)...)
}

func hostJoin(parts ...[]byte) (all []byte) {
	for _, part := range parts {
		all = append(all, part...)
	}
	return all
}

// hostFakeCore is a module that makes sessions whose every answer is the text,
// with functions replaced by those given.
func hostFakeCore(text string, with ...hostExport) []byte {
	return hostFakeOf(text, with...).bytes()
}

func hostFakeOf(text string, with ...hostExport) hostFake {
	f := hostFake{data: []byte(text), exports: []hostExport{
		{"dev_abi", 0, false, true, hostConst(ABI)},
		{"dev_alloc", 1, false, true, hostConst(1024)},
		{"dev_release", 2, false, false, hostNone},
		{"dev_new", 3, false, true, hostConst(0)},
		{"dev_restore", 3, false, true, hostConst(0)},
		{"dev_step", 4, true, true, hostJoin(hostStore(3, 0, 64), hostStore(3, 4, int32(len(text))), hostConst(0))},
		{"dev_snapshot", 2, true, true, hostJoin(hostStore(1, 0, 64), hostStore(1, 4, int32(len(text))), hostConst(0))},
		{"dev_free", 1, false, false, hostNone},
		{"dev_drop", 1, true, false, hostNone},
	}}
	for _, w := range with {
		for i := range f.exports {
			if f.exports[i].name == w.name {
				f.exports[i] = w
			}
		}
	}
	return f
}

// bytes is the module, in WebAssembly's binary format.
func (f hostFake) bytes() []byte {
	var types, imports, functions, exports, code [][]byte
	for i, im := range f.imports {
		types = append(types, hostJoin([]byte{0x60}, hostSized(im.params), hostSized([]byte{0x7f})))
		imports = append(imports, hostJoin(hostSized([]byte("wasi_snapshot_preview1")), hostSized([]byte(im.name)), []byte{0x00}, hostUnsigned(uint32(i))))
	}
	for i, e := range f.exports {
		i += len(f.imports)
		params := make([]byte, e.params)
		for j := range params {
			params[j] = 0x7f
		}
		if e.wide {
			params[0] = 0x7e
		}
		results := []byte{}
		if e.result {
			results = []byte{0x7f}
		}
		types = append(types, hostJoin([]byte{0x60}, hostSized(params), hostSized(results)))
		functions = append(functions, hostUnsigned(uint32(i)))
		exports = append(exports, hostJoin(hostSized([]byte(e.name)), []byte{0x00}, hostUnsigned(uint32(i))))
		code = append(code, hostSized(hostJoin([]byte{0x00}, e.code, []byte{0x0b})))
	}
	out := []byte("\x00asm\x01\x00\x00\x00")
	section := func(id byte, entries ...[]byte) {
		out = append(append(out, id), hostSized(hostJoin(hostUnsigned(uint32(len(entries))), hostJoin(entries...)))...)
	}
	section(1, types...)
	section(2, imports...)
	section(3, functions...)
	if !f.noMemory {
		section(5, []byte{0x00, 0x02}) // two pages
		exports = append(exports, hostJoin(hostSized([]byte("memory")), []byte{0x02, 0x00}))
	}
	section(7, exports...)
	section(10, code...)
	if !f.noMemory {
		section(11, hostJoin([]byte{0x00, 0x41}, hostSigned(64), []byte{0x0b}, hostSized(f.data)))
	}
	return out
}

func hostSized(b []byte) []byte { return append(hostUnsigned(uint32(len(b))), b...) }

func hostUnsigned(n uint32) []byte { return binary.AppendUvarint(nil, uint64(n)) }

func hostSigned(n int64) (b []byte) {
	for {
		c := byte(n & 0x7f)
		n >>= 7
		if n == 0 && c&0x40 == 0 || n == -1 && c&0x40 != 0 {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}
