package proc

import (
	"io"
	"os"
	"strings"
	"time"
	"unicode/utf8"
)

// Output is what was kept of a stream: its start and, when something between was
// dropped, its end.
type Output struct {
	Head, Tail []byte
	// Elided counts the bytes dropped between Head and Tail, ElidedRunes the
	// characters that they began. Both are zero when everything was kept; then all
	// of it is in Head.
	Elided, ElidedRunes int64
}

// Bytes returns all that was kept, without a mark where something was dropped.
func (o Output) Bytes() []byte {
	if len(o.Tail) == 0 {
		return o.Head
	}
	return append(o.Head[:len(o.Head):len(o.Head)], o.Tail...)
}

// String returns all that was kept as valid UTF-8, each invalid byte replaced.
func (o Output) String() string {
	return strings.ToValidUTF8(string(o.Bytes()), string(utf8.RuneError))
}

// keeper keeps the first head and the last tail bytes of what is written to it.
type keeper struct {
	head, tail   int
	first        []byte
	ring         []byte
	at           int // where the oldest byte of a full ring stands
	elided, rune int64
}

// Write never fails and never keeps p.
func (k *keeper) Write(p []byte) (int, error) {
	n := len(p)
	if room := k.head - len(k.first); room > 0 {
		take := min(room, len(p))
		k.first = append(k.first, p[:take]...)
		p = p[take:]
	}
	if over := len(p) - k.tail; over > 0 {
		// The whole ring and the start of p are dropped.
		k.drop(k.ring)
		k.ring, k.at = k.ring[:0], 0
		k.drop(p[:over])
		p = p[over:]
	}
	if room := k.tail - len(k.ring); room > 0 {
		take := min(room, len(p))
		k.ring = append(k.ring, p[:take]...)
		p = p[take:]
	}
	for len(p) > 0 {
		take := min(len(k.ring)-k.at, len(p))
		k.drop(k.ring[k.at : k.at+take])
		copy(k.ring[k.at:], p[:take])
		k.at = (k.at + take) % len(k.ring)
		p = p[take:]
	}
	return n, nil
}

func (k *keeper) drop(p []byte) {
	k.elided += int64(len(p))
	for _, b := range p {
		if utf8.RuneStart(b) {
			k.rune++
		}
	}
}

func (k *keeper) output() Output {
	tail := append(k.ring[k.at:len(k.ring):len(k.ring)], k.ring[:k.at]...)
	if k.elided == 0 {
		return Output{Head: append(k.first, tail...)}
	}
	return Output{Head: k.first, Tail: tail, Elided: k.elided, ElidedRunes: k.rune}
}

// pump reads a program's stream into a keeper until the last writer closes it.
type pump struct {
	r, w   *os.File
	keep   keeper
	live   io.Writer     // nil for none
	closed chan struct{} // closed when reading has ended
}

func newPump(spec Spec) (*pump, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	return &pump{
		r: r, w: w, closed: make(chan struct{}),
		keep: keeper{head: spec.KeepHead, tail: spec.KeepTail}, live: spec.Live,
	}, nil
}

// abort releases a pump that was never started.
func (p *pump) abort() {
	p.r.Close() //nolint:errcheck // nothing was read
	p.w.Close() //nolint:errcheck // nothing was written
}

// start closes this process's copy of the writing end and starts to read.
func (p *pump) start() {
	p.w.Close() //nolint:errcheck // nothing was written
	go func() {
		defer close(p.closed)
		buf := make([]byte, 64<<10)
		for {
			n, err := p.r.Read(buf)
			_, _ = p.keep.Write(buf[:n])
			if p.live != nil {
				_, _ = p.live.Write(buf[:n])
			}
			if err != nil {
				return // the end, or finish's deadline: what came is kept
			}
		}
	}()
}

// finish waits at most d for the stream's end and returns what was kept.
func (p *pump) finish(d time.Duration) Output {
	if !p.await(time.After(d)) {
		// A writer that cannot be ended keeps the pipe open. Reading stops; where the
		// platform cannot interrupt a read, closing the file does.
		if p.r.SetReadDeadline(time.Unix(1, 0)) != nil {
			p.r.Close() //nolint:errcheck // only read
		}
		<-p.closed
	}
	p.r.Close() //nolint:errcheck // only read
	return p.keep.output()
}

func (p *pump) await(limit <-chan time.Time) bool {
	select {
	case <-p.closed:
		return true
	case <-limit:
		return false
	}
}

// awaitBoth reports whether both streams ended within d.
func awaitBoth(a, b *pump, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	return a.await(t.C) && b.await(t.C)
}
