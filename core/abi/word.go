//go:build !wasm

package abi

import "encoding/binary"

// word is the eight bytes of data from i on, the first one lowest.
func word(data []byte, i int) uint64 { return binary.LittleEndian.Uint64(data[i:]) }
