package checker

import (
	"io"
	"strings"

	"github.com/agent-lsp/agent-lsp/workspace"
)

// withoutMark subtracts a byte order mark, which some tools count as columns of the
// first line, from a finding's range: no editor's document has it.
func withoutMark(f *Finding, width int, texts map[string]string) {
	if f.Range.Start.Line != 1 || f.Range.Start.Column <= width || !startsWithMark(f.Path, texts) {
		return
	}
	f.Range.Start.Column -= width
	if f.Range.End.Line == 1 && f.Range.End.Column > width {
		f.Range.End.Column -= width
	}
}

func startsWithMark(path string, texts map[string]string) bool {
	if text, ok := texts[path]; ok {
		return strings.HasPrefix(text, workspace.ByteOrderMark)
	}
	file, err := workspace.Open(nil, path)
	if err != nil {
		return false
	}
	defer file.Close() //nolint:errcheck // only read
	head := make([]byte, len(workspace.ByteOrderMark))
	_, err = io.ReadFull(file, head)
	return err == nil && string(head) == workspace.ByteOrderMark
}
