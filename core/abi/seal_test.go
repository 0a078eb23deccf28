package abi_test

import (
	"bytes"
	"testing"

	"github.com/agent-lsp/agent-lsp/core/abi"
)

func sealed(body []byte) []byte {
	state := append(make([]byte, abi.SealHead), body...)
	state = append(state, make([]byte, abi.SealTail)...)
	abi.PutSeal(state)
	return state
}

func TestASealShowsEveryFlippedBitAndEveryCut(t *testing.T) {
	for _, n := range []int{0, 1, 7, 8, 9, 63, 64, 65, 130} {
		body := bytes.Repeat([]byte("core "), n)[:n]
		state := sealed(body)
		if got, ok := abi.Unseal(state); !ok || !bytes.Equal(got, body) {
			t.Fatalf("a seal around %d bytes does not hold", n)
		}
		for bit := range 8 * len(state) {
			state[bit/8] ^= 1 << (bit % 8)
			if _, ok := abi.Unseal(state); ok {
				t.Fatalf("bit %d of %d bytes was flipped unseen", bit, n)
			}
			state[bit/8] ^= 1 << (bit % 8)
		}
		for cut := range state {
			if _, ok := abi.Unseal(state[:cut]); ok {
				t.Fatalf("a cut at %d of %d bytes went unseen", cut, n)
			}
		}
		if _, ok := abi.Unseal(append(state, 0)); ok {
			t.Fatalf("a byte behind %d bytes went unseen", n)
		}
	}
}
