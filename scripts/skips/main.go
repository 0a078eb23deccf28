// Command skips reads what `go test -json` prints, shows what failed and the result of
// each package, and names the tests and benchmarks that skipped themselves. Under
// CI=true a skip that is not in the list fails: what a machine cannot run is otherwise
// taken for a pass. scripts/gotest.sh puts it behind go test.
//
// usage: skips LIST
//
// A line of LIST is a package below the module, a pattern of path.Match for the test,
// and the words that the skip's own text contains. Lines that begin with # say why.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
)

const module = "github.com/agent-lsp/agent-lsp"

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go test -json … | skips LIST")
		os.Exit(2)
	}
	text, err := os.ReadFile(os.Args[1])
	if err == nil {
		var list []allowed
		if list, err = parse(string(text)); err == nil {
			err = report(os.Stdin, os.Stdout, list, os.Getenv("CI") == "true")
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "skips:", err)
		os.Exit(1)
	}
}

// allowed is a line of the list.
type allowed struct{ pkg, test, text string }

// parse reads the list. A line without all three parts is an error: it would allow
// every skip of a package.
func parse(text string) (list []allowed, err error) {
	for n, line := range strings.Split(text, "\n") {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		pkg, rest, _ := strings.Cut(line, " ")
		test, words, _ := strings.Cut(strings.TrimSpace(rest), " ")
		words = strings.TrimSpace(words)
		if _, err := path.Match(test, ""); words == "" || err != nil {
			return nil, fmt.Errorf("line %d of the list is %q: want PACKAGE TEST WORDS", n+1, line)
		}
		list = append(list, allowed{pkg, test, words})
	}
	return list, nil
}

func (a allowed) covers(n name, text string) bool {
	ok, err := path.Match(a.test, n.test)
	return err == nil && ok && a.pkg == n.pkg && strings.Contains(text, a.text)
}

// record is what go test -json prints about one thing; see go doc test2json.
type record struct {
	Action, Package, Test, Output string
}

// name is a test of a package; the package itself has none.
type name struct{ pkg, test string }

// report copies what matters of in to out. It returns an error if a test failed, if a
// skip is not in the list and the list is binding, or if in is not go test's.
func report(in io.Reader, out io.Writer, list []allowed, binding bool) error {
	s := &summary{out: out, list: list, pending: map[name][]string{}}
	for lines := bufio.NewReader(in); ; {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) && len(line) == 0 {
			break
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		var r record
		if err := json.Unmarshal(line, &r); err != nil {
			s.print(string(line)) // an error of go test itself
			s.failed++
			continue
		}
		s.add(r)
	}
	s.print(fmt.Sprintf("%d skipped, %d of them not in the list\n", s.skipped, s.unlisted))
	switch {
	case s.err != nil:
		return s.err
	case s.failed > 0:
		return errors.New("tests failed")
	case s.unlisted > 0 && binding:
		return fmt.Errorf("%d tests skipped themselves: make them run here, or say in the list why they need not", s.unlisted)
	}
	return nil
}

// summary is what was read so far.
type summary struct {
	out                       io.Writer
	list                      []allowed
	pending                   map[name][]string // the output of what has not ended yet
	failed, unlisted, skipped int
	err                       error // the first one of writing to out
}

func (s *summary) print(text string) {
	if _, err := io.WriteString(s.out, text); err != nil && s.err == nil {
		s.err = err
	}
}

func (s *summary) add(r record) {
	n := name{strings.TrimPrefix(strings.TrimPrefix(r.Package, module), "/"), r.Test}
	switch r.Action {
	case "build-output":
		s.print(r.Output)
	case "output":
		if progress := strings.HasPrefix(r.Output, "=== "); !progress && r.Output != "PASS\n" {
			s.pending[n] = append(s.pending[n], r.Output)
		}
	case "build-fail":
		s.failed++
	case "fail":
		s.failed++
		if r.Test == "" { // with what had begun and never ended, as in a panic
			for other := range s.pending {
				if other.pkg == n.pkg && other != n {
					s.show(other)
				}
			}
		}
		s.show(n)
	case "skip":
		s.skip(n)
	case "pass":
		if r.Test == "" {
			s.show(n)
		}
		delete(s.pending, n)
	}
}

func (s *summary) show(n name) {
	for _, text := range s.pending[n] {
		s.print(text)
	}
	delete(s.pending, n)
}

func (s *summary) skip(n name) {
	text := strings.Join(s.pending[n], "")
	delete(s.pending, n)
	if n.test == "" { // a package without tests
		return
	}
	s.skipped++
	if !slices.ContainsFunc(s.list, func(a allowed) bool { return a.covers(n, text) }) {
		s.unlisted++
		s.print(fmt.Sprintf("skipped, and not in the list: %s %s\n%s", n.pkg, n.test, text))
	}
}
