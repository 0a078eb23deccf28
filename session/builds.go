package session

import (
	"slices"
	"strings"
	"sync"

	"github.com/agent-lsp/agent-lsp/checker"
	"github.com/agent-lsp/agent-lsp/tools"
	disk "github.com/agent-lsp/agent-lsp/workspace" // workspace is a type of this package
)

// builds are the files that the model edited, that a check would run or go by, and
// that no check was allowed to run since: absolute paths.
type builds struct {
	mu        sync.Mutex // guards what follows
	code      []string
	manifests []string
}

// add adds those of edited files.
func (b *builds) add(edited []string) (code, manifests []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, path := range edited {
		switch {
		case checker.RunsInCheck(path):
			b.code = append(b.code, path)
		case checker.IsManifest(path):
			b.manifests = append(b.manifests, path)
		}
	}
	slices.Sort(b.code)
	slices.Sort(b.manifests)
	b.code, b.manifests = slices.Compact(b.code), slices.Compact(b.manifests)
	return slices.Clone(b.code), slices.Clone(b.manifests)
}

// allowed forgets them: a check may run them as they are.
func (b *builds) allowed() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.code, b.manifests = nil, nil
}

// mayCheck returns why the check after edits may not run, "" when it may. An edit of
// what a check runs is no permission to run it: until somebody allows that, no check
// runs, after later edits either.
func (s performer) mayCheck(t *turn, c *call, edited []string) string {
	code, manifests := s.builds.add(edited)
	if len(code)+len(manifests) == 0 {
		return ""
	}
	relative := func(paths []string) []string {
		out := make([]string, len(paths))
		for i, p := range paths {
			out[i] = disk.Relative(s.root, p)
		}
		return out
	}
	d := s.tools.DecideCheck(relative(code), relative(manifests))
	if d.Verdict == tools.Ask {
		if !s.cfg.Checker.Hold(s.root, slices.Concat(code, manifests, edited)) {
			return "" // there is nothing to allow
		}
		if out, ok := s.approve(t, &performed{call: c, decision: d}, nil); !ok {
			return d.Title + " was not allowed (" + strings.TrimPrefix(out.Text, rejectedPrefix) + ")"
		}
	}
	s.builds.allowed()
	return ""
}
