package checker

import (
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/agent-lsp/agent-lsp/workspace"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// pyrightSettings is a root's configuration of the files that pyright reads.
type pyrightSettings struct {
	root    string
	file    string   // that has it, "" when there is none
	Include []string `json:"include" toml:"include"`
	Exclude []string `json:"exclude" toml:"exclude"`
	Ignore  []string `json:"ignore" toml:"ignore"`
	Venv    string   `json:"venv" toml:"venv"`
}

// pyrightSettings reads a root's own configuration as pyright does: its own file
// goes before pyproject.toml. Pyright reports what cannot be read.
func (c *Checker) pyrightSettings(j job) *pyrightSettings {
	s := &pyrightSettings{root: j.root}
	if text, err := readText(filepath.Join(j.root, "pyrightconfig.json")); err == nil {
		s.file = "pyrightconfig.json"
		_ = json.Unmarshal(withoutComments(text), s, jsontext.AllowDuplicateNames(true))
		return s
	}
	text, err := readText(filepath.Join(j.root, "pyproject.toml"))
	if err != nil {
		return s
	}
	var project struct {
		Tool struct {
			Pyright *pyrightSettings `toml:"pyright"`
		} `toml:"tool"`
	}
	if toml.Unmarshal(text, &project) == nil && project.Tool.Pyright != nil {
		s = project.Tool.Pyright
		s.root, s.file = j.root, "pyproject.toml"
	}
	return s
}

// whyNot says why pyright does not report on a file.
func (s *pyrightSettings) whyNot(path string) string {
	rel := workspace.Relative(s.root, path)
	exclude := s.Exclude
	if exclude == nil {
		exclude = []string{"**/node_modules", "**/__pycache__", "**/.*"}
	}
	switch {
	case len(s.Include) > 0 && !globbed(s.Include, rel):
		return "is not included by " + s.file
	case globbed(exclude, rel) && !slices.Contains(s.Include, rel):
		if s.Exclude == nil {
			return "is excluded by pyright"
		}
		return "is excluded by " + s.file
	case globbed(s.Ignore, rel):
		return "is ignored by " + s.file
	case s.Exclude == nil && s.inVenv(path):
		return "is excluded by pyright"
	}
	return ""
}

// inVenv reports whether a file lies in a virtual environment of the root, which
// pyright leaves out unless its configuration says what to exclude.
func (s *pyrightSettings) inVenv(path string) bool {
	for dir := filepath.Dir(path); dir != s.root && within(s.root, dir); dir = filepath.Dir(dir) {
		if isFile(filepath.Join(dir, "pyvenv.cfg")) {
			return true
		}
	}
	return false
}

// interpreter is that of the root's own virtual environment. Where the
// configuration names one, pyright finds it itself.
func (s *pyrightSettings) interpreter() (python string, ok bool) {
	if s.Venv != "" {
		return "", false
	}
	name := "bin/python"
	if runtime.GOOS == "windows" {
		name = "Scripts/python.exe"
	}
	for _, venv := range []string{".venv", "venv"} {
		if python = filepath.Join(s.root, venv, filepath.FromSlash(name)); isFile(python) {
			return python, true
		}
	}
	return "", false
}

// globbed reports whether a path below the root, or a directory above it, fits one
// of the patterns: ** stands for any directories, * for any part of a name, ? for
// one character.
func globbed(patterns []string, rel string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		var b strings.Builder
		b.WriteString("^")
		pattern = strings.Trim(strings.TrimPrefix(filepath.ToSlash(filepath.Clean(pattern)), "./"), "/")
		if pattern == "." {
			return true
		}
		for part := range strings.SplitSeq(pattern, "/") {
			if part == "**" {
				b.WriteString("(?:[^/]+/)*")
				continue
			}
			part = regexp.QuoteMeta(part)
			part = strings.ReplaceAll(strings.ReplaceAll(part, `\*`, "[^/]*"), `\?`, "[^/]")
			b.WriteString(part + "/")
		}
		fits, err := regexp.Compile(b.String())
		return err == nil && fits.MatchString(rel+"/")
	})
}
