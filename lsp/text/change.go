package text

import (
	"slices"

	"go.lsp.dev/protocol"
)

// Change is one entry of a didChange notification: text that takes the place of
// a range, or of the whole document where Range is nil.
type Change struct {
	Range *protocol.Range
	Text  string
}

// Apply returns the document after the changes, each of which is relative to
// the result of the one before it; positions outside of the document are clamped.
// The receiver is unchanged. One call copies the text once, however many changes
// there are, and patches the table of lines instead of building it anew.
func (d *Doc) Apply(changes []Change, e Encoding) *Doc {
	// The last whole replacement overwrites everything before it.
	for i := len(changes) - 1; i >= 0; i-- {
		if changes[i].Range == nil {
			d, changes = New(changes[i].Text), changes[i+1:]
			break
		}
	}
	switch len(changes) {
	case 0:
		return d
	case 1:
		start, end := d.Span(*changes[0].Range, e)
		return d.Splice(start, end, changes[0].Text)
	}
	grow := 0
	for _, c := range changes {
		grow += len(c.Text)
	}
	b := &builder{text: append(make([]byte, 0, len(d.text)+grow), d.text...), starts: slices.Clone(d.starts)}
	for _, c := range changes {
		start, end := b.offset(c.Range.Start, e), b.offset(c.Range.End, e)
		b.splice(min(start, end), max(start, end), c.Text)
	}
	return &Doc{text: string(b.text), starts: b.starts}
}

// Splice returns the document with text in place of the bytes from start to
// end, which must lie in the document in this order.
func (d *Doc) Splice(start, end int, text string) *Doc {
	whole := d.text[:start] + text + d.text[end:]
	starts := make([]int32, 0, len(d.starts)+len(text)/24+4)
	head, tail := patch(d.starts, start, end)
	starts = append(starts, d.starts[:head]...)
	delta := len(text) - (end - start)
	to := len(whole)
	if tail < len(d.starts) {
		to = int(d.starts[tail]) + delta
	}
	// The terminator before d.starts[tail] is found by the scan itself.
	starts = appendStarts(starts, whole, int(d.starts[head-1]), to)
	tail = min(tail+1, len(d.starts))
	for _, s := range d.starts[tail:] {
		starts = append(starts, s+int32(delta))
	}
	return &Doc{text: whole, starts: starts}
}

// patch returns which lines an edit of the bytes from start to end leaves unchanged:
// starts[:head] stay, starts[tail:] move, and what is between is scanned again,
// beginning at the line of the byte before the edit, because a "\r" there may gain
// or lose its "\n". starts[tail] is the first line that begins behind end.
func patch(starts []int32, start, end int) (head, tail int) {
	return lineAt(starts, max(start-1, 0)) + 1, lineAt(starts, end) + 1
}

// builder is a document under change.
type builder struct {
	text   []byte
	starts []int32
	fresh  []int32 // scratch
}

// offset is Doc.Offset.
func (b *builder) offset(p protocol.Position, e Encoding) int {
	if uint64(p.Line) >= uint64(len(b.starts)) {
		return len(b.text)
	}
	start, end, _ := lineSpan(b.text, b.starts, int(p.Line))
	return start + unitsToBytes(string(b.text[start:end]), uint64(p.Character), e)
}

func (b *builder) splice(start, end int, text string) {
	head, tail := patch(b.starts, start, end)
	delta := len(text) - (end - start)
	b.text = slices.Replace(b.text, start, end, []byte(text)...)
	to := len(b.text)
	if tail < len(b.starts) {
		to = int(b.starts[tail]) + delta
	}
	b.fresh = appendStarts(b.fresh[:0], b.text, int(b.starts[head-1]), to)
	tail = min(tail+1, len(b.starts))
	for i := tail; delta != 0 && i < len(b.starts); i++ {
		b.starts[i] += int32(delta)
	}
	b.starts = slices.Replace(b.starts, head, tail, b.fresh...)
}
