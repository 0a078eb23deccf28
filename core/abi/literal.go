package abi

import (
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
)

// How a literal is spelt.
const (
	wide    = 1 << iota // it holds bytes above 0x7f
	foreign             // it is spelt in another way than AppendQuoted does
	broken  = -1        // it is no literal
)

const hexDigits = "0123456789abcdef"

// shorts are the escapes of one letter, by the byte that they stand for.
var shorts = [256]byte{'"': '"', '\\': '\\', '\b': 'b', '\f': 'f', '\n': 'n', '\r': 'r', '\t': 't'}

// AppendQuoted appends text as a literal: quoted, with the short escapes and
// \u00xx for other control characters, everything else as it is. It returns
// false when text is not UTF-8.
func AppendQuoted(dst []byte, text string) ([]byte, bool) {
	valid := utf8.ValidString(text)
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, text[from:i]...)
		dst = appendEscape(dst, c)
		from = i + 1
	}
	dst = append(dst, text[from:]...)
	return append(dst, '"'), valid
}

func appendEscape(dst []byte, c byte) []byte {
	if short := shorts[c]; short != 0 {
		return append(dst, '\\', short)
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}

// scan reads a literal whose first byte behind the quote is at i, up to behind
// the closing quote, and says how it is spelt. Surrogates are not judged here.
//
// Inside the module each turn of a loop and each call of a function costs a look
// at whether it shall stop, which is about as dear as 32 bytes. So there is one
// loop, and one turn of it takes up to 32 bytes and an escape.
func scan(data []byte, i int) (end, spelling int) {
	var seen uint64 // all words that hold no special byte, one on the other
	for {
		switch {
		case i+32 <= len(data):
			w := word(data, i)
			hit := special(w)
			if hit == 0 {
				seen |= w
				i += 8
				w = word(data, i)
				hit = special(w)
			}
			if hit == 0 {
				seen |= w
				i += 8
				w = word(data, i)
				hit = special(w)
			}
			if hit == 0 {
				seen |= w
				i += 8
				w = word(data, i)
				hit = special(w)
			}
			if hit == 0 {
				seen |= w
				i += 8
				continue
			}
			at := bits.TrailingZeros64(hit) // the top bit of the first special byte
			seen |= w & (1<<at - 1)
			i += at / 8
		case i+8 <= len(data):
			w := word(data, i)
			hit := special(w)
			if hit == 0 {
				seen |= w
				i += 8
				continue
			}
			at := bits.TrailingZeros64(hit)
			seen |= w & (1<<at - 1)
			i += at / 8
		case i >= len(data):
			return i, broken
		case data[i] >= 0x20 && data[i] != '"' && data[i] != '\\':
			seen |= uint64(data[i])
			i++
			continue
		}
		switch c := data[i]; {
		case c == '"':
			if seen&highs != 0 {
				spelling |= wide
			}
			return i + 1, spelling
		case c != '\\' || i+1 >= len(data):
			return i, broken
		case short[data[i+1]]:
			i += 2
		default:
			n, as := escape(data, i)
			if as == broken {
				return i, broken
			}
			i, spelling = i+n, spelling|as
		}
	}
}

// short has the letters that are canonical behind a backslash.
var short = [256]bool{'"': true, '\\': true, 'b': true, 'f': true, 'n': true, 'r': true, 't': true}

// escape judges an escape of another kind, n bytes long.
func escape(data []byte, i int) (n, spelling int) {
	switch data[i+1] {
	case '/':
		return 2, foreign
	case 'u':
		unit, ok := hex4(data, i+2)
		switch {
		case !ok:
			return 0, broken
		case canonical(data[i+2:i+6], unit):
			return 6, 0
		}
		return 6, foreign
	}
	return 0, broken
}

const ones, highs = 0x0101010101010101, 0x8080808080808080

// special has the top bit of each byte of w set that is a quote, a backslash or
// below 0x20. Bits above the lowest one may be wrong.
func special(w uint64) uint64 {
	quote, slash := w^(ones*'"'), w^(ones*'\\')
	return ((w-ones*0x20)&^w | (quote-ones)&^quote | (slash-ones)&^slash) & highs
}

// canonical says whether \u and these digits are how the unit is written.
func canonical(digits []byte, unit uint16) bool {
	return unit < 0x20 && shorts[unit] == 0 && digits[3] == hexDigits[unit&15]
}

func hex4(data []byte, i int) (unit uint16, ok bool) {
	if i+4 > len(data) {
		return 0, false
	}
	for _, c := range data[i : i+4] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		unit = unit<<4 | uint16(c)
	}
	return unit, true
}

// respell writes a scanned literal anew as AppendQuoted would. It returns false
// for half a surrogate pair.
func respell(lit []byte) ([]byte, bool) {
	text, ok := unquote(lit)
	if !ok {
		return nil, false
	}
	out, _ := AppendQuoted(make([]byte, 0, len(lit)), string(text))
	return out, true
}

// Unquote is the value of a literal that Reader.Literal returned.
func Unquote(lit []byte) string {
	inner := lit[1 : len(lit)-1]
	for _, c := range inner {
		if c == '\\' {
			text, _ := unquote(lit)
			return unsafe.String(unsafe.SliceData(text), len(text))
		}
	}
	return string(inner)
}

func unquote(lit []byte) ([]byte, bool) {
	out := make([]byte, 0, len(lit))
	for i := 1; i < len(lit)-1; i++ {
		if lit[i] != '\\' {
			out = append(out, lit[i])
			continue
		}
		i++
		switch lit[i] {
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			unit, _ := hex4(lit, i+1)
			i += 4
			char := rune(unit)
			if utf16.IsSurrogate(char) {
				if i+2 >= len(lit) || lit[i+1] != '\\' || lit[i+2] != 'u' {
					return nil, false
				}
				low, ok := hex4(lit, i+3)
				if char = utf16.DecodeRune(char, rune(low)); !ok || char == utf8.RuneError {
					return nil, false
				}
				i += 6
			}
			out = utf8.AppendRune(out, char)
		default: // a quote, a backslash, a slash
			out = append(out, lit[i])
		}
	}
	return out, true
}
