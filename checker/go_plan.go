package checker

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-lsp/agent-lsp/tools/proc"
	"github.com/agent-lsp/agent-lsp/workspace"
	"github.com/go-json-experiment/json"
)

// utf8Mark is the width of a byte order mark in bytes.
const utf8Mark = 3

// goPlan builds every package to nowhere; where tests were edited it vets, which
// type-checks them too.
func (c *Checker) goPlan(_ context.Context, j job) plan {
	patterns := []string{"./..."}
	if work, _ := proc.Getenv(c.cfg.env(j.root), "GOWORK"); work != "off" {
		patterns = goPatterns(j.root)
	}
	p := plan{dir: j.root, parse: parseGo, bom: utf8Mark, outside: outsideModules(j.root, j.edited)}
	if len(patterns) == 0 {
		p.shown = argv("go build")
		p.fail = fmt.Sprintf("go.work uses no module, so there is nothing to build and %s", j.unchecked())
		return p
	}
	head := []string{"go", "build", "-o", os.DevNull}
	if c.wantsVet(j) {
		head = []string{"go", "vet", "-json"}
		p.parse = func(out output) report { return parseVet(j.root, out) }
	}
	p.shown = slices.Concat(head, patterns)
	p.argv = p.shown
	if len(j.unsaved) == 0 {
		return p
	}
	o, err := newOverlay(c.cfg.Temp, j.root, j.unsaved)
	if err != nil {
		p.fail = fmt.Sprintf("the unsaved text of open files could not be handed to the go command (%v), so %s", err, j.unchecked())
		return p
	}
	p.argv = slices.Concat(head, []string{"-overlay", o.list}, patterns)
	p.tidy, p.release = o.tidy, o.remove
	return p
}

// wantsVet reports whether the tests have to be looked at: one was edited and not
// looked at since, or the last look at them found something that a build would
// not see again.
func (c *Checker) wantsVet(j job) bool {
	edited := slices.ContainsFunc(j.edited, func(path string) bool { return strings.HasSuffix(path, "_test.go") })
	c.mu.Lock()
	defer c.mu.Unlock()
	st := c.roots[rootKey{j.root, j.tc.Ecosystem}]
	st.tests = st.tests || edited
	return st.tests
}

// remember notes that a check is complete and whether it found something, and
// answers what the last one of the same command found, nil when there was none.
func (c *Checker) remember(j job, p plan, found bool) *baseline {
	c.mu.Lock()
	defer c.mu.Unlock()
	st := c.roots[rootKey{j.root, j.tc.Ecosystem}]
	if slices.Contains(p.shown, "vet") {
		st.tests = found
	}
	return st.before[commandLine(p.shown)]
}

// overlay is unsaved texts, written where the go command can read them.
type overlay struct {
	dir, list string
	names     *strings.Replacer // from the copies' names to the files'
}

func newOverlay(temp, root string, texts map[string]string) (*overlay, error) {
	dir, err := os.MkdirTemp(temp, "agent-lsp-overlay-")
	if err != nil {
		return nil, err
	}
	o := &overlay{dir: dir, list: filepath.Join(dir, "overlay.json")}
	if err := o.write(root, texts); err != nil {
		o.remove()
		return nil, err
	}
	return o, nil
}

func (o *overlay) write(root string, texts map[string]string) error {
	within, err := os.OpenRoot(o.dir)
	if err != nil {
		return err
	}
	defer within.Close()
	replace := make(map[string]string)
	var names []string
	for i, path := range sorted(texts) {
		sub := fmt.Sprint(i)
		if err := within.Mkdir(sub, 0o700); err != nil {
			return err
		}
		name := filepath.Join(sub, filepath.Base(path))
		if err := within.WriteFile(name, []byte(texts[path]), 0o600); err != nil {
			return err
		}
		copied := filepath.Join(o.dir, name)
		replace[path] = copied
		shown := workspace.Relative(root, path)
		if !strings.Contains(shown, "/") {
			shown = "./" + shown
		}
		if rel, err := filepath.Rel(root, copied); err == nil {
			names = append(names, rel, shown)
		}
		names = append(names, copied, shown)
	}
	o.names = strings.NewReplacer(names...)
	list, err := json.Marshal(struct{ Replace map[string]string }{replace}, json.Deterministic(true))
	if err != nil {
		return err
	}
	return within.WriteFile("overlay.json", list, 0o600)
}

func (o *overlay) tidy(text string) string { return o.names.Replace(text) }

func (o *overlay) remove() { _ = os.RemoveAll(o.dir) }
