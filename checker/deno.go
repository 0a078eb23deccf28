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

// denoExcludes returns why deno skips a file. It still reads an excluded file that
// another one imports, without reporting that.
func denoExcludes(j job, path string) string {
	text, err := readText(filepath.Join(j.root, j.tc.Marker))
	if err != nil {
		return ""
	}
	var settings struct {
		Exclude []string `json:"exclude"`
	}
	_ = json.Unmarshal(withoutComments(text), &settings, jsontext.AllowDuplicateNames(true)) // deno reports what cannot be read
	if globbed(settings.Exclude, workspace.Relative(j.root, path)) {
		return "is excluded by " + j.tc.Marker
	}
	return ""
}
