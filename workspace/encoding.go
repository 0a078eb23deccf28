package workspace

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// The byte order marks of UTF-16.
const (
	markLittle = "\xff\xfe"
	markBig    = "\xfe\xff"
)

// Decode returns the text of a file's bytes. A file of UTF-16 that begins with its
// mark becomes UTF-8 that begins with ByteOrderMark; Encode makes the same bytes of it
// again. Any other file, and one whose UTF-16 is damaged, is its bytes.
func Decode(raw []byte) string {
	order := byteOrder(raw)
	if order == nil || len(raw)%2 != 0 || bytes.IndexByte(raw, 0) < 0 && bytes.IndexByte(raw, '\n') >= 0 {
		return string(raw) // a text of UTF-16 with lines has NUL bytes
	}
	units := make([]uint16, len(raw)/2)
	for i := range units {
		units[i] = order.Uint16(raw[2*i:])
	}
	var text strings.Builder
	text.Grow(len(raw))
	for i := 0; i < len(units); i++ {
		r := rune(units[i])
		if utf16.IsSurrogate(r) {
			if i+1 < len(units) {
				r = utf16.DecodeRune(r, rune(units[i+1]))
			}
			if i++; r < 1<<16 {
				return string(raw) // half of a character
			}
		}
		text.WriteRune(r)
	}
	return text.String()
}

// Encode returns the bytes that a file has with a text, in the encoding of the file's
// present bytes, of which the first few are enough: UTF-16 stays UTF-16 in its order
// and with its mark, everything else is the text's own bytes. The error says that the
// text cannot be written so.
func Encode(text string, present []byte) ([]byte, error) {
	order := byteOrder(present)
	if order == nil {
		return []byte(text), nil
	}
	if !utf8.ValidString(text) {
		return nil, errors.New("it is a file of UTF-16, and the new text has bytes that are no characters")
	}
	units := utf16.Encode([]rune(ByteOrderMark + strings.TrimPrefix(text, ByteOrderMark)))
	raw := make([]byte, 0, 2*len(units))
	for _, u := range units {
		raw = order.AppendUint16(raw, u)
	}
	return raw, nil
}

// endian reads and appends units of UTF-16.
type endian interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

// byteOrder returns the order of a file that begins with a mark of UTF-16, and nil for
// any other.
func byteOrder(raw []byte) endian {
	switch {
	case len(raw) < 2:
		return nil
	case string(raw[:2]) == markLittle:
		return binary.LittleEndian
	case string(raw[:2]) == markBig:
		return binary.BigEndian
	}
	return nil
}

// ReadText reads a regular file of at most limit bytes, as ReadFile does, and decodes
// it, as Decode does.
func ReadText(root *os.Root, name string, limit int64) (string, error) {
	raw, err := ReadFile(root, name, limit)
	return Decode(raw), err
}

// NewReader returns the text of a file that is read from its beginning in pieces,
// without a mark: UTF-16 as UTF-8, with U+FFFD for what is damaged, and other bytes as
// they are.
func NewReader(f io.ReadSeeker) (io.Reader, error) {
	head := make([]byte, len(ByteOrderMark))
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	skip := 0
	if string(head[:n]) == ByteOrderMark {
		skip = n
	}
	if _, err := f.Seek(int64(skip), io.SeekStart); err != nil {
		return nil, fmt.Errorf("read from the beginning: %w", err)
	}
	if byteOrder(head[:n]) != nil {
		return transform.NewReader(f, unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewDecoder()), nil
	}
	return f, nil
}

// Binary reports whether the first bytes of a file show that it is no text: NUL is
// among its characters.
func Binary(head []byte) bool {
	order := byteOrder(head)
	if order == nil {
		return bytes.IndexByte(head, 0) >= 0
	}
	for i := 2; i+1 < len(head); i += 2 {
		if order.Uint16(head[i:]) == 0 {
			return true
		}
	}
	return false
}
