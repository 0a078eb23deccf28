package tools

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// unknown stands in a command for what a shell puts there when it runs, a variable
// for instance. No argument has a NUL.
const unknown = "\x00"

// script is what can be told of a text for a shell without running it.
type script struct {
	// commands are the simple commands in it, also those of substitutions and of
	// functions, each as an argument list in which unknown may stand.
	commands [][]string
	// files are what it redirects from and to.
	files []string
	// plain says that the commands are all that it does: it redirects nothing to a
	// file, sets no variable, defines no function, and its words are what they seem.
	plain bool
}

// parseScript reads a text for a POSIX shell, or for bash. It fails where the text
// cannot be parsed.
func parseScript(text string) (script, error) {
	f, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		return script{}, err
	}
	s := script{plain: true}
	syntax.Walk(f, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			s.call(n)
		case *syntax.Redirect:
			s.plain = s.plain && redirectsNothing(n)
			if n.Word != nil {
				s.files = append(s.files, wordText(n.Word))
			}
		case *syntax.Stmt:
			s.plain = s.plain && !n.Background && !n.Coprocess && !n.Disown
		case *syntax.FuncDecl, *syntax.DeclClause, *syntax.LetClause, *syntax.ProcSubst, *syntax.ForClause, *syntax.CoprocClause, *syntax.TestDecl, *syntax.ArithmCmd:
			s.plain = false
		}
		return true
	})
	return s, nil
}

// call adds a simple command.
func (s *script) call(c *syntax.CallExpr) {
	if len(c.Assigns) > 0 {
		s.plain = false
	}
	if len(c.Args) == 0 {
		return
	}
	argv := make([]string, len(c.Args))
	for i, w := range c.Args {
		argv[i] = wordText(w)
		if i == 0 && hasPattern(w) {
			argv[i] = unknown
		}
		s.plain = s.plain && argv[i] != unknown
	}
	s.commands = append(s.commands, argv)
}

// hasPattern reports whether a word may become the name of a file that it fits.
func hasPattern(w *syntax.Word) bool {
	return len(w.Parts) > 0 && w.Lit() != "[" && slices.ContainsFunc(w.Parts, func(p syntax.WordPart) bool {
		lit, ok := p.(*syntax.Lit)
		return ok && strings.ContainsAny(lit.Value, "*?[")
	})
}

// redirectsNothing reports whether a redirection neither reads nor writes a file:
// 2>&1, or to /dev/null.
func redirectsNothing(r *syntax.Redirect) bool {
	switch r.Op {
	case syntax.DplOut, syntax.DplIn:
		return slices.Contains([]string{"1", "2"}, wordText(r.Word))
	case syntax.RdrOut, syntax.AppOut, syntax.RdrIn, syntax.RdrAll:
		return wordText(r.Word) == "/dev/null"
	}
	return false
}

// wordText returns the text of a word as the command gets it, unknown where that is
// only known when it runs: it has an expansion, a pattern at its start, braces, or a
// tilde that stands for a directory.
func wordText(w *syntax.Word) string {
	var b strings.Builder
	for i, part := range w.Parts {
		text, ok := partText(part, i == 0)
		if !ok {
			return unknown
		}
		b.WriteString(text)
	}
	return b.String()
}

func partText(part syntax.WordPart, first bool) (string, bool) {
	switch p := part.(type) {
	case *syntax.Lit:
		return unescaped(p.Value, first)
	case *syntax.SglQuoted:
		if p.Dollar && strings.Contains(p.Value, `\`) {
			return "", false
		}
		return p.Value, true
	case *syntax.DblQuoted:
		var b strings.Builder
		for _, inner := range p.Parts {
			lit, ok := inner.(*syntax.Lit)
			if !ok || p.Dollar {
				return "", false
			}
			b.WriteString(doubleQuoted(lit.Value))
		}
		return b.String(), true
	}
	return "", false
}

// unescaped returns a literal outside of quotes without its backslashes.
func unescaped(lit string, first bool) (string, bool) {
	if strings.ContainsAny(lit, "{}") && lit != "{}" || first && strings.IndexAny(lit, "*?[~+@!") == 0 && !strings.HasPrefix(lit, "~/") {
		return "", false
	}
	var b strings.Builder
	for i := 0; i < len(lit); i++ {
		if lit[i] == '\\' && i+1 < len(lit) {
			if i++; lit[i] == '\n' {
				continue
			}
		}
		b.WriteByte(lit[i])
	}
	return b.String(), true
}

// doubleQuoted is unescaped for a literal in double quotes, where a backslash stands
// for itself before most characters.
func doubleQuoted(lit string) string {
	var b strings.Builder
	for i := 0; i < len(lit); i++ {
		if lit[i] == '\\' && i+1 < len(lit) && strings.IndexByte("$`\"\\\n", lit[i+1]) >= 0 {
			if i++; lit[i] == '\n' {
				continue
			}
		}
		b.WriteByte(lit[i])
	}
	return b.String()
}

// shellScript returns the text that an argument list gives to a shell, and false for
// any other: sh -c TEXT, with options of one letter that change nothing about what
// its commands are.
func shellScript(argv []string) (string, bool) {
	if len(argv) < 3 || !slices.Contains([]string{"sh", "bash", "dash", "zsh", "ksh"}, argv[0]) {
		return "", false
	}
	flags, text := argv[1:len(argv)-1], argv[len(argv)-1]
	commands := false
	for _, f := range flags {
		if len(f) < 2 || f[0] != '-' || strings.Trim(f[1:], "celux") != "" {
			return "", false
		}
		commands = commands || strings.Contains(f, "c")
	}
	return text, commands && !strings.HasPrefix(text, "-")
}

// harmlessBuiltin reports whether a command of a script is one of the shell's own
// that needs no permission: it prints, compares, or changes to a directory below.
func harmlessBuiltin(argv []string) bool {
	switch argv[0] {
	case "echo", "printf", "true", "false", ":", "pwd", "test", "[", "exit":
		return true
	case "cd":
		return len(argv) == 2 && !strings.HasPrefix(argv[1], "-") && staysInside(argv[1])
	case "set":
		return len(argv) == 2 && strings.Trim(argv[1], "-eux") == "" || len(argv) == 3 && strings.Trim(argv[1], "-euxo") == "" && argv[2] == "pipefail"
	}
	return false
}
