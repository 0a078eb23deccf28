package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-lsp/agent-lsp/workspace"
)

const (
	findMost = 500    // files that are listed
	findText = 15_000 // bytes of a result, about a quarter of that in tokens
)

// findTool is the tool find.
type findTool struct{ e *Executor }

type findArgs struct {
	Glob string `json:"glob" about:"e.g. *_test.go in any directory, or src/**/*.{ts,tsx}; relative to path or to the workspace root"`
	Path string `json:"path,omitzero" about:"directory relative to the workspace root; the root when absent"`
}

func (findTool) Definition() Definition {
	return Define[findArgs]("find", "Find files by name. Files that git ignores are left out. Free: nobody is asked.", Read)
}

func (t findTool) Decide(_ context.Context, c Call) Decision {
	op := Arguments[findArgs](c)
	d := Decision{Title: "Find " + clip(op.Glob), Detail: op.Glob, Effect: Read, Path: op.Path}
	if op.Path != "" {
		d.Title += " in " + op.Path
	}
	return d
}

func (t findTool) Run(ctx context.Context, c Call) Outcome {
	op := Arguments[findArgs](c)
	if op.Glob == "" {
		return failed(errors.New("the glob is empty: give a name or a pattern, *.go for instance, or ** for all files"))
	}
	if op.Path == "" {
		op.Path = "."
	}
	at, err := t.e.find(op.Path)
	if err != nil {
		return failed(err)
	}
	all, err := t.e.files(ctx, at, "", "find")
	if err != nil {
		return failed(pathError(at, err))
	}
	if ctx.Err() != nil {
		return cancelled()
	}
	found := slices.DeleteFunc(all, func(p string) bool { return !globMatches(op.Glob, at, p) })
	return Outcome{State: Completed, Text: t.text(op.Glob, at, found)}
}

// globMatches reports whether a file is one that a glob is about, which is relative
// to the directory at or to the root.
func globMatches(glob, at, p string) bool {
	if workspace.Match(glob, p) {
		return true
	}
	below, ok := strings.CutPrefix(p, at+"/")
	return ok && workspace.Match(glob, below)
}

// text lists files: in order when all are shown, else those least deep first, and
// the newest of each level first.
func (t findTool) text(glob, at string, found []string) string {
	if len(found) == 0 {
		where := "the workspace"
		if at != "." {
			where = at
		}
		return fmt.Sprintf("no file in %s is named like %s", where, quoted(glob))
	}
	room := t.e.room(findText)
	if list := listed(found); len(found) <= findMost && len(list) <= room {
		return list
	}
	t.byAge(found)
	shown := found[:min(findMost, len(found))]
	for len(shown) > 1 && len(listed(shown)) > room {
		shown = shown[:len(shown)-1]
	}
	return fmt.Sprintf("%s\n\n[%s more, the newest of each directory level are shown: narrow the glob or the path]",
		listed(shown), thousands(len(found)-len(shown)))
}

func listed(paths []string) string {
	names := make([]string, len(paths))
	for i, p := range paths {
		names[i] = workspace.Listed(p)
	}
	return strings.Join(names, "\n")
}

// byAge sorts files by how deep they lie, and then the newest first. One that is in a
// buffer only is the newest.
func (t findTool) byAge(found []string) {
	times := make(map[string]int64, len(found))
	for _, p := range found {
		times[p] = math.MaxInt64
		if info, err := t.e.ws.Root().Lstat(filepath.FromSlash(p)); err == nil {
			times[p] = info.ModTime().UnixNano()
		}
	}
	slices.SortFunc(found, func(a, b string) int {
		return cmp.Or(strings.Count(a, "/")-strings.Count(b, "/"), cmp.Compare(times[b], times[a]), cmp.Compare(a, b))
	})
}
