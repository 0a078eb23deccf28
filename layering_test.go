// Package agentlsp_test holds what is true of the module as a whole.
package agentlsp_test

import (
	"bytes"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/agent-lsp/agent-lsp/"

// mayImport says which packages of the module a package may import, as prefixes;
// a package that is not listed may import none. ARCHITECTURE.md shows the map.
var mayImport = map[string][]string{
	"cmd/agent-lsp":           {""},
	"server":                  {"session", "session/", "tools", "tools/", "checker", "config", "core", "workspace"},
	"lsp":                     {"lsp/text", "lsp/wire", "lsp/editor", "session", "session/", "tools", "checker", "core/abi", "workspace"},
	"lsp/editor":              {"lsp/text", "tools", "workspace"},
	"lsp/wire":                {"lsp/text"},
	"lsp/lsptest":             {"lsp/text", "lsp/wire"},
	"session":                 {"core", "core/abi", "session/", "tools", "checker", "workspace"},
	"session/event":           {"core/abi", "session/model", "workspace"},
	"session/history":         {"core/abi", "session/event", "session/model", "session/store"},
	"session/projection":      {"session/history", "session/model"},
	"session/model":           {"core/abi"},
	"session/model/":          {"core/abi", "session/model", "session/model/httpmodel", "session/clock"},
	"session/store":           {"session/store/"},
	"session/store/memory":    {"session/store/contract"},
	"session/store/sqlite":    {"session/store/contract"},
	"session/store/postgres":  {"session/store/contract"},
	"session/store/storetest": {"session/store"},
	"tools":                   {"core/abi", "tools/diff", "tools/proc", "tools/sandbox", "workspace"},
	"tools/sandbox":           {"tools/caches", "tools/proc"},
	"tools/caches":            {"tools/proc"},
	"checker":                 {"tools/proc", "workspace"},
	"config":                  {"session/model", "workspace"},
	"core":                    {"core/abi", "core/loop"},
	"core/loop":               {"core/abi"},
	"core/guest":              {"core/abi", "core/loop"},

	// Test support and generators.
	"core/internal/coretest":              {"core/abi", "core/loop"},
	"config/internal/schemagen":           {"config", "session/model"},
	"session/history/historytest":         {"core/abi", "core/loop", "session/event", "session/history", "session/model", "session/store"},
	"session/store/storebench":            {"session/store/contract"},
	"session/store/postgres/postgrestest": {"session/store/contract", "tools/proc"},
}

// owned are the modules that one package alone may know.
var owned = map[string]string{
	"github.com/tetratelabs/wazero": "core",
	"go.lsp.dev/":                   "lsp",
	"os/exec":                       "tools/proc",
	"github.com/fsnotify/":          "workspace",
	"github.com/landlock-lsm/":      "tools/proc",

	"github.com/modelcontextprotocol/": "mcp", // which is to come
}

// exempt may break an ownership: the headless client speaks the protocol, too.
var exempt = map[string][]string{
	"go.lsp.dev/": {"lsp/wire", "lsp/lsptest", "lsp/text", "lsp/editor", "cmd/agent-lsp"},
	"os/exec":     {"lsp/lsptest", "session/store/storetest", "session/store/postgres/postgrestest", "core/guest"},
}

func TestArrowsPointDown(t *testing.T) {
	for pkg, imports := range packages(t) {
		for _, imp := range imports {
			if ours, ok := strings.CutPrefix(imp, module); ok {
				if !slices.ContainsFunc(allowed(pkg), func(prefix string) bool {
					return ours == prefix || (prefix == "" || strings.HasSuffix(prefix, "/")) && strings.HasPrefix(ours, prefix)
				}) {
					t.Errorf("%s imports %s, which is not below it", pkg, ours)
				}
			}
			for lib, owner := range owned {
				if strings.HasPrefix(imp, lib) && pkg != owner && !slices.Contains(exempt[lib], pkg) {
					t.Errorf("%s imports %s, which only %s may know", pkg, imp, owner)
				}
			}
		}
	}
}

// allowed is what pkg may import: its own row, or that of its nearest folder.
func allowed(pkg string) []string {
	if row, ok := mayImport[pkg]; ok {
		return row
	}
	for at := strings.LastIndex(pkg, "/"); at > 0; at = strings.LastIndex(pkg[:at], "/") {
		if row, ok := mayImport[pkg[:at+1]]; ok {
			return row
		}
	}
	return nil
}

// packages answers the imports of every package of the module, the guest's with
// the system that it is built for.
func packages(t *testing.T) map[string][]string {
	out := map[string][]string{}
	for _, env := range [][]string{nil, {"GOOS=wasip1", "GOARCH=wasm"}} {
		args := []string{"list", "-f", "{{.ImportPath}} {{join .Imports \" \"}}"}
		if env == nil {
			args = append(args, "./...")
		} else {
			args = append(args, "./core/guest", "./core/loop", "./core/abi")
		}
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Env = append(cmd.Environ(), env...)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		list, err := cmd.Output()
		if err != nil {
			t.Fatalf("go list: %v\n%s", err, &stderr)
		}
		for line := range strings.Lines(string(list)) {
			fields := strings.Fields(line)
			pkg := strings.TrimPrefix(fields[0], module)
			out[pkg] = append(out[pkg], fields[1:]...)
		}
	}
	if len(out) < 10 {
		t.Fatalf("go list found only %d packages", len(out))
	}
	return out
}
