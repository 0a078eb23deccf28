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

// goPlan builds every package to nowhere, and vets, which compiles the tests as well.
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
	p.shown = slices.Concat([]string{"go", "build", "-o", os.DevNull}, patterns)
	p.also = slices.Concat([]string{"go", "vet"}, patterns)
	var overlaid []string
	if len(j.unsaved) > 0 {
		o, err := newOverlay(c.cfg.Temp, j.root, j.unsaved)
		if err != nil {
			p.fail = fmt.Sprintf("the unsaved text of open files could not be handed to the go command (%v), so %s", err, j.unchecked())
			return p
		}
		overlaid = []string{"-overlay", o.list}
		p.tidy, p.release = o.tidy, o.remove
	}
	p.argv = slices.Concat(p.shown[:4], overlaid, patterns)
	looked := &goLooked{root: j.root, files: fileSet{}}
	p.beside = []step{{argv: slices.Concat(argv("go vet -json"), overlaid, patterns), read: looked.vet}}
	if slices.ContainsFunc(c.asked(j), func(path string) bool { return filepath.Ext(path) == ".go" }) {
		p.beside = append(p.beside, step{argv: slices.Concat([]string{"go", "list", "-e", "-f", goFiles}, overlaid, patterns), read: looked.list})
		p.unseen = looked.whyNot
	}
	return p
}

// remember stores what a complete check found and returns what the last one of the
// same command did, nil when there was none.
func (c *Checker) remember(j job, p plan, now *baseline) (before *baseline) {
	c.mu.Lock()
	defer c.mu.Unlock()
	st, command := c.roots[rootKey{j.root, j.tc.Ecosystem}], workspace.CommandLine(p.shown)
	before = st.before[command]
	st.before[command] = now
	return before
}

// goFiles has go list print the files that go build and go vet read, a line each.
const goFiles = `{{$dir := .Dir}}{{range .GoFiles}}{{$dir}}/{{.}}
{{end}}{{range .CgoFiles}}{{$dir}}/{{.}}
{{end}}{{range .TestGoFiles}}{{$dir}}/{{.}}
{{end}}{{range .XTestGoFiles}}{{$dir}}/{{.}}
{{end}}{{range .InvalidGoFiles}}{{$dir}}/{{.}}
{{end}}`

// goLooked is the files that were read, as the commands beside a build report them.
type goLooked struct {
	root    string
	files   fileSet
	untried string // why the tests were not compiled, "" when they were
	unknown string // why nobody knows which files were built
}

func (g *goLooked) list(_ *report, out output) {
	if out.code != 0 {
		g.unknown, _, _ = strings.Cut(strings.TrimSpace(joined(out.stderr, out.stdout)), "\n")
		return
	}
	for line := range lines(out.stdout) {
		if line != "" {
			g.files[filepath.FromSlash(line)] = true
		}
	}
}

func (g *goLooked) whyNot(path string) string {
	if g.untried != "" && strings.HasSuffix(path, "_test.go") {
		return "is unchecked, because the tests could not be loaded (" + g.untried + ")"
	}
	if g.unknown != "" {
		return "is not known to be part of this build (go list: " + headAndTail(g.unknown, 200) + ")"
	}
	return g.files.whyNot(path)
}

// vet adds the findings of go vet: of type errors only those that the build did not
// report, which are in tests; those of analyzers are marked as aside.
func (g *goLooked) vet(rep *report, out output) {
	vetted := parseVet(g.root, out)
	if vetted.broken != "" {
		g.untried, _, _ = strings.Cut(vetted.broken, "\n")
		return
	}
	built := rep.findings(Error) == 0
	header, kept := "", 0
	for _, b := range vetted.blocks {
		switch f := b.finding; {
		case strings.HasPrefix(b.text, "# "):
			header = b.text
			continue
		case f == nil && !built:
			continue
		case f == nil:
		case f.Severity != Error:
			b.aside = true
		case !built && !strings.HasSuffix(f.Path, "_test.go"):
			continue
		default:
			kept++
		}
		if header != "" && !b.aside {
			rep.add(header, nil)
			header = ""
		}
		rep.blocks = append(rep.blocks, b)
		rep.also = rep.also || !b.aside
	}
	if kept > 0 && rep.partial == "" {
		rep.partial = vetted.partial
	}
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
