package tools

import (
	"regexp"
	"slices"
	"strings"
)

// unfolded are the commands that running one command starts, as far as that can be
// told from its arguments: what a shell, env, xargs or an interpreter is given.
type unfolded struct {
	commands [][]string // unknown may stand in them
	code     [][]string // the words of code and of options that run programs
	files    []string   // of redirections
	unsure   bool       // there may be more
}

// maxUnfold bounds how deep commands in commands are looked for.
const maxUnfold = 6

// unfold looks for the commands that a command line runs. It finds too many rather
// than too few: what follows env or xargs counts from each of its words on.
func unfold(argv []string) unfolded {
	var u unfolded
	u.add(argv, 0, true)
	return u
}

func (u *unfolded) add(argv []string, depth int, suffixes bool) {
	if len(argv) == 0 {
		return
	}
	if depth > maxUnfold || argv[0] == unknown || argv[0] == "{}" { // xargs puts a name there
		u.unsure = true
		return
	}
	u.commands = append(u.commands, argv)
	shell, wraps := isOneOf(argv[0], shells), isOneOf(argv[0], wrappers)
	switch {
	case shell:
		u.shell(argv, depth)
	case isOneOf(argv[0], interpreters):
		u.interpreter(argv)
	case slices.ContainsFunc(argv[1:], runsOther), programName(argv[0]) == "git" && slices.Contains(argv, "-c"):
		u.code = append(u.code, codeWords(argv[1:]))
	}
	if !shell && !wraps || !suffixes {
		return
	}
	for i := range argv[1:] {
		u.add(argv[i+1:], depth, false)
		if wraps {
			u.text(argv[i+1], depth)
		}
	}
}

// shell adds the commands of each argument of a shell that is a script.
func (u *unfolded) shell(argv []string, depth int) {
	commands, words := false, 0
	for _, a := range argv[1:] {
		if strings.HasPrefix(a, "-") || strings.HasPrefix(a, "+") || strings.HasPrefix(a, "/") && len(a) == 2 {
			commands = commands || strings.ContainsAny(a, "cC")
			continue
		}
		words++
		u.parse(a, depth, commands)
	}
	u.unsure = u.unsure || words == 0 && !slices.Contains(argv, "--version")
}

// text adds the commands of an argument that may be a script: it has blanks.
func (u *unfolded) text(arg string, depth int) {
	if strings.HasPrefix(arg, "-") {
		name, value, ok := strings.Cut(arg, "=")
		if !ok && len(name) > 2 {
			value = name[2:] // env -S'rm x'
		}
		arg = value
	}
	if strings.ContainsAny(arg, " \t\n;|&") {
		u.parse(arg, depth, true)
	}
}

func (u *unfolded) parse(text string, depth int, must bool) {
	s, err := parseScript(text)
	if err != nil || text == unknown {
		u.unsure = u.unsure || must || text == unknown
		return
	}
	u.files = append(u.files, s.files...)
	for _, c := range s.commands {
		u.add(c, depth+1, true)
	}
}

// interpreter adds the words of code in the arguments. Code that comes in by the
// input, or that puts its words together, cannot be told.
func (u *unfolded) interpreter(argv []string) {
	name := strings.TrimRight(strings.ToLower(programName(argv[0])), "0123456789.-")
	inline := strings.HasSuffix(name, "awk") || strings.HasSuffix(name, "sed")
	script := false
	for _, a := range argv[1:] {
		option := strings.HasPrefix(a, "-") && a != "-"
		inline = inline || slices.Contains(codeOptions, a) || option && !strings.HasPrefix(a, "--") && strings.ContainsAny(a, "ceEr") ||
			strings.HasPrefix(a, "--eval") || strings.HasPrefix(a, "--print") || strings.HasPrefix(a, "--exec") || strings.HasPrefix(a, "--command")
		script = script || !option && a != "-" || strings.HasPrefix(a, "-m") || a == "--version" || a == "-V"
	}
	if inline {
		u.code = append(u.code, codeWords(argv[1:]))
	}
	if inline && !strings.HasSuffix(name, "sed") || !script {
		u.unsure = true
	}
}

// runsOther reports whether an option has a program run.
func runsOther(arg string) bool {
	name, _, _ := strings.Cut(arg, "=")
	return strings.HasPrefix(arg, "-") && containsAny(strings.ToLower(name), runsOthers)
}

var wordsOfCode = regexp.MustCompile(`[\pL\pN_./\\-]+`)

// codeWords returns the words in texts of any language.
func codeWords(texts []string) []string {
	return wordsOfCode.FindAllString(strings.Join(texts, " "), -1)
}

// match says whether a rule matches.
type match int

const (
	no match = iota
	maybe
	yes
)

// deniesCommand reports whether a deny rule matches a command, or what a command
// starts.
func (r Rule) deniesCommand(u unfolded) match {
	out := no
	if u.unsure {
		out = maybe
	}
	for _, argv := range u.commands {
		out = max(out, r.deniesOne(argv))
	}
	for _, words := range u.code {
		if len(r.Match) > 0 && wordsInOrder(r.words(), words) {
			return yes
		}
	}
	return out
}

// words are the elements of a rule that a command begins with.
func (r Rule) words() []string {
	words := r.Match
	if n := len(words); n > 1 && words[n-1] == end {
		words = words[:n-1]
	}
	if r.Family == FamilyGit {
		words = append([]string{"git"}, words...)
	}
	return words
}

func (r Rule) deniesOne(argv []string) match {
	want := r.words()
	if programName(argv[0]) == "git" {
		argv = append([]string{"git"}, gitWords(argv[1:])...)
	}
	if len(want) == 0 || len(argv) == 0 {
		return yes // it denies every command
	}
	if !sameProgram(want[0], argv[0]) {
		return no
	}
	return restMatches(want[1:], argv[1:])
}

func sameProgram(want, have string) bool {
	if !strings.ContainsAny(want, `/\`) {
		have = programName(have)
	}
	return strings.EqualFold(want, have)
}

// restMatches reports whether arguments begin with words, options between them and
// those options' values left out.
func restMatches(want, argv []string) match {
	switch {
	case len(want) == 0:
		return yes
	case len(argv) == 0:
		return no
	case argv[0] == unknown:
		return maybe
	case argv[0] == want[0]:
		return restMatches(want[1:], argv[1:])
	case strings.HasPrefix(argv[0], "-"):
		out := restMatches(want, argv[1:])
		if len(argv) > 1 && !strings.HasPrefix(argv[1], "-") && !strings.Contains(argv[0], "=") {
			out = max(out, restMatches(want, argv[2:]))
		}
		return out
	}
	return no
}

func wordsInOrder(want, words []string) bool {
	for i, w := range words {
		if len(want) == 0 {
			return true
		}
		if w == want[0] || sameProgram(want[0], w) {
			return len(want) == 1 || wordsInOrder(want[1:], words[i+1:])
		}
	}
	return len(want) == 0
}
