package abi

import (
	"strconv"
	"unicode/utf8"
)

// Error says where and why bytes are not the message they should be.
type Error struct {
	At   int    // offset into the bytes
	What string // what is wrong there
}

// Error is the text of e.
func (e *Error) Error() string { return "at byte " + strconv.Itoa(e.At) + ": " + e.What }

// Reader is a cursor over one encoded message. It never skips what it does not
// know: every byte is asked for by name, so whatever is not expected is an
// error. The first error sticks; after it every method returns zero values and
// every loop ends, so that callers look at Err once.
type Reader struct {
	data  []byte
	at    int
	fresh bool // an object or list was entered and has had no element yet
	plain bool // nothing so far differs from what the encoder writes
	err   *Error
}

// NewReader starts at the first byte of data. The reader keeps data and its
// literals alias it.
func NewReader(data []byte) Reader { return Reader{data: data, plain: true} }

// Err is the first error, nil when there is none.
func (r *Reader) Err() error {
	if r.err == nil {
		return nil
	}
	return r.err
}

// Fail makes what the error of r, unless it has one.
func (r *Reader) Fail(what string) {
	if r.err == nil {
		r.err = &Error{At: r.at, What: what}
	}
}

// At is the offset of the next unread byte.
func (r *Reader) At() int { return r.at }

// Since is what was read from the offset start on.
func (r *Reader) Since(start int) []byte { return r.data[start:r.at] }

// Plain says whether everything since the last call of Mark was spelt just as
// the encoder spells it.
func (r *Reader) Plain() bool { return r.plain }

// Mark begins a stretch whose spelling Plain judges: it returns the offset of
// the next token.
func (r *Reader) Mark() int {
	r.space()
	r.plain = true
	return r.at
}

// Foreign notes that the spelling differs from the encoder's.
func (r *Reader) Foreign() { r.plain = false }

// End asks that nothing but white space is left, and returns Err.
func (r *Reader) End() error {
	r.space()
	if r.at < len(r.data) {
		r.Fail("more after the end of the message")
	}
	return r.Err()
}

// Enter reads the '{' or '[' that opens an object or a list.
func (r *Reader) Enter(open byte) {
	r.take(open)
	r.fresh = true
}

// More says whether another element follows before the closing byte, which it
// reads when none does.
func (r *Reader) More(closing byte) bool {
	if r.err != nil {
		return false
	}
	first := r.fresh
	r.fresh = false
	switch c := r.peek(); {
	case c == closing:
		r.at++
		return false
	case first:
		return true
	case c == ',':
		r.at++
		return true
	default:
		r.Fail("',' or '" + string(rune(closing)) + "' expected")
		return false
	}
}

// Name reads a member's name and the ':' behind it. It aliases the data.
func (r *Reader) Name() []byte {
	name := r.Literal()
	r.take(':')
	if r.err != nil {
		return nil
	}
	return name[1 : len(name)-1]
}

// Once notes that the member numbered index was read. Two of one name are an
// error; another order than that of declaration is foreign.
func (r *Reader) Once(seen *uint, index int) {
	if *seen>>index&1 != 0 {
		r.Fail("a member stands twice")
	}
	if *seen+1 != 1<<index {
		r.plain = false
	}
	*seen |= 1 << index
}

// Whole is an error unless all count members were read.
func (r *Reader) Whole(seen uint, count int) {
	if seen+1 != 1<<count {
		r.Fail("a member is missing")
	}
}

// Unknown is the error for a name that is none of those expected.
func (r *Reader) Unknown(what string, name []byte) {
	r.Fail("unknown " + what + " " + strconv.Quote(string(name)))
}

// Variant reads the name of a union's variant: bare says that it stands alone,
// as for a variant without a value; else its value follows and then Close.
func (r *Reader) Variant() (name []byte, bare bool) {
	if r.peek() == '"' {
		name = r.Literal()
		if r.err != nil {
			return nil, true
		}
		return name[1 : len(name)-1], true
	}
	r.Enter('{')
	if !r.More('}') {
		r.Fail("a variant's name expected")
		return nil, false
	}
	return r.Name(), false
}

