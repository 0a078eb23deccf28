package workspace

import (
	"path"
	"strings"
	"sync"
)

// Ignore decides which files of a tree git ignores, by the .gitignore files in it
// and .git/info/exclude. It knows no rules of the person's own and none above the
// root. It is safe for concurrent use, and caches what it has read.
type Ignore struct {
	read func(p string) (text string, ok bool)

	mu   sync.Mutex // guards dirs
	dirs map[string][]ignoreRule
}

// NewIgnore returns the rules of a tree whose files read returns: p is clean, slash
// separated and relative to the root.
func NewIgnore(read func(p string) (text string, ok bool)) *Ignore {
	return &Ignore{read: read, dirs: map[string][]ignoreRule{}}
}

// Skips reports whether git ignores p, a clean path relative to the root, for itself
// or for a directory that it is in. It always skips git's own directory.
func (g *Ignore) Skips(p string, dir bool) bool {
	if p == "." || p == "" {
		return false
	}
	parts := strings.Split(p, "/")
	for i := range parts {
		if parts[i] == ".git" || g.skips(parts[:i+1], dir || i < len(parts)-1) {
			return true // what lies in an ignored directory cannot be taken back in
		}
	}
	return false
}

// SkipsEntry is Skips for an entry of a directory that is not ignored itself.
func (g *Ignore) SkipsEntry(p string, dir bool) bool {
	return path.Base(p) == ".git" || p != "." && g.skips(strings.Split(p, "/"), dir)
}

// skips applies the rules to one path alone: those of the deepest directory first,
// the last one that matches decides.
func (g *Ignore) skips(parts []string, dir bool) bool {
	for depth := len(parts) - 1; depth >= 0; depth-- {
		rules := g.rules(strings.Join(parts[:depth], "/"))
		for i := len(rules) - 1; i >= 0; i-- {
			if r := rules[i]; (dir || !r.dirOnly) && r.glob.match(parts[depth:]) {
				return !r.negated
			}
		}
	}
	return false
}

// rules returns the rules of one directory, "" for the root.
func (g *Ignore) rules(dir string) []ignoreRule {
	g.mu.Lock()
	defer g.mu.Unlock()
	rules, ok := g.dirs[dir]
	if ok {
		return rules
	}
	if dir == "" {
		rules = g.parse(rules, ".git/info/exclude")
	}
	rules = g.parse(rules, path.Join(dir, ".gitignore"))
	g.dirs[dir] = rules
	return rules
}

// ignoreRule is a line of a .gitignore.
type ignoreRule struct {
	glob             glob
	negated, dirOnly bool
}

func (g *Ignore) parse(rules []ignoreRule, name string) []ignoreRule {
	text, ok := g.read(name)
	if !ok {
		return rules
	}
	for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		line = strings.TrimRight(line, "\r\n")
		for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
			line = line[:len(line)-1]
		}
		if line == "" || line[0] == '#' {
			continue
		}
		var r ignoreRule
		line, r.negated = strings.CutPrefix(line, "!")
		line, r.dirOnly = strings.CutSuffix(line, "/")
		if line == "" {
			continue
		}
		r.glob = newGlob(line)
		rules = append(rules, r)
	}
	return rules
}
