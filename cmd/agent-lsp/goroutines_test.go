package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/lsp/lsptest"
	"github.com/agent-lsp/agent-lsp/tools/caches"
	"github.com/agent-lsp/agent-lsp/tools/proc"
)

// goroutinesEnv has a server under test list its goroutines on its standard
// error: when it is asked to, where the system has a signal for that, and when all
// of it has ended.
const goroutinesEnv = "LSPTEST_GOROUTINES"

// What stands around a list.
const (
	listBegins = "== goroutines ==\n"
	listEnds   = "== end of goroutines ==\n"
)

// observed is main of a server that may be asked for its goroutines.
func observed() {
	if os.Getenv(goroutinesEnv) == "" {
		main()
	}
	proc.Main()
	caches.Main()
	listOnSignal()
	before := runtime.NumGoroutine()
	code := run(os.Args[1:], stdio{os.Stdin, os.Stdout, os.Stderr})
	for i := 0; runtime.NumGoroutine() > before && i < 1_000_000; i++ {
		runtime.Gosched() // some only have to return
	}
	listGoroutines(os.Stderr)
	os.Exit(code)
}

func listGoroutines(w io.Writer) {
	const withStacks = 2
	var b strings.Builder
	b.WriteString(listBegins)
	if err := pprof.Lookup("goroutine").WriteTo(&b, withStacks); err != nil {
		fmt.Fprintln(&b, err)
	}
	b.WriteString(listEnds)
	_, _ = io.WriteString(w, b.String())
}

// goroutines are the stacks of a list by what they are, as kindOf names it.
type goroutines map[string][]string

// lists are the lists that a server wrote so far.
func lists(stderr string) []goroutines {
	var out []goroutines
	for {
		_, rest, ok := strings.Cut(stderr, listBegins)
		list, rest, whole := strings.Cut(rest, listEnds)
		if !ok || !whole {
			return out
		}
		stderr = rest
		all := goroutines{}
		for stack := range strings.SplitSeq(strings.TrimSpace(list), "\n\n") {
			k := kindOf(stack)
			all[k] = append(all[k], stack)
		}
		out = append(out, all)
	}
}

var details = regexp.MustCompile(`\(0x[^)]*\)|\(\.\.\.\)|\(\)|\({.*}\)| in goroutine \d+`)

// starters are functions that run others' goroutines.
var starters = []string{"sync.(*WaitGroup).Go.func1", "github.com/agent-lsp/agent-lsp/lsp.(*Server).spawn.func1"}

// kindOf names a goroutine: its outermost function that is its own, and its
// starter's.
func kindOf(stack string) string {
	var calls []string
	for line := range strings.SplitSeq(stack, "\n") {
		if !strings.HasPrefix(line, "\t") && !strings.HasPrefix(line, "goroutine ") {
			calls = append(calls, details.ReplaceAllString(line, ""))
		}
	}
	last := len(calls) - 1 // who started it
	for last > 1 && slices.Contains(starters, calls[last-1]) {
		last--
	}
	return strings.Join(calls[max(0, last-1):], ", ")
}

// beyond are the stacks of those that there are more of than in another list.
func (g goroutines) beyond(before goroutines) []string {
	var out []string
	for _, kind := range slices.Sorted(maps.Keys(g)) {
		if more := len(g[kind]) - len(before[kind]); more > 0 {
			out = append(out, fmt.Sprintf("%d more of %s:\n%s", more, kind, strings.Join(g[kind], "\n\n")))
		}
	}
	return out
}

// endedAlone holds that a server which has ended left no goroutine, not even one
// that its end would take along.
func endedAlone(t *testing.T, e *lsptest.Editor) {
	t.Helper()
	all := lists(e.Stderr())
	if len(all) == 0 {
		t.Fatalf("the server listed no goroutines at its end:\n%s", e.Stderr())
	}
	for _, stacks := range all[len(all)-1] {
		for _, stack := range stacks {
			// The one that lists them, and those that hand on the system's signals.
			if !strings.Contains(stack, ".observed()") && !strings.Contains(stack, ".listOnSignal.func1()") && !strings.Contains(stack, "os/signal.") {
				t.Errorf("left at the end:\n%s", stack)
			}
		}
	}
}
