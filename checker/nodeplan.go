package checker

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/agent-lsp/agent-lsp/tools/proc"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// nodePlan type-checks with the project's own tsc.
func (c *Checker) nodePlan(j job) plan {
	if !isFile(filepath.Join(j.root, "tsconfig.json")) {
		return plan{skip: "the node project has no tsconfig.json, so there is no type check to run"}
	}
	p := plan{dir: j.root, parse: parseTSC, readsDisk: true}
	p.shown = slices.Concat(j.tc.Check, []string{"--pretty", "false"})
	program := "tsc"
	if found, ok := c.local(j, "tsc", "node_modules/.bin"); ok {
		program = found
	}
	p.where = "in node_modules/.bin of the root or above it"
	if isFile(filepath.Join(j.root, ".pnp.cjs")) {
		p.where += " (Yarn Plug'n'Play keeps programs elsewhere: configure the check as `yarn tsc --noEmit --pretty false`)"
	}
	p.argv = slices.Concat([]string{program}, p.shown[1:])
	for _, ref := range solution(j.root) {
		// tsc looks at none of a solution's references, and -b would write to disk.
		p.then = append(p.then, slices.Concat(p.argv, []string{"-p", ref}))
	}
	return p
}

// local finds a program in one of the subdirectories of the root or of a
// directory above it, inside the workspace; the nearest wins.
func (c *Checker) local(j job, name string, subdirs ...string) (path string, ok bool) {
	env := c.cfg.env(j.root)
	for dir := j.root; within(j.workspace, dir); dir = filepath.Dir(dir) {
		for _, sub := range subdirs {
			if found, err := proc.Look(filepath.Join(dir, filepath.FromSlash(sub), name), dir, env); err == nil {
				return found, true
			}
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	return "", false
}

// solution lists the references of a tsconfig.json that has no files of its own.
func solution(root string) []string {
	text, err := os.ReadFile(filepath.Join(root, "tsconfig.json"))
	if err != nil {
		return nil
	}
	var config struct {
		Files      *[]string `json:"files"`
		Include    []string  `json:"include"`
		References []struct {
			Path string `json:"path"`
		} `json:"references"`
	}
	if json.Unmarshal(withoutComments(text), &config, jsontext.AllowDuplicateNames(true)) != nil {
		return nil
	}
	if config.Files == nil || len(*config.Files) > 0 || len(config.Include) > 0 {
		return nil
	}
	var refs []string
	for _, ref := range config.References {
		if ref.Path != "" && !strings.HasPrefix(ref.Path, "-") {
			refs = append(refs, ref.Path)
		}
	}
	return refs
}

// withoutComments makes JSON of the JSON with comments and trailing commas that a
// tsconfig.json may hold.
func withoutComments(text []byte) []byte {
	text = []byte(strings.TrimPrefix(string(text), mark))
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '"':
			end := i + 1
			for end < len(text) && text[end] != '"' {
				if text[end] == '\\' {
					end++
				}
				end++
			}
			end = min(end, len(text)-1)
			out = append(out, text[i:end+1]...)
			i = end
		case text[i] == '/' && i+1 < len(text) && text[i+1] == '/':
			for i < len(text) && text[i] != '\n' {
				i++
			}
		case text[i] == '/' && i+1 < len(text) && text[i+1] == '*':
			end := strings.Index(string(text[i+2:]), "*/")
			if end < 0 {
				return out
			}
			i += end + 3
		case text[i] == ']' || text[i] == '}':
			out = append([]byte(strings.TrimSuffix(strings.TrimRight(string(out), " \t\r\n"), ",")), text[i])
		default:
			out = append(out, text[i])
		}
	}
	return out
}

// pythonPlan type-checks with the project's own pyright.
func (c *Checker) pythonPlan(j job) plan {
	p := plan{dir: j.root, readsDisk: true, bom: 1}
	p.parse = func(out output) report { return parsePyright(j.root, out) }
	p.shown = slices.Concat(j.tc.Check, []string{"--outputjson"})
	program := "pyright"
	scripts := "bin"
	if runtime.GOOS == "windows" {
		scripts = "Scripts"
	}
	if found, ok := c.local(j, "pyright", ".venv/"+scripts, "venv/"+scripts, "node_modules/.bin"); ok {
		program = found
	}
	p.where = "in .venv, venv or node_modules/.bin of the root or above it"
	p.argv = slices.Concat([]string{program}, p.shown[1:])
	return p
}
