package core

import "github.com/tetratelabs/wazero/experimental"

// region is the linear memory of one instance. Where the system allows, it is
// address space reserved once, of which only touched pages cost memory: growing
// copies nothing, and a session with a small conversation stays small.
//
// A region outlives its instance's end, emptied, until nothing can reach the
// instance: code or a view that still runs into it must never hit unmapped
// memory, which would kill the process.
type region struct {
	buf      []byte
	reserved bool // by the system, not by Go
}

var _ experimental.LinearMemory = (*region)(nil)

// newRegion makes one that can grow to limit bytes.
func newRegion(limit uint64) *region {
	if buf, err := reserve(int(limit)); err == nil {
		return &region{buf: buf, reserved: true}
	}
	return new(region)
}

// Reallocate returns the memory with a new size; its bytes stay.
func (g *region) Reallocate(size uint64) []byte {
	switch {
	case g.reserved:
		if !commit(g.buf[:size]) {
			return nil
		}
	case size > uint64(len(g.buf)):
		g.buf = append(g.buf, make([]byte, size-uint64(len(g.buf)))...)
	}
	return g.buf[:size:size]
}

// Free returns the pages and keeps the address space.
func (g *region) Free() {
	if g.reserved {
		empty(g.buf)
	}
}

// unmap returns the address space. Nothing may touch the memory after it.
func (g *region) unmap() {
	if g.reserved {
		release(g.buf)
	}
}
