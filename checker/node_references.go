package checker

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// tsProject is a tsconfig.json as far as it is read here.
type tsProject struct {
	path    string // of the file
	Extends any    `json:"extends"`
	Options struct {
		RootDir        string    `json:"rootDir"`
		OutDir         string    `json:"outDir"`
		DeclarationDir string    `json:"declarationDir"`
		TypeRoots      *[]string `json:"typeRoots"`
	} `json:"compilerOptions"`
	Files      *[]string `json:"files"`
	Include    []string  `json:"include"`
	Exclude    []string  `json:"exclude"`
	References []struct {
		Path string `json:"path"`
	} `json:"references"`
	refs []string // the files that References lead to
}

func (p *tsProject) dir() string { return filepath.Dir(p.path) }

// empty reports whether a project only refers to others.
func (p *tsProject) empty() bool {
	return p.Files != nil && len(*p.Files) == 0 && len(p.Include) == 0
}

// selects reports whether the project, or one that it extends, says which files are
// its own; depth bounds how many are followed. A package that it extends is taken to
// say nothing of that.
func (p *tsProject) selects(depth int) bool {
	if p.Files != nil || p.Include != nil {
		return true
	}
	bases, _ := p.Extends.([]any)
	if bases == nil {
		bases = []any{p.Extends}
	}
	return slices.ContainsFunc(bases, func(base any) bool {
		name, _ := base.(string)
		if name == "" || depth == 0 || !strings.HasPrefix(name, ".") && !filepath.IsAbs(name) {
			return false
		}
		path := filepath.FromSlash(name)
		if !filepath.IsAbs(path) {
			path = filepath.Join(p.dir(), path)
		}
		if !strings.HasSuffix(path, ".json") {
			path += ".json"
		}
		q := &tsProject{path: path}
		text, err := readText(path)
		return err == nil && json.Unmarshal(withoutComments(text), q, jsontext.AllowDuplicateNames(true)) == nil && q.selects(depth-1)
	})
}

