package workspace

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"unicode/utf16"
)

// utf16Bytes writes a text as UTF-16, with what mark it has.
func utf16Bytes(big bool, text string) string {
	var b strings.Builder
	for _, u := range utf16.Encode([]rune(text)) {
		lo, hi := byte(u), byte(u>>8)
		if big {
			lo, hi = hi, lo
		}
		b.Write([]byte{lo, hi})
	}
	return b.String()
}

func TestTextIsReadAndWrittenInItsEncoding(t *testing.T) {
	const text = "\ufeffone\r\ncaf\u00e9 \u6f22 \U0001F98A\n"
	for _, tt := range []struct {
		name, raw, text string // text is raw when empty
		written         string // as which text + "é" is stored; raw + "é" when empty
		binary          bool
	}{
		{name: "nothing", raw: ""},
		{name: "one byte", raw: "\xff"},
		{name: "UTF-8", raw: "é\n"},
		{name: "UTF-8 with a mark", raw: "\ufeffé\n"},
		{name: "Latin-1", raw: "caf\xe9\n"},
		{name: "UTF-16 LE", raw: utf16Bytes(false, text), text: text, written: utf16Bytes(false, text+"é")},
		{name: "UTF-16 BE", raw: utf16Bytes(true, text), text: text, written: utf16Bytes(true, text+"é")},
		{name: "UTF-16 of nothing", raw: "\xff\xfe", text: "\ufeff", written: "\xff\xfe\xe9\x00"},
		{name: "UTF-16 without a mark", raw: utf16Bytes(false, "one"), binary: true},
		{name: "UTF-16 with NUL", raw: utf16Bytes(true, "\ufeffa\x00b"), text: "\ufeffa\x00b", written: utf16Bytes(true, "\ufeffa\x00bé"), binary: true},
		{name: "UTF-32", raw: "\xff\xfe\x00\x00a\x00\x00\x00", text: "\ufeff\x00a\x00", written: utf16Bytes(false, "\ufeff\x00a\x00é"), binary: true},
		{name: "UTF-16 of one line", raw: "\xfe\xff\x6f\x22", text: "\ufeff\u6f22", written: "\xfe\xff\x6f\x22\x00\xe9"},
		{name: "lines of something else", raw: "\xff\xfe\xfd\necho 1;\n", written: "-"},
		{name: "half a unit", raw: "\xff\xfea\x00b", written: "-"},
		{name: "half a character", raw: "\xff\xfe\x3d\xd8", written: "-"},
		{name: "half a character before another", raw: "\xff\xfe\x3d\xd8a\x00", written: "-"},
		{name: "the wrong half", raw: "\xfe\xff\xdc\x00\x00a", written: "-"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.text == "" {
				tt.text = tt.raw
			}
			if tt.written == "" {
				tt.written = tt.raw + "é"
			}
			got := Decode([]byte(tt.raw))
			if got != tt.text {
				t.Errorf("it is read as %q, want %q", got, tt.text)
			}
			if got := Binary([]byte(tt.raw)); got != tt.binary {
				t.Errorf("it is binary: %v, want %v", got, tt.binary)
			}
			if tt.written == "-" {
				return
			}
			for in, want := range map[string]string{got: tt.raw, got + "é": tt.written} {
				if raw, err := Encode(in, []byte(tt.raw[:min(3, len(tt.raw))])); err != nil || string(raw) != want {
					t.Errorf("%q is written as %q (%v), want %q", in, raw, err, want)
				}
			}
			r, err := NewReader(bytes.NewReader([]byte(tt.raw)))
			if err != nil {
				t.Fatal(err)
			}
			if all, err := io.ReadAll(r); err != nil || string(all) != strings.TrimPrefix(tt.text, ByteOrderMark) {
				t.Errorf("in pieces it is read as %q (%v)", all, err)
			}
		})
	}
	if _, err := Encode("a\xff", []byte(markBig)); err == nil {
		t.Error("bytes that are no characters are written as UTF-16")
	}
}
