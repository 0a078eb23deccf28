package text

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"go.lsp.dev/protocol"
)

var encodings = []Encoding{UTF16, UTF8, UTF32}

func pos(line, char uint32) protocol.Position {
	return protocol.Position{Line: line, Character: char}
}

func span(l1, c1, l2, c2 uint32) *protocol.Range {
	return &protocol.Range{Start: pos(l1, c1), End: pos(l2, c2)}
}

func TestPositionsInEveryEncoding(t *testing.T) {
	const doc = "x := \"😀é\" + y\r\n\tcafé\rlast\n"
	for _, tt := range []struct {
		at   string // the byte is the first of this
		want map[Encoding]protocol.Position
	}{
		{"y\r", map[Encoding]protocol.Position{UTF16: pos(0, 13), UTF8: pos(0, 16), UTF32: pos(0, 12)}},
		{"é\r", map[Encoding]protocol.Position{UTF16: pos(1, 4), UTF8: pos(1, 4), UTF32: pos(1, 4)}},
		{"\rlast", map[Encoding]protocol.Position{UTF16: pos(1, 5), UTF8: pos(1, 6), UTF32: pos(1, 5)}},
		{"last", map[Encoding]protocol.Position{UTF16: pos(2, 0), UTF8: pos(2, 0), UTF32: pos(2, 0)}},
	} {
		d := New(doc)
		offset := strings.Index(doc, tt.at)
		for e, want := range tt.want {
			if got := d.Position(offset, e); got != want {
				t.Errorf("%q in %s is at %v, want %v", tt.at, e, got, want)
			}
			if got := d.Offset(want, e); got != offset {
				t.Errorf("%v in %s is byte %d, want %d", want, e, got, offset)
			}
		}
	}
}

func TestPositionsOutsideOrInsideOfCharacters(t *testing.T) {
	d := New("a😀b\r\ncd")
	for _, tt := range []struct {
		p    protocol.Position
		e    Encoding
		want int
	}{
		{pos(0, 2), UTF16, 1}, // between the surrogates
		{pos(0, 3), UTF8, 1},  // inside of the sequence
		{pos(0, 2), UTF32, 5},
		{pos(0, 99), UTF16, 6},
		{pos(0, 1<<32-1), UTF8, 6},
		{pos(1, 3), UTF16, 10},
		{pos(9, 0), UTF16, 10},
		{pos(1<<32-1, 1<<32-1), UTF32, 10},
	} {
		if got := d.Offset(tt.p, tt.e); got != tt.want {
			t.Errorf("offset of %v in %s is %d, want %d", tt.p, tt.e, got, tt.want)
		}
	}
	for offset, want := range map[int]protocol.Position{-1: pos(0, 0), 3: pos(0, 1), 7: pos(0, 4), 8: pos(1, 0), 99: pos(1, 2)} {
		if got := d.Position(offset, UTF16); got != want {
			t.Errorf("position of byte %d is %v, want %v", offset, got, want)
		}
	}
}

func TestChangesApplyInOrder(t *testing.T) {
	for _, tt := range []struct {
		name, text, want string
		changes          []Change
	}{
		{"each against the one before", "a\nb\nc", "A\nx\nb\nC", []Change{{span(0, 0, 0, 1), "A\nx"}, {span(3, 0, 3, 1), "C"}}},
		{"end beyond the document", "a\nb\nc", "a\nB", []Change{{span(1, 0, 3, 0), "B"}}},
		{"range the wrong way round", "abc", "aXc", []Change{{span(0, 2, 0, 1), "X"}}},
		{"whole text, then a range", "old", "nEw", []Change{{span(0, 0, 0, 1), "?"}, {nil, "new"}, {span(0, 1, 0, 2), "E"}}},
		{"a line end is completed", "a\rb", "a\r\nb", []Change{{span(1, 0, 1, 0), "\n"}}},
		{"a line end is taken apart", "a\r\nb", "axb", []Change{{span(0, 1, 1, 0), "x"}}},
		{"nothing", "a", "a", nil},
	} {
		d := New(tt.text)
		got := d.Apply(tt.changes, UTF16)
		if got.String() != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got.String(), tt.want)
		}
		if d.String() != tt.text {
			t.Errorf("%s: the document before became %q", tt.name, d.String())
		}
		checkTable(t, got)
	}
}

