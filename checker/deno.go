package checker

import (
	"context"
	"path/filepath"

	"github.com/agent-lsp/agent-lsp/workspace"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Deno names projects of deno.
const Deno = "deno"

func deno() ecosystem {
	return ecosystem{
		name:    Deno,
		markers: []string{"deno.json", "deno.jsonc"},
		sources: scripts,
		toolchain: fixed(Toolchain{
			Manager: "deno",
			Check:   argv("deno check ."),
			Build:   argv("deno check ."),
			Test:    argv("deno test"),
			Lint:    argv("deno lint"),
			Format:  argv("deno fmt"),
			Run:     argv("deno task start"),
		}),
		plan:  (*Checker).denoPlan,
		parse: func(job, string) parser { return parseDeno },
	}
}

func (c *Checker) denoPlan(_ context.Context, j job) plan {
	return plan{
		argv: j.tc.Check, shown: j.tc.Check, dir: j.root, parse: parseDeno, readsDisk: true,
		unseen: func(path string) string { return denoExcludes(j, path) },
	}
}

// denoExcludes says why deno passes over a file. One that it excludes it still reads
// where another one imports it, which it does not tell.
func denoExcludes(j job, path string) string {
	text, err := readText(filepath.Join(j.root, j.tc.Marker))
	if err != nil {
		return ""
	}
	var settings struct {
		Exclude []string `json:"exclude"`
	}
	_ = json.Unmarshal(withoutComments(text), &settings, jsontext.AllowDuplicateNames(true)) // what cannot be read deno says
	if globbed(settings.Exclude, workspace.Relative(j.root, path)) {
		return "is excluded by " + j.tc.Marker
	}
	return ""
}
