package lsp

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/lsp/lsptest"
	"github.com/agent-lsp/agent-lsp/lsp/text"
	"go.lsp.dev/protocol"
)

func at(line, character uint32) protocol.Position {
	return protocol.Position{Line: line, Character: character}
}

// TestOneDocumentUnderEverySpelling opens, changes, edits, checks and closes under
// names that are spelled in different ways; what the client gets is spelled as it
// opened the document.
func TestOneDocumentUnderEverySpelling(t *testing.T) {
	r := start(t, lsptest.Options{}, map[string]string{"[id] é/p.ts": "one\n"})
	dir := strings.TrimSuffix(text.URI(r.dir), "/")
	opened := dir + "/%5bid]%20%c3%a9/p.ts"
	r.OpenText(opened, "one\n", 1)
	others := []string{dir + "/%5Bid%5D%20%C3%A9/p.ts", dir + "/[id] é/p.ts", dir + "/./%5Bid] é/x/../p.ts"}
	for i, uri := range others {
		r.Change(uri, text.Change{Text: fmt.Sprintf("%d\n", i)})
		r.Barrier()
		if d, ok := r.workspace().Buffer("[id] é/p.ts"); !ok || d.Text != fmt.Sprintf("%d\n", i) {
			t.Errorf("after a change of %s the server holds %q, %v", uri, d.Text, ok)
		}
	}
	r.side().Findings(r.dir, found(r.dir, finding(r.path("[id] é/p.ts"), 1, "bad")))
	r.WaitDiagnostics(opened, 1)
	if all := r.AllDiagnostics(); len(all) != 1 || all[opened].Times != 1 {
		t.Errorf("diagnostics go to %v", all)
	}
	if _, err := r.workspace().Apply(t.Context(), r.edit("[id] é/p.ts", "edited\n")); err != nil {
		t.Error(err)
	}
	if sent := string(r.WaitMethod("workspace/applyEdit", 0).Params); !strings.Contains(sent, `"`+opened+`"`) {
		t.Errorf("the edit does not name the document as the client does: %s", sent)
	}
	r.CloseDocument(others[1])
	r.Barrier()
	if n := len(r.server.editor.Snapshot()); n != 0 {
		t.Errorf("%d documents are open after the close", n)
	}
}
