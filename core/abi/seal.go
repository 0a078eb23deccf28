package abi

import (
	"encoding/binary"
	"math/bits"
)

// A snapshot is a stamp, the length of its body, the body and a checksum of it.
const (
	// SealHead is how many bytes stand before a snapshot's body.
	SealHead = 16
	// SealTail is how many stand behind it.
	SealTail = 8
)

// stamp names the format: the last byte is the version of the interface.
const stamp = "devcore" + string(rune('0'+ABI))

// PutSeal writes the seal around a body of n bytes that stands at
// buf[SealHead:SealHead+n], where buf is SealHead+n+SealTail long.
func PutSeal(buf []byte) {
	n := len(buf) - SealHead - SealTail
	copy(buf, stamp)
	binary.LittleEndian.PutUint64(buf[8:], uint64(n))
	binary.LittleEndian.PutUint64(buf[SealHead+n:], checksum(buf[SealHead:SealHead+n]))
}

// Unseal returns a snapshot's body, which aliases it, and false when the
// snapshot is of another version, cut, longer than it says, or changed.
func Unseal(state []byte) (body []byte, ok bool) {
	n := len(state) - SealHead - SealTail
	if n < 0 || string(state[:8]) != stamp || binary.LittleEndian.Uint64(state[8:]) != uint64(n) {
		return nil, false
	}
	body = state[SealHead : SealHead+n]
	return body, binary.LittleEndian.Uint64(state[SealHead+n:]) == checksum(body)
}

// checksum takes eight bytes at a time through a step that is a bijection of
// the sum and of the word, so that a change within one word always shows.
func checksum(data []byte) uint64 {
	const prime = 0x9e3779b97f4a7c15
	sum := uint64(len(data)) ^ 0xcbf29ce484222325
	mix := func(w uint64) { sum = bits.RotateLeft64((sum^w)*prime, 23) }
	i := 0
	for ; i+64 <= len(data); i += 64 { // a turn of a loop is dear inside the module
		mix(word(data, i))
		mix(word(data, i+8))
		mix(word(data, i+16))
		mix(word(data, i+24))
		mix(word(data, i+32))
		mix(word(data, i+40))
		mix(word(data, i+48))
		mix(word(data, i+56))
	}
	for ; i+8 <= len(data); i += 8 {
		mix(word(data, i))
	}
	var last uint64
	for j, c := range data[i:] {
		last |= uint64(c) << (8 * j)
	}
	mix(last)
	return sum
}