// Close ends a variant with a value: a second name is an error.
func (r *Reader) Close() {
	r.fresh = false
	if r.More('}') {
		r.Fail("a union with two names")
	}
}

// Null reads null when that is next.
func (r *Reader) Null() bool {
	if r.peek() != 'n' {
		return false
	}
	return r.word("null")
}

// Bool reads true or false.
func (r *Reader) Bool() bool {
	if r.peek() == 't' {
		return r.word("true")
	}
	r.word("false")
	return false
}

// Uint reads a whole number from 0 to 2^64-1.
func (r *Reader) Uint() uint64 {
	r.space()
	start := r.at
	var n uint64
	for ; r.at < len(r.data); r.at++ {
		c := r.data[r.at] - '0'
		if c > 9 {
			break
		}
		if n > (1<<64-1)/10 || n*10 > 1<<64-1-uint64(c) {
			r.Fail("a number over 64 bits")
			return 0
		}
		n = n*10 + uint64(c)
	}
	switch {
	case r.at == start:
		r.Fail("a whole number expected")
	case r.data[start] == '0' && r.at > start+1:
		r.Fail("a number that starts with 0")
	case r.at < len(r.data) && (r.data[r.at] == '.' || r.data[r.at]|0x20 == 'e'):
		r.Fail("a whole number expected")
	}
	if r.err != nil {
		return 0
	}
	return n
}

// Text reads a string and returns a copy of its value.
func (r *Reader) Text() string {
	lit := r.Literal()
	if r.err != nil {
		return ""
	}
	return Unquote(lit)
}

// Option reads a string or null.
func (r *Reader) Option() *string {
	if r.Null() {
		return nil
	}
	text := r.Text()
	return &text
}

// Literal reads a string and returns its canonical literal, quotes included: as
// AppendQuoted writes it. It aliases the data unless that spells it otherwise.
func (r *Reader) Literal() []byte {
	r.space()
	if r.err != nil || r.at >= len(r.data) || r.data[r.at] != '"' {
		r.Fail("a string expected")
		return nil
	}
	start := r.at
	end, spelling := scan(r.data, start+1)
	if spelling == broken {
		r.at = end
		r.Fail("not a string: a control character, an unknown escape or no closing quote")
		return nil
	}
	lit := r.data[start:end]
	if spelling&wide != 0 && !utf8.Valid(lit) {
		r.Fail("a string that is not UTF-8")
		return nil
	}
	r.at = end
	if spelling&foreign == 0 {
		return lit
	}
	r.plain = false
	lit, ok := respell(lit)
	if !ok {
		r.at = start
		r.Fail("a surrogate without its other half")
		return nil
	}
	return lit
}

// Expect reads exactly these bytes.
func (r *Reader) Expect(text string) {
	if r.err != nil || len(r.data)-r.at < len(text) || string(r.data[r.at:r.at+len(text)]) != text {
		r.Fail(text + " expected")
		return
	}
	r.at += len(text)
}

func (r *Reader) word(word string) bool {
	r.space()
	r.Expect(word)
	return r.err == nil
}

func (r *Reader) take(c byte) {
	if r.peek() != c {
		r.Fail("'" + string(rune(c)) + "' expected")
		return
	}
	r.at++
}

// peek is the next byte behind white space, 0 at the end and after an error.
func (r *Reader) peek() byte {
	r.space()
	if r.err != nil || r.at >= len(r.data) {
		return 0
	}
	return r.data[r.at]
}

// space skips white space. It is small enough to vanish in its callers, where
// there mostly is none.
func (r *Reader) space() {
	if r.at >= len(r.data) || r.data[r.at] <= ' ' {
		r.blank()
	}
}

func (r *Reader) blank() {
	for r.at < len(r.data) {
		switch r.data[r.at] {
		case ' ', '\t', '\n', '\r':
			r.at++
			r.plain = false
		default:
			return
		}
	}
}
