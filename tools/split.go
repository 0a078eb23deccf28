package tools

import (
	"errors"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"mvdan.cc/sh/v3/syntax"
)

// commandLine is an argument list. A model may send it as one string.
type commandLine []string

var commandLineType = reflect.TypeFor[commandLine]()

// listOf returns the argument list that a JSON string stands for. It fails for one
// without a word, and for a list that was sent as text.
func listOf(raw jsontext.Value) (jsontext.Value, error) {
	var text string
	if err := json.Unmarshal(raw, &text, jsontext.AllowInvalidUTF8(true)); err != nil {
		return nil, notJSON(err)
	}
	if v := jsontext.Value(text); v.Kind() == '[' && v.IsValid() {
		return nil, errors.New("is a string with a list in it: send the list itself")
	}
	if strings.TrimSpace(text) == "" {
		return nil, errors.New("is a string without a program")
	}
	return json.Marshal(splitCommand(text), jsontext.AllowInvalidUTF8(true))
}

// shellOnly are commands that are no programs, without being syntax.
var shellOnly = []string{
	".", "alias", "bg", "bind", "builtin", "cd", "command", "declare", "dirs", "eval", "exec", "exit", "export", "fg", "hash", "jobs", "let", "local", "popd", "pushd", "read", "readonly",
	"return", "set", "shift", "shopt", "source", "times", "trap", "type", "ulimit", "umask", "unalias", "unset", "wait",
}

// splitCommand returns the argument list of a command that is written as one text: its
// words, quotes removed, or sh -c with the text where it is more than one command with
// its words.
func splitCommand(text string) []string {
	shell := []string{"sh", "-c", text}
	f, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil || len(f.Stmts) != 1 {
		return shell
	}
	s := f.Stmts[0]
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 || len(call.Assigns) > 0 || len(s.Redirs) > 0 || s.Negated || s.Background || s.Coprocess || s.Disown {
		return shell
	}
	argv := make([]string, len(call.Args))
	for i, w := range call.Args {
		argv[i] = wordText(w)
		first, _ := w.Parts[0].(*syntax.Lit)
		if argv[i] == unknown || hasPattern(w) || first != nil && strings.HasPrefix(first.Value, "~") {
			return shell
		}
	}
	if slices.Contains(shellOnly, argv[0]) {
		return shell
	}
	return argv
}
