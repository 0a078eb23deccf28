package loop

import "strconv"

const (
	// headroom is kept before the conversation for what a result or a snapshot
	// says before it, behind the configuration; a longer beginning costs a copy.
	headroom = 4 << 10
	// tailroom is kept behind it.
	tailroom = 16
	// TapeSize is a buffer that never becomes too small while the configuration
	// is under 64 KiB.
	TapeSize = Limit + headroom + tailroom + 64<<10
)

// tape stores the conversation's messages, encoded, with commas between them, at
// buf[start:end].
type tape struct {
	buf        []byte
	start, end int
}

func newTape(buffer []byte, config int) tape {
	start := headroom + config
	if len(buffer) < start+tailroom {
		buffer = make([]byte, start+tailroom+8<<10)
	}
	return tape{buf: buffer, start: start, end: start}
}

// grow makes room for n more bytes.
func (t *tape) grow(n int) {
	if need := t.end + n + tailroom; need > len(t.buf) {
		buf := make([]byte, max(need, 2*len(t.buf)))
		copy(buf[t.start:], t.buf[t.start:t.end])
		t.buf = buf
	}
}

func (t *tape) add(text string) { t.end += copy(t.buf[t.end:], text) }

func (t *tape) put(text []byte) { t.end += copy(t.buf[t.end:], text) }

func (t *tape) uint(n uint64) {
	t.end = len(strconv.AppendUint(t.buf[:t.end], n, 10))
}

// lend returns before, the conversation and after as one run of bytes, with
// tail more at its end for the caller to write. It stands in the tape itself
// when before fits.
func (t *tape) lend(before []byte, after string, tail int) []byte {
	if len(before) <= t.start {
		copy(t.buf[t.start-len(before):], before)
		copy(t.buf[t.end:], after)
		return t.buf[t.start-len(before) : t.end+len(after)+tail]
	}
	all := make([]byte, 0, len(before)+t.end-t.start+len(after)+tail)
	all = append(all, before...)
	all = append(all, t.buf[t.start:t.end]...)
	all = append(all, after...)
	return all[:len(all)+tail]
}
