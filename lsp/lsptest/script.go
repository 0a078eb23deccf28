package lsptest

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/agent-lsp/agent-lsp/lsp/text"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/rogpeppe/go-internal/testscript"
)

// The flag is there for every test binary that links this package.
var update = flag.Bool("update", false, "rewrite what scripts compare with")

// Params are those of testscript for the scripts of a directory, with the lsp
// command. The caller may add to Cmds and Condition.
func Params(dir string) testscript.Params {
	return testscript.Params{
		Dir:                 dir,
		UpdateScripts:       *update || os.Getenv("LSPTEST_UPDATE") != "",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup:               setup,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"lsp": command},
	}
}

type scriptKey struct{}

// script is the state of one script.
type script struct {
	ts      *testscript.TestScript
	env     []string // names of the variables that a server gets
	work    string
	editors map[string]*Editor
	normal  *normaliser
	pending map[string]*Pending
	marks   map[string]int
	session string // of the last replies
	turn    string

	// For the running command.
	name string
	neg  bool
}

// setup gives a script directories of its own, except for the caches: a server
// that is started often should compile its parts once, and Go its library.
func setup(env *testscript.Env) error {
	cache := filepath.Join(os.TempDir(), "lsptest-cache")
	user, err := os.UserCacheDir()
	if err != nil {
		user = cache
	}
	set := func(name, value string) {
		env.Vars = append(env.Vars, name+"="+value)
	}
	orElse := func(name, value string) {
		if v := os.Getenv(name); v != "" {
			value = v
		}
		set(name, value)
	}
	set("HOME", filepath.Join(env.WorkDir, ".home"))
	for _, name := range []string{"CONFIG", "STATE", "DATA"} {
		set("XDG_"+name+"_HOME", filepath.Join(env.WorkDir, ".home", strings.ToLower(name)))
	}
	set("XDG_CACHE_HOME", cache)
	orElse("GOCACHE", filepath.Join(user, "go-build"))
	orElse("GOPATH", filepath.Join(os.Getenv("HOME"), "go"))
	set("GOTOOLCHAIN", "local")
	set("GOPROXY", "off")
	set("GOFLAGS", "-mod=mod")
	set("GORACE", "atexit_sleep_ms=0")
	s := &script{work: env.WorkDir, editors: map[string]*Editor{}, pending: map[string]*Pending{}, marks: map[string]int{}, normal: newNormaliser(env.WorkDir)}
	for _, kv := range env.Vars {
		name, _, _ := strings.Cut(kv, "=")
		s.env = append(s.env, name)
	}
	env.Values[scriptKey{}] = s
	env.Defer(func() {
		for _, e := range s.editors {
			e.Close()
		}
	})
	return nil
}

// command is the lsp command.
func command(ts *testscript.TestScript, neg bool, args []string) {
	s := ts.Value(scriptKey{}).(*script)
	s.ts, s.neg, s.name = ts, neg, "main"
	_ = ts.Stdout() // so that a command which prints nothing leaves nothing of another
	if len(args) > 0 && strings.HasPrefix(args[0], "@") {
		s.name, args = args[0][1:], args[1:]
	}
	if len(args) == 0 {
		ts.Fatalf("usage: lsp [@NAME] COMMAND [ARGUMENTS]")
	}
	c, ok := commands[args[0]]
	if !ok {
		ts.Fatalf("unknown command lsp %s", args[0])
	}
	if n := len(args) - 1; n < c.min || c.max >= 0 && n > c.max {
		ts.Fatalf("usage: lsp %s %s", args[0], c.usage)
	}
	if neg && !c.neg {
		ts.Fatalf("lsp %s cannot be negated", args[0])
	}
	c.run(s, args[1:])
}

// editor is the one that the command names.
func (s *script) editor() *Editor {
	e := s.editors[s.name]
	if e == nil {
		s.ts.Fatalf("there is no editor %q: lsp start comes first", s.name)
	}
	return e
}

// print shows normalised text.
func (s *script) print(lines ...string) {
	for _, l := range lines {
		_, _ = io.WriteString(s.ts.Stdout(), strings.TrimSuffix(s.normal.do(l), "\n")+"\n")
	}
}

// uri is the URI of a file of the script.
func (s *script) uri(file string) string {
	if i := strings.Index(file, ":"); i > 1 {
		return file
	}
	return text.URI(s.path(file))
}

func (s *script) path(file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(s.work, file)
}

var references = regexp.MustCompile(`@(uri|path)\(([^)]*)\)|@(session|turn)\b`)

// json reads an argument: JSON, @FILE or nothing.
func (s *script) json(args []string) jsontext.Value {
	if len(args) == 0 {
		return nil
	}
	arg := args[0]
	if strings.HasPrefix(arg, "@") && !references.MatchString(arg) {
		arg = s.ts.ReadFile(arg[1:])
	}
	arg = references.ReplaceAllStringFunc(arg, func(ref string) string {
		m := references.FindStringSubmatch(ref)
		switch {
		case m[1] == "uri":
			return s.uri(m[2])
		case m[1] == "path":
			return filepath.ToSlash(s.path(m[2]))
		case m[3] == "session":
			return s.session
		}
		return s.turn
	})
	if !jsontext.Value(arg).IsValid() {
		s.ts.Fatalf("%q is no JSON", arg)
	}
	return jsontext.Value(arg)
}

var escapes = strings.NewReplacer(`\n`, "\n", `\r`, "\r", `\t`, "\t", `\\`, `\`)

// answered prints a reply and stores what later commands may refer to.
func (s *script) answered(result jsontext.Value, err *Error) {
	if err != nil {
		if !s.neg {
			s.editor().fatalf("the server answered %v", err)
		}
		s.print(err.Error())
		return
	}
	if s.neg {
		s.editor().fatalf("the server answered %s, want an error", result)
	}
	if id := get[string](result, "session"); id != "" {
		s.session = id
	}
	if turn := get[jsontext.Value](result, "turn"); turn != nil {
		s.turn = string(turn)
	}
	s.print(pretty(result))
}

// pretty has members in their order and at most one level of lines.
func pretty(v jsontext.Value) string {
	v = slices.Clone(v)
	if err := v.Canonicalize(); err != nil {
		return string(v)
	}
	return string(v)
}

// closed checks an editor whose server has ended, and forgets it.
func (s *script) closed(code, want int) {
	delete(s.editors, s.name)
	if code != want {
		s.ts.Fatalf("the server's exit code is %d, want %d", code, want)
	}
}

// eventLine is a transcript's entry in print.
func eventLine(index uint64, event jsontext.Value) string {
	return fmt.Sprintf("%d %s", index, event)
}

// decodeInto is json.Unmarshal that fails the script.
func (s *script) decodeInto(v jsontext.Value, to any) {
	if err := json.Unmarshal(v, to); err != nil {
		s.ts.Fatalf("%s does not decode: %s", v, err)
	}
}
