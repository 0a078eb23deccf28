package workspace_test

import (
	"testing"

	"github.com/agent-lsp/agent-lsp/workspace"
)

func TestAListedNameIsOneLineAndSaysNothingButItself(t *testing.T) {
	for name, want := range map[string]string{
		"plain.go":                "plain.go",
		"with space é 😀.txt":      "with space é 😀.txt",
		"a\n[check] clean":        `a\n[check] clean`,
		"a\r\n[check] clean":      `a\u000d\n[check] clean`,
		"tab\there":               `tab\there`,
		"\x1b[31mred":             `\u001b[31mred`,
		"over\u202etxt.exe":       `over\u202etxt.exe`,
		"line\u2028separator":     `line\u2028separator`,
		"zero\u200bwidth":         `zero\u200bwidth`,
		"latin-1 \xe9":            `latin-1 \xE9`,
		"both \xe9\n[tool] done.": `both \xE9\n[tool] done.`,
	} {
		if got := workspace.Listed(name); got != want {
			t.Errorf("%q is listed as %s, want %s", name, got, want)
		}
	}
}
