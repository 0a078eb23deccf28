package httpmodel

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// Limits of what a server may send, in bytes.
const (
	maxLine   = 16 << 20  // of a stream, and of a reply that is not streamed
	maxStream = 512 << 20 // of a whole stream
	maxError  = 64 << 10  // of an error's body; what goes beyond is not read
)

// errTooLong says that a server sent more than any reply takes.
var errTooLong = errors.New("the stream went over a limit")

// Event is one event of a stream. Data is valid until the next call of Next.
type Event struct {
	Name string
	Data []byte
	// Last says that the stream ended without the blank line that ends an event:
	// Data may be cut.
	Last bool
}

// Decoder reads server-sent events: lines that end in LF, CRLF or CR, events that
// end in a blank line, comments and unknown fields passed over.
type Decoder struct {
	r      io.Reader
	limit  int   // the most bytes of a line and of an event
	whole  int64 // the most bytes of the stream
	buf    []byte
	start  int  // of what was not handed out yet
	looked int  // how far after start no line end was found
	skipLF bool // the line before ended in CR
	begun  bool // the byte order mark was looked for
	total  int64
	err    error // of r
	data   []byte
}

// NewDecoder makes a decoder that reads no more than it must.
func NewDecoder(r io.Reader) *Decoder { return &Decoder{r: r, limit: maxLine, whole: maxStream} }

// Next returns the next event that has data. At the end of the stream the error
// is io.EOF; another one is the reader's own, or says which limit was passed.
func (d *Decoder) Next() (Event, error) {
	var ev Event
	d.data = d.data[:0]
	filled := false
	for {
		line, err := d.line()
		if err != nil {
			if errors.Is(err, io.EOF) && filled {
				ev.Data, ev.Last = d.data, true
				return ev, nil
			}
			return Event{}, err
		}
		if len(line) == 0 {
			if filled && len(d.data) > 0 {
				ev.Data = d.data
				return ev, nil
			}
			ev, filled = Event{}, false
			d.data = d.data[:0]
			continue
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(name) {
		case "event":
			ev.Name = string(value)
		case "data":
			if filled {
				d.data = append(d.data, '\n')
			}
			d.data = append(d.data, value...)
			filled = true
			if len(d.data) > d.limit {
				return Event{}, fmt.Errorf("%w: an event is over %d MiB", errTooLong, maxLine>>20)
			}
		}
	}
}

// line returns the next line without its end. A last line without an end is a
// line, too.
func (d *Decoder) line() ([]byte, error) {
	for {
		rest := d.buf[d.start:]
		if d.skipLF && len(rest) > 0 {
			d.skipLF = false
			if rest[0] == '\n' {
				d.start++
				continue
			}
		}
		if !d.begun && (len(rest) >= 3 || d.err != nil) {
			d.begun = true
			if bytes.HasPrefix(rest, []byte("\ufeff")) {
				d.start += 3
				continue
			}
		}
		if i := bytes.IndexAny(rest[d.looked:], "\r\n"); d.begun && i >= 0 {
			end := d.looked + i
			d.skipLF = rest[end] == '\r'
			d.start += end + 1
			d.looked = 0
			return rest[:end], nil
		}
		if d.begun {
			d.looked = len(rest)
		}
		if d.err != nil {
			if errors.Is(d.err, io.EOF) && len(rest) > 0 {
				d.start, d.looked = len(d.buf), 0
				return rest, nil
			}
			return nil, d.err
		}
		if err := d.fill(); err != nil {
			return nil, err
		}
	}
}

// fill reads once. It remembers the reader's error for when the buffer is used up.
func (d *Decoder) fill() error {
	if d.start > 0 {
		d.buf = d.buf[:copy(d.buf, d.buf[d.start:])]
		d.start = 0
	}
	if len(d.buf) > d.limit {
		return fmt.Errorf("%w: a line is over %d MiB", errTooLong, maxLine>>20)
	}
	if cap(d.buf)-len(d.buf) < 512 {
		grown := make([]byte, len(d.buf), max(8<<10, 2*cap(d.buf)))
		copy(grown, d.buf)
		d.buf = grown
	}
	n, err := d.r.Read(d.buf[len(d.buf):cap(d.buf)])
	d.buf = d.buf[:len(d.buf)+n]
	d.err = err
	if d.total += int64(n); d.total > d.whole {
		return fmt.Errorf("%w: it is over %d MiB", errTooLong, maxStream>>20)
	}
	return nil
}
