package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unicode"
)

// TestNamesOfARepositoryDoNotReachTheTerminal has control characters in a key of the
// workspace's settings and in names of directories, for doctor and for errors of run.
func TestNamesOfARepositoryDoNotReachTheTerminal(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("names with such characters")
	}
	const odd = "d\x1b]0;owned\x07\u009b31m\nSandbox: none"
	dir := filepath.Join(t.TempDir(), odd)
	if err := os.MkdirAll(filepath.Join(dir, odd), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		".agent-lsp.yaml": "\"k\\e]0;owned\\a\\x9b\\nSandbox: none\": 1\n", odd + "/go.mod": "module x\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("AGENT_LSP_STORE", "memory:")
	for _, args := range [][]string{
		{"doctor", "-C", dir}, {"run", "-C", dir + "/nowhere", "x"}, {"run", "-C", dir + "/.agent-lsp.yaml", "x"}, {"nonsense" + odd},
	} {
		var out, stderr strings.Builder
		run(args, stdio{in: strings.NewReader(""), out: &out, err: &stderr})
		shown := out.String() + stderr.String()
		if strings.ContainsFunc(shown, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }) {
			t.Errorf("%.20q prints a control character: %q", args, shown)
		}
		if args[0] == "doctor" && strings.Contains(shown, "\nSandbox: none") {
			t.Errorf("a line of doctor is forged: %q", shown)
		}
		if !strings.Contains(shown, "owned") {
			t.Errorf("%.20q does not name it: %q", args, shown)
		}
	}
}
