package text

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff/lcs"
	"go.lsp.dev/protocol"
)

// Edit replaces the bytes from Start to End of a text by New.
type Edit struct {
	Start, End int
	New        string
}

// Diff returns the edits of whole lines that turn d into the text after: in order,
// not touching each other, each at the start of a line or at the text's end, and
// free of lines that stay. Equal texts give nil.
func (d *Doc) Diff(after string) []Edit {
	if d.text == after {
		return nil
	}
	// The common head and tail are cut off first: the usual edit is a few lines
	// of a long file.
	start, end, shift := d.changed(after)
	from, to := New(d.text[start:end]), New(after[start:end+shift])
	a, b := from.split(), to.split()
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	var edits []Edit
	for _, x := range lcs.DiffLines(a[head:len(a)-tail], b[head:len(b)-tail]) {
		edits = append(edits, Edit{
			Start: start + from.offsetOfLine(head+x.Start),
			End:   start + from.offsetOfLine(head+x.End),
			New:   to.text[to.offsetOfLine(head+x.ReplStart):to.offsetOfLine(head+x.ReplEnd)],
		})
	}
	return merge(edits)
}

// changed returns bounds that are starts of lines in both texts, or their ends,
// outside of which the texts are equal; in after the second is shifted.
func (d *Doc) changed(after string) (start, end, shift int) {
	n := min(len(d.text), len(after))
	same := commonPrefix(d.text[:n], after[:n])
	// The line of the last byte that is the same: behind it, a "\r" that ends the
	// common part may have a "\n" in one of the texts.
	start = int(d.starts[lineAt(d.starts, max(same-1, 0))])
	tail := commonSuffix(d.text[len(d.text)-(n-start):], after[len(after)-(n-start):])
	end = d.offsetOfLine(lineAt(d.starts, len(d.text)-tail) + 1)
	return start, end, len(after) - len(d.text)
}

// commonPrefix counts the bytes at the start of two texts of one length that are
// the same, by bisection.
func commonPrefix(a, b string) int {
	n := 0
	for size := len(a); size > 0; {
		if a[n:n+size] == b[n:n+size] {
			if n += size; n == len(a) {
				break
			}
			size = min(size, len(a)-n)
			continue
		}
		size /= 2
	}
	return n
}

// commonSuffix is commonPrefix from the end.
func commonSuffix(a, b string) int {
	n := 0
	for size := len(a); size > 0; {
		if a[len(a)-n-size:len(a)-n] == b[len(b)-n-size:len(b)-n] {
			if n += size; n == len(a) {
				break
			}
			size = min(size, len(a)-n)
			continue
		}
		size /= 2
	}
	return n
}

// Edits is Diff in a client's positions. Every range lies inside of the document,
// also where its last line has no terminator.
func (d *Doc) Edits(after string, e Encoding) []protocol.TextEdit {
	diff := d.Diff(after)
	edits := make([]protocol.TextEdit, len(diff))
	for i, x := range diff {
		edits[i] = protocol.TextEdit{Range: d.Range(x.Start, x.End, e), NewText: x.New}
	}
	return edits
}

// ApplyEdits returns the text after a client's edits, all of which are relative
// to d. Edits may come in any order; two insertions at one place keep theirs.
// It refuses overlapping ranges, which clients apply wrongly without an error.
func (d *Doc) ApplyEdits(edits []protocol.TextEdit, e Encoding) (string, error) {
	plain := make([]Edit, len(edits))
	for i, x := range edits {
		start, end := d.Span(x.Range, e)
		plain[i] = Edit{Start: start, End: end, New: x.NewText}
	}
	return d.ApplyDiff(plain)
}

// ApplyDiff returns the text after edits in bytes, with the rules of ApplyEdits.
func (d *Doc) ApplyDiff(edits []Edit) (string, error) {
	edits = slices.Clone(edits)
	slices.SortStableFunc(edits, func(x, y Edit) int {
		if x.Start != y.Start {
			return x.Start - y.Start
		}
		return x.End - y.End
	})
	var out strings.Builder
	at := 0
	for _, x := range edits {
		if x.Start < at || x.End < x.Start || x.End > len(d.text) {
			return "", fmt.Errorf("edit of bytes %d to %d overlaps another or leaves the text of %d bytes", x.Start, x.End, len(d.text))
		}
		out.WriteString(d.text[at:x.Start])
		out.WriteString(x.New)
		at = x.End
	}
	out.WriteString(d.text[at:])
	return out.String(), nil
}

// split cuts the text into lines with their terminators, without the empty last one.
func (d *Doc) split() []string {
	lines := make([]string, 0, len(d.starts))
	for i := range d.starts {
		if start, _, next := d.LineSpan(i); next > start {
			lines = append(lines, d.text[start:next])
		}
	}
	return lines
}

func (d *Doc) offsetOfLine(i int) int {
	if i >= len(d.starts) {
		return len(d.text)
	}
	return int(d.starts[i])
}

// merge joins edits that touch.
func merge(edits []Edit) []Edit {
	out := edits[:0]
	for _, x := range edits {
		if n := len(out); n > 0 && out[n-1].End == x.Start {
			out[n-1].End = x.End
			out[n-1].New += x.New
			continue
		}
		out = append(out, x)
	}
	return out
}
