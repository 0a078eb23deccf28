package checker

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// goWorkspace finds the directory of the go.work above a module that uses it,
// inside the workspace; without one it is the module's own.
func goWorkspace(workspace, root string) string {
	for dir := root; within(workspace, dir); dir = filepath.Dir(dir) {
		if uses, ok := goWorkUses(dir); ok {
			// The go command takes the nearest go.work and looks no further.
			if slices.Contains(uses, root) {
				return dir
			}
			return root
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	return root
}

// goWorkUses lists the module directories that dir's go.work uses; ok is false
// when it has none.
func goWorkUses(dir string) (uses []string, ok bool) {
	text, err := readText(filepath.Join(dir, "go.work"))
	if err != nil {
		return nil, false
	}
	inside := false
	for line := range strings.SplitSeq(string(text), "\n") {
		line, _, _ = strings.Cut(line, "//")
		line = strings.TrimSpace(line)
		rest, isUse := strings.CutPrefix(line, "use")
		switch {
		case inside && line == ")":
			inside = false
		case inside && line != "":
			uses = append(uses, usedDir(dir, line))
		case isUse && strings.TrimSpace(rest) == "(":
			inside = true
		case isUse && strings.TrimLeft(rest, " \t") != rest:
			uses = append(uses, usedDir(dir, strings.TrimSpace(rest)))
		}
	}
	return uses, true
}

func usedDir(dir, word string) string {
	if unquoted, err := strconv.Unquote(word); err == nil {
		word = unquoted
	}
	word = filepath.FromSlash(word)
	if filepath.IsAbs(word) {
		return filepath.Clean(word)
	}
	return filepath.Join(dir, word)
}

// goPatterns are the packages to build at a root: all of each module that its
// go.work uses, or all of its own module.
func goPatterns(root string) []string {
	uses, ok := goWorkUses(root)
	if !ok {
		return []string{"./..."}
	}
	patterns := make([]string, 0, len(uses))
	for _, dir := range uses {
		rel, err := filepath.Rel(root, dir)
		switch rel = filepath.ToSlash(rel); {
		case err != nil:
			patterns = append(patterns, filepath.ToSlash(dir)+"/...")
		case rel == ".":
			patterns = append(patterns, "./...")
		case strings.HasPrefix(rel, "../"):
			patterns = append(patterns, rel+"/...")
		default:
			patterns = append(patterns, "./"+rel+"/...")
		}
	}
	return patterns
}

// outsideModules lists the edited Go files that are in no module of the root's
// go.work.
func outsideModules(root string, edited []string) []string {
	uses, ok := goWorkUses(root)
	if !ok {
		return nil
	}
	var outside []string
	for _, path := range edited {
		if filepath.Ext(path) != ".go" {
			continue
		}
		home := ""
		for dir := filepath.Dir(path); within(root, dir); dir = filepath.Dir(dir) {
			if isFile(filepath.Join(dir, "go.mod")) {
				home = dir
				break
			}
		}
		if !slices.Contains(uses, home) {
			outside = append(outside, path)
		}
	}
	return outside
}