// outputs are the directories that the project's own build writes to.
func (p *tsProject) outputs() []string {
	var dirs []string
	for _, dir := range []string{p.Options.OutDir, p.Options.DeclarationDir} {
		if dir != "" && !filepath.IsAbs(dir) {
			dir = filepath.Join(p.dir(), filepath.FromSlash(dir))
		}
		if dir != "" {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// maxProjects bounds the projects that refer to one another.
const maxProjects = 1000

// tsProjects reads a tsconfig.json and all that it refers to, itself first; ok is
// false when it refers to none.
func tsProjects(root string) (all []*tsProject, ok bool) {
	queue := []string{filepath.Join(root, "tsconfig.json")}
	seen := map[string]bool{queue[0]: true}
	for len(queue) > 0 && len(all) < maxProjects {
		p := &tsProject{path: queue[0]}
		queue = queue[1:]
		text, err := readText(p.path)
		if err != nil || json.Unmarshal(withoutComments(text), p, jsontext.AllowDuplicateNames(true)) != nil {
			continue // tsc reports that itself
		}
		all = append(all, p)
		for _, ref := range p.References {
			if ref.Path == "" {
				continue
			}
			path := filepath.FromSlash(ref.Path)
			if !filepath.IsAbs(path) {
				path = filepath.Join(p.dir(), path)
			}
			if !strings.HasSuffix(path, ".json") {
				path = filepath.Join(path, "tsconfig.json")
			}
			p.refs = append(p.refs, path)
			if !seen[path] {
				seen[path] = true
				queue = append(queue, path)
			}
		}
	}
	return all, len(all) > 0 && len(all[0].refs) > 0
}

// nodeWorkspace finds the directory above a root whose tsconfig.json refers to the
// root's, inside the workspace; without one it is the root itself.
func nodeWorkspace(workspace, root string) string {
	own := filepath.Join(root, "tsconfig.json")
	for dir := filepath.Dir(root); within(workspace, dir) && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if all, ok := tsProjects(dir); ok && slices.ContainsFunc(all, func(p *tsProject) bool { return p.path == own }) {
			return dir
		}
	}
	return root
}

// tsBuild is a private copy of projects that refer to one another, by which
// tsc -b checks each with the current declarations of the others and writes nothing
// into the workspace.
type tsBuild struct {
	dir      string
	projects []*tsProject
}

func newTSBuild(temp, workspace string, projects []*tsProject) (*tsBuild, error) {
	dir, err := os.MkdirTemp(temp, "agent-lsp-tsc-")
	if err != nil {
		return nil, err
	}
	b := &tsBuild{dir: dir, projects: projects}
	for i := range projects {
		if err := b.write(workspace, i); err != nil {
			b.remove()
			return nil, err
		}
	}
	return b, nil
}

func (b *tsBuild) remove() { _ = os.RemoveAll(b.dir) }

func (b *tsBuild) config(i int) string { return filepath.Join(b.dir, fmt.Sprint(i)) }

// write makes the private copy of one project: it extends the project's own file.
func (b *tsBuild) write(workspace string, i int) error {
	p := b.projects[i]
	config := map[string]any{}
	var refs []any
	for _, ref := range p.refs {
		if at := slices.IndexFunc(b.projects, func(q *tsProject) bool { return q.path == ref }); at >= 0 {
			refs = append(refs, map[string]any{"path": filepath.ToSlash(b.config(at))})
		}
	}
	config["references"] = refs
	if p.empty() {
		config["files"] = []string{}
	} else {
		config["extends"] = filepath.ToSlash(p.path)
		config["compilerOptions"] = b.options(workspace, i)
		if !p.selects(10) {
			config["include"] = []string{filepath.ToSlash(p.dir()) + "/**/*"}
			if p.Exclude == nil {
				config["exclude"] = p.outputs()
			}
		}
	}
	text, err := json.Marshal(config, json.Deterministic(true))
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(b.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.Mkdir(fmt.Sprint(i), 0o700); err != nil {
		return err
	}
	return root.WriteFile(filepath.Join(fmt.Sprint(i), "tsconfig.json"), text, 0o600)
}

// options has a project's outputs written beside its private copy: declarations,
// where another one refers to it, else nothing. What tsc derives from the place of
// the file it is told.
func (b *tsBuild) options(workspace string, i int) map[string]any {
	p, out := b.projects[i], filepath.ToSlash(filepath.Join(b.config(i), "out"))
	o := map[string]any{"tsBuildInfoFile": out + "/tsbuildinfo", "noEmit": true}
	if slices.ContainsFunc(b.projects, func(q *tsProject) bool { return !q.empty() && slices.Contains(q.refs, p.path) }) {
		o = map[string]any{
			"tsBuildInfoFile": out + "/tsbuildinfo", "noEmit": false, "composite": true, "declaration": true,
			"emitDeclarationOnly": true, "outDir": out, "declarationDir": out,
		}
	}
	if p.Options.RootDir == "" {
		o["rootDir"] = filepath.ToSlash(p.dir())
	}
	if p.Options.TypeRoots == nil {
		roots := []string{}
		for dir := p.dir(); within(workspace, dir) && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
			roots = append(roots, filepath.ToSlash(filepath.Join(dir, "node_modules", "@types")))
		}
		o["typeRoots"] = roots
	}
	return o
}

// stale lists the projects that were checked against what an earlier build of an
// edited one left, because they name its output and not its source.
func (b *tsBuild) stale(read fileSet, edited []string) []Unseen {
	var all []Unseen
	for _, lib := range b.projects {
		isEdited := slices.ContainsFunc(edited, func(path string) bool { return within(lib.dir(), path) })
		if lib.empty() || !isEdited || !slices.ContainsFunc(lib.outputs(), read.below) {
			continue
		}
		for _, app := range b.projects {
			if !app.empty() && slices.Contains(app.refs, lib.path) {
				all = append(all, Unseen{Path: app.dir(), Reason: "depends on " + filepath.Base(lib.dir()) + "'s build output"})
			}
		}
	}
	return all
}
