package httpmodel

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Text is a string that may come as any other JSON value, which is then kept as
// its own text; null is "". A character that two pieces of a stream share is kept in
// halves, which Words puts together.
type Text string

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (t *Text) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	raw, err := dec.ReadValue()
	if err != nil {
		return err
	}
	switch raw.Kind() {
	case 'n':
		*t = ""
	case '"':
		*t = Text(unquote(raw))
	default:
		*t = Text(raw)
	}
	return nil
}

// unquote decodes a string. Half a character at either end stays: a surrogate as
// its three bytes, and bytes as they are. Within it they become U+FFFD.
func unquote(raw []byte) []byte {
	inner := raw[1 : len(raw)-1]
	var head, tail []byte
	if r, ok := surrogate(inner); ok && r >= 0xdc00 {
		head, inner = halfBytes(r), inner[6:]
	}
	for len(inner) > 0 && !utf8.RuneStart(inner[0]) {
		head, inner = append(head, inner[0]), inner[1:]
	}
	if n := len(inner) - 6; n >= 0 && escapes(inner[:n]) {
		if r, ok := surrogate(inner[n:]); ok && r < 0xdc00 {
			tail, inner = halfBytes(r), inner[:n]
		}
	}
	if n := incomplete(inner); n > 0 {
		tail, inner = bytes.Clone(inner[len(inner)-n:]), inner[:len(inner)-n]
	}
	quoted := append(append([]byte{'"'}, inner...), '"')
	out, _ := jsontext.AppendUnquote(head, quoted) // what the decoder took is a string
	return append(out, tail...)
}

// escapes says that a backslash after b begins an escape.
func escapes(b []byte) bool { return (len(b)-len(bytes.TrimRight(b, `\`)))%2 == 0 }

// surrogate reads an escape at the start of b that stands for half a character.
func surrogate(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	return rune(n), err == nil && utf16.IsSurrogate(rune(n))
}

// halfBytes are the three bytes of a surrogate, which are no UTF-8.
func halfBytes(r rune) []byte {
	return []byte{0xe0 | byte(r>>12), 0x80 | byte(r>>6)&0x3f, 0x80 | byte(r)&0x3f}
}

// half reads a surrogate at the start of s.
func half(s string) (rune, bool) {
	if len(s) < 3 || s[0] != 0xed || s[1] < 0xa0 || s[1] > 0xbf {
		return 0, false
	}
	return rune(s[0]&0xf)<<12 | rune(s[1]&0x3f)<<6 | rune(s[2]&0x3f), true
}

// incomplete counts the bytes at the end of b that begin a character without
// ending it.
func incomplete(b []byte) int {
	for n := 1; n <= 3 && n <= len(b); n++ {
		if at := b[len(b)-n:]; utf8.RuneStart(at[0]) {
			if at[0] >= utf8.RuneSelf && !utf8.FullRune(at) {
				return n
			}
			return 0
		}
	}
	return 0
}

// Words puts the pieces of a text together.
type Words struct {
	text strings.Builder
	half string // of a character whose other half may be in the next piece
}

// Add appends a piece and returns what can be shown of the text since the piece
// before: valid UTF-8, without a half at its end.
func (w *Words) Add(piece string) string {
	s := w.half + piece
	w.half = ""
	if n := len(s) - 3; n >= 0 {
		if r, ok := half(s[n:]); ok && r < 0xdc00 {
			s, w.half = s[:n], s[n:]
		}
	}
	if n := incomplete([]byte(s[max(0, len(s)-3):])); n > 0 && w.half == "" {
		s, w.half = s[:len(s)-n], s[len(s)-n:]
	}
	if high, ok := half(s); ok && high < 0xdc00 {
		if low, ok := half(s[3:]); ok {
			if r := utf16.DecodeRune(high, low); r != utf8.RuneError {
				s = string(r) + s[6:]
			}
		}
	}
	s = strings.ToValidUTF8(s, "\ufffd")
	w.text.WriteString(s)
	return s
}

// String is the text so far. A half whose other one did not come is U+FFFD.
func (w *Words) String() string {
	if w.half != "" {
		return w.text.String() + "\ufffd"
	}
	return w.text.String()
}

// Len is how many bytes the text has so far.
func (w *Words) Len() int { return w.text.Len() + len(w.half) }

// Number is a count or an index that servers also send as a float or as a string;
// what is no number is 0.
type Number uint64

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (n *Number) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	var text Text
	if err := text.UnmarshalJSONFrom(dec); err != nil {
		return err
	}
	f, err := strconv.ParseFloat(strings.TrimSpace(string(text)), 64)
	if err != nil || math.IsNaN(f) || f < 0 || f > 1<<53 {
		f = 0
	}
	*n = Number(f)
	return nil
}
