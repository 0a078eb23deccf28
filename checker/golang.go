package checker

import (
	"context"
	"time"
)

// Go names Go modules and workspaces.
const Go = "go"

func golang() ecosystem {
	return ecosystem{
		name:    Go,
		markers: []string{"go.mod", "go.work"},
		sources: []string{".go"},
		toolchain: fixed(Toolchain{
			Manager: "go",
			Check:   argv("go build ./..."),
			Build:   argv("go build ./..."),
			Test:    argv("go test ./..."),
			Lint:    argv("go vet ./..."),
			Format:  argv("gofmt -w ."),
			Run:     argv("go run ."),
		}),
		plan:  (*Checker).goPlan,
		parse: func(_ job, tool string) parser { return func(out output) report { return parseGoText(out, tool) } },
		bom:   utf8Mark,
		home: func(_ *Checker, _ context.Context, workspace, root string, _ time.Duration) string {
			return goWorkspace(workspace, root)
		},
		also: func(root string) []string {
			uses, _ := goWorkUses(root)
			return uses
		},
	}
}