func checkTable(t *testing.T, d *Doc) {
	t.Helper()
	if want := New(d.text).starts; !slices.Equal(d.starts, want) {
		t.Fatalf("patched table of %q is %v, want %v", d.text, d.starts, want)
	}
}

func TestEditsTouchOnlyChangedLines(t *testing.T) {
	edit := func(l1, c1, l2, c2 uint32, s string) protocol.TextEdit {
		return protocol.TextEdit{Range: *span(l1, c1, l2, c2), NewText: s}
	}
	for _, tt := range []struct {
		name, old, new string
		want           []protocol.TextEdit
	}{
		{"same", "a\n", "a\n", []protocol.TextEdit{}},
		{"one line", "a\nb\nc\n", "a\nB\nc\n", []protocol.TextEdit{edit(1, 0, 2, 0, "B\n")}},
		{"two places", "a\nb\nc\nd\n", "A\nb\nc\nD\n", []protocol.TextEdit{edit(0, 0, 1, 0, "A\n"), edit(3, 0, 4, 0, "D\n")}},
		{"crlf kept", "a\r\nb\r\nc\r\n", "a\r\nB\r\nc\r\n", []protocol.TextEdit{edit(1, 0, 2, 0, "B\r\n")}},
		{"only the line end", "a\r\nb\r\n", "a\r\nb\n", []protocol.TextEdit{edit(1, 0, 2, 0, "b\n")}},
		{"old macs", "a\rb\rc", "a\rB\rc", []protocol.TextEdit{edit(1, 0, 2, 0, "B\r")}},
		{"mixed ends", "a\nb\r\nc\rd", "a\nb\r\nC\rd", []protocol.TextEdit{edit(2, 0, 3, 0, "C\r")}},
		{"no final newline", "a\n😀b", "a\n😀B", []protocol.TextEdit{edit(1, 0, 1, 3, "😀B")}},
		{"appended without final newline", "a\nb", "a\nb\nc\n", []protocol.TextEdit{edit(1, 0, 1, 1, "b\nc\n")}},
		{"appended", "a\n", "a\nb\n", []protocol.TextEdit{edit(1, 0, 1, 0, "b\n")}},
		{"final newline added", "a", "a\n", []protocol.TextEdit{edit(0, 0, 0, 1, "a\n")}},
		{"last line removed", "a\nb", "a\n", []protocol.TextEdit{edit(1, 0, 1, 1, "")}},
		{"byte order mark stays", "\ufefffirst\nsecond\n", "\ufefffirst\nSECOND\n", []protocol.TextEdit{edit(1, 0, 2, 0, "SECOND\n")}},
		{"from nothing", "", "a\n", []protocol.TextEdit{edit(0, 0, 0, 0, "a\n")}},
		{"to nothing", "a\nb", "", []protocol.TextEdit{edit(0, 0, 1, 1, "")}},
		{"one of equal lines", "x\nx\nx\n", "x\nx\n", []protocol.TextEdit{edit(2, 0, 3, 0, "")}},
	} {
		d := New(tt.old)
		got := d.Edits(tt.new, UTF16)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
		checkEdits(t, tt.old, tt.new)
	}
}

// checkEdits applies the edits by the reference, which counts in slow and plain ways.
func checkEdits(t *testing.T, old, new string) {
	t.Helper()
	for _, e := range encodings {
		edits := New(old).Edits(new, e)
		out, at := "", 0
		for _, x := range edits {
			start, end := slowOffset(old, x.Range.Start, e), slowOffset(old, x.Range.End, e)
			out += old[at:start] + x.NewText
			at = end
		}
		if out += old[at:]; out != new {
			t.Fatalf("%s: edits of %q give %q, want %q", e, old, out, new)
		}
		if got, err := New(old).ApplyEdits(edits, e); err != nil || got != new {
			t.Fatalf("%s: ApplyEdits of %q gives %q, %v, want %q", e, old, got, err, new)
		}
	}
}

func TestOverlappingEditsAreRefused(t *testing.T) {
	_, err := New("abc").ApplyEdits([]protocol.TextEdit{{Range: *span(0, 0, 0, 2)}, {Range: *span(0, 1, 0, 3)}}, UTF8)
	if err == nil || !strings.Contains(err.Error(), "overlaps") {
		t.Errorf("overlapping edits gave %v", err)
	}
}

