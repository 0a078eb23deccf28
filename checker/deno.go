package checker

import "context"

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
	return plan{argv: j.tc.Check, shown: j.tc.Check, dir: j.root, parse: parseDeno, readsDisk: true}
}
