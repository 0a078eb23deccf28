package projection

import (
	"math/bits"
	"unicode/utf8"
)

// quote appends s as a JSON string in the shortest form, as jsontext.AppendQuote
// does; it is here because a long conversation is mostly strings, and this looks at
// eight bytes at once. Bytes that are not UTF-8 become U+FFFD.
func quote(b []byte, s string) []byte {
	b = append(b, '"')
	start, at := 0, 0
	for {
		at += plain(s[at:])
		if at == len(s) {
			break
		}
		if c := s[at]; c < utf8.RuneSelf {
			b = escape(append(b, s[start:at]...), c)
			at++
			start = at
			continue
		}
		r, size := utf8.DecodeRuneInString(s[at:])
		if r == utf8.RuneError && size == 1 {
			b = append(append(b, s[start:at]...), "\ufffd"...)
			start = at + 1
		}
		at += size
	}
	return append(append(b, s[start:]...), '"')
}

// plain counts the bytes at the start of s that stand for themselves in a JSON
// string: ASCII but for controls, the quote and the backslash.
func plain(s string) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	n := 0
	for ; len(s)-n >= 8; n += 8 {
		w := load(s[n:])
		quotes, slashes := w^(ones*'"'), w^(ones*'\\')
		// The high bit of a byte is set where the byte is special. A borrow may set
		// it above a special byte too, so only the lowest one counts.
		special := (w | (w - ones*0x20) | (quotes - ones) | (slashes - ones)) & highs
		if special != 0 {
			return n + bits.TrailingZeros64(special)/8
		}
	}
	for ; n < len(s); n++ {
		if c := s[n]; c < 0x20 || c >= utf8.RuneSelf || c == '"' || c == '\\' {
			break
		}
	}
	return n
}

func load(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

func escape(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\b':
		return append(b, `\b`...)
	case '\f':
		return append(b, `\f`...)
	case '\n':
		return append(b, `\n`...)
	case '\r':
		return append(b, `\r`...)
	case '\t':
		return append(b, `\t`...)
	default:
		const hex = "0123456789abcdef"
		return append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
	}
}
