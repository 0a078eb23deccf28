package agentlsp_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// unconfined lists every function that starts a program without a sandbox. What
// runs in a workspace or on data of one belongs here only where the person
// switched the sandbox off.
var unconfined = []string{
	"server/checks.go confineChecks", // the person switched it off
	"tools/sandbox.go switchedOff",   // the person switched it off
	"tools/sandbox.go looking",       // where the system cannot confine; the configuration names no program
}

func TestEveryUnconfinedProgramIsListed(t *testing.T) {
	found := map[string]bool{}
	files := token.NewFileSet()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == "testdata"):
			return filepath.SkipDir
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || filepath.ToSlash(path) == "tools/proc/policy.go":
			return nil
		}
		parsed, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			return err
		}
		for _, decl := range parsed.Decls {
			name := "a variable"
			if f, ok := decl.(*ast.FuncDecl); ok {
				name = f.Name.Name
			}
			ast.Inspect(decl, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok && id.Name == "Unconfined" {
					found[fmt.Sprint(filepath.ToSlash(path), " ", name)] = true
				}
				return true
			})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, use := range slices.Sorted(maps.Keys(found)) {
		if !slices.Contains(unconfined, use) {
			t.Errorf("%s starts programs unconfined and is not listed", use)
		}
	}
	for _, use := range unconfined {
		if !found[use] {
			t.Errorf("%s is listed and starts nothing unconfined", use)
		}
	}
}
