package abi

import "unsafe"

// word is the eight bytes of data from i on, the first one lowest. The compiler
// for wasm does not join eight loads of a byte into one by itself.
func word(data []byte, i int) uint64 {
	_ = data[i+7]
	return *(*uint64)(unsafe.Pointer(&data[i]))
}