// slowLines splits as the protocol says, without a table.
func slowLines(s string) []string {
	var lines []string
	for {
		i := strings.IndexAny(s, "\r\n")
		if i < 0 {
			return append(lines, s)
		}
		n := 1
		if strings.HasPrefix(s[i:], "\r\n") {
			n = 2
		}
		lines = append(lines, s[:i+n])
		s = s[i+n:]
	}
}

// slowOffset is Doc.Offset by way of unicode/utf16 and whole lines.
func slowOffset(s string, p protocol.Position, e Encoding) int {
	offset := 0
	for i, line := range slowLines(s) {
		if i < int(p.Line) {
			offset += len(line)
			continue
		}
		line = strings.TrimRight(line, "\r\n")
		for j := 0; j < len(line); {
			_, n := utf8.DecodeRuneInString(line[j:])
			if slowUnits(line[:j+n], e) > int(p.Character) {
				return offset + j
			}
			j += n
		}
		return offset + len(line)
	}
	return len(s)
}

func slowUnits(s string, e Encoding) int {
	switch e {
	case UTF8:
		return len(s)
	case UTF32:
		return len([]rune(s))
	}
	return len(utf16.Encode([]rune(s)))
}

var alphabet = []string{"a", "b", "\n", "\r", "\r\n", "é", "😀", "\u0301", "漢", "\t", "\ufeff", "x\n", "y\n", "\xff", "\xf0\x9f"}

func randomText(r *rand.Rand, n int) string {
	var b strings.Builder
	for range r.IntN(n + 1) {
		b.WriteString(alphabet[r.IntN(len(alphabet))])
	}
	return b.String()
}

func TestRandomTextsAgreeWithTheReference(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		checkRandom(t, r, randomText(r, 12), randomText(r, 12))
	}
}

func FuzzAgainstReference(f *testing.F) {
	f.Add("a\r\n😀b", "a\n😀", uint64(1))
	f.Add("", "\r", uint64(2))
	f.Fuzz(func(t *testing.T, a, b string, seed uint64) {
		if len(a)+len(b) > 300 {
			return
		}
		checkRandom(t, rand.New(rand.NewPCG(seed, 0)), a, b)
	})
}

func checkRandom(t *testing.T, r *rand.Rand, a, b string) {
	t.Helper()
	checkEdits(t, a, b)
	d := New(a)
	if got, want := d.Lines(), len(slowLines(a)); got != want {
		t.Fatalf("%q has %d lines, want %d", a, got, want)
	}
	for _, e := range encodings {
		p := pos(r.Uint32N(6), r.Uint32N(8))
		at := d.Offset(p, e)
		if want := slowOffset(a, p, e); at != want {
			t.Fatalf("%s: %v in %q is byte %d, want %d", e, p, a, at, want)
		}
		if again := d.Offset(d.Position(at, e), e); again != at {
			t.Fatalf("%s: byte %d of %q comes back as %d", e, at, a, again)
		}
		changes, want := []Change{}, a
		for range r.IntN(5) {
			x := span(r.Uint32N(6), r.Uint32N(8), r.Uint32N(6), r.Uint32N(8))
			s := randomText(r, 4)
			changes = append(changes, Change{Range: x, Text: s})
			i, j := slowOffset(want, x.Start, e), slowOffset(want, x.End, e)
			want = want[:min(i, j)] + s + want[max(i, j):]
		}
		got := d.Apply(changes, e)
		if got.String() != want {
			t.Fatalf("%s: %v on %q gives %q, want %q", e, changes, a, got, want)
		}
		checkTable(t, got)
	}
}

func big(lines int) string {
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, "\tline %d of a file with a usual width\n", i)
	}
	return b.String()
}

func BenchmarkChange1KiBInDocument(b *testing.B) {
	for _, size := range []int{100 << 10, 1 << 20} {
		d := New(big(size / 40))
		insert := Change{Range: span(1000, 3, 1000, 3), Text: big(26)}
		b.Run(fmt.Sprintf("%dKiB", len(d.text)>>10), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				d.Apply([]Change{insert}, UTF16)
			}
		})
		b.Run(fmt.Sprintf("%dKiB/50", len(d.text)>>10), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				d.Apply(slices.Repeat([]Change{insert}, 50), UTF16)
			}
		})
	}
}

func BenchmarkEditsOneLineOf1MiB(b *testing.B) {
	old := big(26 << 10)
	d, after := New(old), strings.Replace(old, "line 20000 ", "line twenty thousand ", 1)
	b.ReportAllocs()
	for b.Loop() {
		d.Edits(after, UTF16)
	}
}
