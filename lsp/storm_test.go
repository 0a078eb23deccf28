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

// weather is an editor at work in a storm, and what it has under way.
type weather struct {
	*rig
	rnd     *rand.Rand
	uris    map[string]string // by name
	version int32
	pending []*lsptest.Pending
	edits   sync.WaitGroup
}

var stormAnswers = []lsptest.EditAnswer{
	lsptest.EditBefore, lsptest.EditAfter, lsptest.EditStaleTrue, lsptest.EditSkip, lsptest.EditOther, lsptest.EditHalf,
	lsptest.EditRefuse, lsptest.EditError, lsptest.EditTyped, lsptest.EditTypedTrue,
}

var stormRubbish = []string{
	`{`, `[]`, `{"jsonrpc":"2.0","method":"nobody/knows"}`,
	`{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":{"uri":"file:///nowhere"}}}`,
}

func storm(t *testing.T, seed uint64, steps int) {
	dir := t.TempDir()
	w := &weather{rnd: rand.New(rand.NewPCG(seed, 7)), uris: map[string]string{}}
	for i := range 5 {
		write(t, filepath.Join(dir, stormFile(i)), "one 😀\ntwo\r\nthree\n")
	}
	w.rig = startWith(t, lsptest.Options{Folders: []string{dir}, VersionStep: 3}, dir, func(c *Config) {
		c.Limits.Settle /= 20
		c.Limits.Landing /= 20
	})
	w.engine.prompt = func(p session.Prompt) {
		w.edits.Add(1)
		go func() {
			defer w.edits.Done()
			w.agent(p.Text)
		}()
	}
	for i := range 5 {
		w.open(stormFile(i))
	}
	for step := range steps {
		w.step(step)
	}
	w.settle()
	w.Barrier()
	w.judge(t, seed)
}

func stormFile(i int) string { return fmt.Sprintf("f%d.txt", i) }

// agent edits a file as a tool would.
func (w *weather) agent(name string) {
	d, ok := w.workspace().Buffer(name)
	if !ok {
		return
	}
	e := w.edit(name, d.Text+"agent\n")
	e.Before = d.Text
	_, err := w.workspace().Apply(context.Background(), e)
	w.side().Event(firstID, w.dir, storeEvent(err), &event.Note{Text: fmt.Sprint(err)})
}

func (w *weather) open(name string) {
	// A version that comes again would make an edit fit that is of another text.
	w.version += 1 << 16
	w.uris[name] = text.URI(w.path(name))
	w.OpenText(w.uris[name], w.read(name), w.version)
}

// settle waits for all that is under way.
func (w *weather) settle() {
	for _, p := range w.pending {
		_, _ = p.Wait()
	}
	w.edits.Wait()
}

// step does one thing at random.
func (w *weather) step(step int) {
	name := stormFile(w.rnd.IntN(5))
	switch w.rnd.IntN(20) {
	case 0:
		w.pending = append(w.pending, w.GoCommand("agent.prompt", map[string]any{"text": name}))
	case 1:
		if len(w.pending) > 0 {
			w.pending[w.rnd.IntN(len(w.pending))].Cancel()
		}
	case 2:
		w.AnswerEdits(stormAnswers[w.rnd.IntN(len(stormAnswers))])
	case 3:
		w.SendRaw(lsptest.Frame([]byte(stormRubbish[w.rnd.IntN(len(stormRubbish))])))
	case 4:
		w.Set("agentLsp", map[string]any{"step": step})
	case 5:
		w.Save(w.uris[name])
	case 6:
		// An editor takes an edit of a document that it closed meanwhile for one of
		// the file; that is not looked at here.
		w.settle()
		w.CloseDocument(w.uris[name])
		w.open(name)
	default:
		w.typeInto(w.uris[name])
	}
}

func (w *weather) typeInto(uri string) {
	s, _ := w.Text(uri)
	doc := text.New(s)
	var changes []text.Change
	for range 1 + w.rnd.IntN(3) { // each relative to what the one before made
		rg := protocol.Range{Start: doc.Position(w.rnd.IntN(doc.Len()+1), text.UTF16)}
		rg.End = rg.Start
		piece := []string{"x", "é😀", "\n", "line\r\n", ""}[w.rnd.IntN(5)]
		if doc.Len() > 400 {
			rg, piece = doc.Range(0, doc.Len()/2, text.UTF16), ""
		}
		changes = append(changes, text.Change{Range: &rg, Text: piece})
		doc = doc.Apply(changes[len(changes)-1:], text.UTF16)
	}
	w.Change(uri, changes...)
}

// judge compares what the server holds with what the editor does.
func (w *weather) judge(t *testing.T, seed uint64) {
	for name, uri := range w.uris {
		want, _ := w.Text(uri)
		got, ok := w.workspace().Buffer(name)
		if !ok || got.Text != want {
			t.Errorf("seed %d: %s: the server holds %q, the editor %q", seed, name, got.Text, want)
		}
	}
	var faults []string
	for _, f := range w.Faults() {
		if !strings.Contains(f, "request null got") {
			faults = append(faults, f)
		}
	}
	if len(faults) > 0 {
		t.Errorf("seed %d: %s", seed, strings.Join(faults, "\n"))
	}
	w.Shutdown()
	code := <-w.code
	w.code <- code
	if code != 0 {
		t.Errorf("exit code %d", code)
	}
}
