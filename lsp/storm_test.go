package lsp

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/agent-lsp/agent-lsp/lsp/lsptest"
	"github.com/agent-lsp/agent-lsp/lsp/text"
	"github.com/agent-lsp/agent-lsp/session"
	"github.com/agent-lsp/agent-lsp/session/event"
	"go.lsp.dev/protocol"
)

// TestAStormEndsWithEqualDocuments types, edits, saves, asks and cancels at
// random, against an editor that takes edits in every way, and compares every
// document at the end. AGENT_LSP_TEST_STORM is the number of steps, 1500 without it.
func TestAStormEndsWithEqualDocuments(t *testing.T) {
	steps := 1500
	if s := os.Getenv("AGENT_LSP_TEST_STORM"); s != "" {
		var err error
		if steps, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	goroutines := runtime.NumGoroutine()
	for seed := range uint64(2) {
		storm(t, seed, steps)
	}
	for i := 0; runtime.NumGoroutine() > goroutines && i < 1_000_000; i++ {
		runtime.Gosched()
	}
	if n := runtime.NumGoroutine(); n > goroutines {
		stacks := make([]byte, 1<<20)
		t.Errorf("%d goroutines, %d at the start:\n%s", n, goroutines, stacks[:runtime.Stack(stacks, true)])
	}
}

func storm(t *testing.T, seed uint64, steps int) {
	rnd := rand.New(rand.NewPCG(seed, 7))
	files := map[string]string{}
	for i := range 5 {
		files[fmt.Sprintf("f%d.txt", i)] = "one 😀\ntwo\r\nthree\n"
	}
	ways := []lsptest.EditAnswer{
		lsptest.EditBefore, lsptest.EditAfter, lsptest.EditStaleTrue, lsptest.EditSkip, lsptest.EditOther, lsptest.EditHalf,
		lsptest.EditRefuse, lsptest.EditError, lsptest.EditTyped, lsptest.EditTypedTrue,
	}
	dir := t.TempDir()
	for name, content := range files {
		write(t, filepath.Join(dir, name), content)
	}
	r := startWith(t, lsptest.Options{Folders: []string{dir}, VersionStep: 3}, dir, func(c *Config) {
		c.Limits.Settle /= 20
		c.Limits.Landing /= 20
	})
	var edits sync.WaitGroup
	r.engine.prompt = func(p session.Prompt) {
		edits.Add(1)
		go func() {
			defer edits.Done()
			name := p.Text
			d, ok := r.workspace().Buffer(name)
			if !ok {
				return
			}
			e := r.edit(name, d.Text+"agent\n")
			e.Before, e.Version = d.Text, d.Version
			_, err := r.workspace().Apply(context.Background(), e)
			r.server.Event(firstID, r.dir, storeEvent(err), &event.Note{Text: fmt.Sprint(err)})
		}()
	}
	uris := map[string]string{}
	version := int32(0)
	open := func(name string) {
		// A version that comes again would make an edit fit that is of another text.
		version += 1 << 16
		uris[name] = text.URI(r.path(name))
		r.OpenText(uris[name], r.read(name), version)
	}
	for name := range files {
		open(name)
	}
	var pending []*lsptest.Pending
	for step := range steps {
		name := fmt.Sprintf("f%d.txt", rnd.IntN(5))
		switch rnd.IntN(20) {
		case 0:
			pending = append(pending, r.GoCommand("agent.prompt", map[string]any{"text": name}))
		case 1:
			if len(pending) > 0 {
				pending[rnd.IntN(len(pending))].Cancel()
			}
		case 2:
			r.AnswerEdits(ways[rnd.IntN(len(ways))])
		case 3:
			r.SendRaw(lsptest.Frame([]byte([]string{
				`{`, `[]`, `{"jsonrpc":"2.0","method":"nobody/knows"}`,
				`{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":{"uri":"file:///nowhere"}}}`,
			}[rnd.IntN(4)])))
		case 4:
			r.Set("agentLsp", map[string]any{"step": step})
		case 5:
			r.Save(uris[name])
		case 6:
			// An editor takes an edit of a document that it closed meanwhile for one
			// of the file; that is not looked at here.
			for _, p := range pending {
				_, _ = p.Wait()
			}
			edits.Wait()
			r.CloseDocument(uris[name])
			open(name)
		default:
			s, _ := r.Text(uris[name])
			doc := text.New(s)
			rg := protocol.Range{Start: doc.Position(rnd.IntN(len(s)+1), text.UTF16)}
			rg.End = rg.Start
			piece := []string{"x", "é😀", "\n", "line\r\n", ""}[rnd.IntN(5)]
			if len(s) > 400 {
				rg, piece = doc.Range(0, len(s)/2, text.UTF16), ""
			}
			r.Change(uris[name], text.Change{Range: &rg, Text: piece})
		}
	}
	for _, p := range pending {
		_, _ = p.Wait()
	}
	edits.Wait()
	r.Barrier()
	for name, uri := range uris {
		want, _ := r.Text(uri)
		got, ok := r.workspace().Buffer(name)
		if !ok || got.Text != want {
			t.Errorf("seed %d: %s: the server holds %q, the editor %q", seed, name, got.Text, want)
		}
	}
	var faults []string
	for _, f := range r.Faults() {
		if !strings.Contains(f, "request null got") {
			faults = append(faults, f)
		}
	}
	if len(faults) > 0 {
		t.Errorf("seed %d: %s", seed, strings.Join(faults, "\n"))
	}
	r.Shutdown()
	code := <-r.code
	r.code <- code
	if code != 0 {
		t.Errorf("exit code %d", code)
	}
}
