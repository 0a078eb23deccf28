package checker

import (
	"context"
	"runtime"
	"slices"
)

// Python names Python projects.
const Python = "python"

func python() ecosystem {
	return ecosystem{
		name:      Python,
		markers:   []string{"pyproject.toml", "setup.py", "requirements.txt", "pyrightconfig.json"},
		sources:   []string{".py", ".pyi"},
		toolchain: pythonToolchain,
		plan:      (*Checker).pythonPlan,
		parse: func(j job, _ string) parser {
			return func(out output) report { return parsePyright(j.root, out) }
		},
	}
}

func pythonToolchain(names map[string]bool) Toolchain {
	tc := Toolchain{
		Manager: "pip",
		Install: argv("python -m pip install -e ."),
		Check:   argv("pyright"),
	}
	prefix := "python -m "
	module := "python -m main"
	switch {
	case names["uv.lock"]:
		tc.Manager, tc.Install, prefix = "uv", argv("uv sync"), "uv run "
		module = "uv run python -m main"
	case names["poetry.lock"]:
		tc.Manager, tc.Install, prefix = "poetry", argv("poetry install"), "poetry run "
		module = "poetry run python -m main"
	}
	tc.Test = argv(prefix + "pytest")
	tc.Lint = argv(prefix + "ruff check")
	tc.Format = argv(prefix + "ruff format")
	tc.Run = argv(module)
	return tc
}

// pythonPlan type-checks with the project's own pyright.
func (c *Checker) pythonPlan(_ context.Context, j job) plan {
	p := plan{dir: j.root, readsDisk: true, bom: 1}
	p.parse = func(out output) report {
		if jsonStart(out.stdout) < 0 {
			return report{broken: nothingOf("pyright --outputjson", out)}
		}
		return parsePyright(j.root, out)
	}
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
	settings := c.pyrightSettings(j)
	p.unseen = settings.whyNot
	p.argv = slices.Concat([]string{program}, p.shown[1:])
	if python, ok := settings.interpreter(); ok {
		p.argv = append(p.argv, "--pythonpath", python)
	}
	return p
}
