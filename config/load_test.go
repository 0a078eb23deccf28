package config

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

// layers are the texts of a test's layers.
type layers struct {
	user, workspace, client, init string
	env                           []string
	flags                         []Flag
	// theirs says that the client's settings may be a workspace's; else they are told
	// to be the user's.
	theirs bool
}

// sources writes the files, as USER and ROOT/.agent-lsp.yaml.
func (l layers) sources(t *testing.T) Sources {
	t.Helper()
	dir := t.TempDir()
	s := Sources{
		UserFile: filepath.Join(dir, "config.yaml"), Workspace: filepath.Join(dir, "root"),
		Client: jsontext.Value(l.client), Init: jsontext.Value(l.init), Env: l.env, Flags: l.flags,
	}
	if l.client != "" && !l.theirs {
		s.Env = append(slices.Clone(l.env), "AGENT_LSP_SETTINGS=user")
	}
	if err := os.Mkdir(s.Workspace, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, s.UserFile, l.user)
	write(t, filepath.Join(s.Workspace, WorkspaceFile), l.workspace)
	return s
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if text == "" {
		return
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// warnings are a result's, with the test's directory left out.
func warnings(r Result, s Sources) []string {
	var out []string
	for _, w := range r.Warnings {
		text := strings.ReplaceAll(w.String(), s.UserFile, "USER")
		text = strings.ReplaceAll(text, s.Workspace+string(filepath.Separator), "ROOT/")
		out = append(out, filepath.ToSlash(text))
	}
	return out
}

// check loads the layers and compares the configuration with the default one,
// changed as said, and the warnings.
func check(t *testing.T, l layers, change func(*Config), want ...string) {
	t.Helper()
	s := l.sources(t)
	r := Load(s)
	c := Default()
	if l.client != "" && !l.theirs {
		c.Settings = "user"
	}
	if change != nil {
		change(&c)
	}
	if d := cmp.Diff(c, r.Config); d != "" {
		t.Errorf("configuration: %s", d)
	}
	if d := cmp.Diff(want, warnings(r, s)); d != "" {
		t.Errorf("warnings: %s", d)
	}
}

func TestNothingGivesTheDefaults(t *testing.T) {
	check(t, layers{}, nil)
	check(t, layers{user: "# nothing\n", workspace: "\n", client: "null", init: "{}"}, nil)
	r := Load(Sources{})
	if p := r.Config.Selected(); p.Provider != "script" || p.Name != "demo" {
		t.Errorf("%+v", p)
	}
}

func TestEveryKeyOfTheUserFile(t *testing.T) {
	abs := func(name string) string { return filepath.ToSlash(filepath.Join(t.TempDir(), name)) }
	script := abs("path.yaml")
	check(t, layers{user: `
profile: gpt
profiles:
  demo:   {provider: script, script: "` + script + `"}
  gpt:    {provider: openai, model: gpt-x, base_url: https://a/v1, api: responses, api_key_env: OPENAI_API_KEY, context: 200000, max_output: 16_000, vision: true, prompt_cache: true, reasoning_echo: both}
  claude: {provider: anthropic, model: c, api_key_env: ANTHROPIC_API_KEY, fallback: [gpt]}
  local:  {provider: openai, model: 4.10, base_url: http://127.0.0.1:11434/v1}
prelude: |
  Be brief.
store: "sqlite:/x"
approvals: edits
rules: {allow: [exec: [go, test], git: [status]], deny: [exec: [rm], {browse: []}, {read: .env, write: .env}]}
turn: {max_rounds: 7}
request: {timeout: 1m, idle_timeout: 1s, retries: 0}
exec: {timeout: 90s, output: 1, sandbox: false, writable: [/opt/cache], network: "off", loopback: [5432, 6379], keep_env: [GOFLAGS]}
sandbox: {deny_read: [~/private], read: [~/.npmrc], cache_size: 250 MB}
checker:
  enabled: false
  timeout: 2s
  cap: 3
  network: true
  commands: {go: [go, vet, ./...], my: [make, 1]}
  off: [deno]
  roots: {sub/dir: {command: [a]}, /abs: {off: true}}
browse: {allow_private: true, max_bytes: 4, timeout: 5s}
retention: {sessions: 0, days: 1}
log: {level: debug}
`}, func(c *Config) {
		c.Profile = "gpt"
		c.Profiles = map[string]model.Profile{
			"demo": {Name: "demo", Provider: "script", Script: script},
			"gpt": {
				Name: "gpt", Provider: "openai", Model: "gpt-x", BaseURL: "https://a/v1", API: "responses", APIKeyEnv: "OPENAI_API_KEY",
				Context: 200000, MaxOutput: 16000, Vision: true, PromptCache: true, ReasoningEcho: "both",
			},
			"claude": {Name: "claude", Provider: "anthropic", Model: "c", APIKeyEnv: "ANTHROPIC_API_KEY", Fallback: []string{"gpt"}},
			"local":  {Name: "local", Provider: "openai", Model: "4.10", BaseURL: "http://127.0.0.1:11434/v1"},
		}
		c.Prelude = "Be brief.\n"
		c.Store = "sqlite:/x"
		c.Approvals = "edits"
		c.Rules = Rules{
			Allow: []Rule{{"exec", []string{"go", "test"}}, {"git", []string{"status"}}},
			Deny:  []Rule{{"exec", []string{"rm"}}, {"browse", []string{}}, {"read", []string{".env"}}, {"write", []string{".env"}}},
		}
		c.Turn.MaxRounds = 7
		c.Request = Request{Duration(time.Minute), Duration(time.Second), 0}
		c.Exec = Exec{Duration(90 * time.Second), 1, false, []string{"/opt/cache"}, "off", []int{5432, 6379}, []string{"GOFLAGS"}}
		c.Sandbox = Sandbox{[]string{"~/private"}, []string{"~/.npmrc"}, 250e6}
		c.Checker = Checker{
			false, Duration(2 * time.Second), 3,
			map[string][]string{"go": {"go", "vet", "./..."}, "my": {"make", "1"}},
			true,
			[]string{"deno"},
			map[string]CheckerRoot{"sub/dir": {Command: []string{"a"}}, "/abs": {Off: true}},
		}
		c.Browse = Browse{true, 4, Duration(5 * time.Second)}
		c.Retention = Retention{0, 1}
		c.Log.Level = "debug"
	})
}

func TestLaterLayersWin(t *testing.T) {
	user := "turn: {max_rounds: 2}\nexec: {output: 2}\nchecker: {cap: 2, commands: {go: [a], node: [b]}, off: [go]}\nrules: {allow: [{git: [a]}], deny: [{git: [a]}]}\n"
	client := `{"turn":{"maxRounds":3},"exec":{"output":3},"checker":{"commands":{"go":["c"]},"off":[]},"rules":{"allow":[{"git":["b"]}],"deny":[{"git":["b"]}]}}`
	l := layers{user: user, client: client, init: `{"turn":{"maxRounds":4},"savesEdits":true}`}
	want := func(c *Config) {
		c.Turn.MaxRounds, c.Exec.Output, c.Checker.Cap, c.SavesEdits = 4, 3, 2, true
		c.Checker.Commands = map[string][]string{"go": {"c"}, "node": {"b"}}
		c.Checker.Off = []string{}
		c.Rules = Rules{Allow: []Rule{{"git", []string{"a"}}, {"git", []string{"b"}}}, Deny: []Rule{{"git", []string{"a"}}, {"git", []string{"b"}}}}
	}
	check(t, l, want)
	l.env = []string{"AGENT_LSP_TURN_MAX_ROUNDS=5", "AGENT_LSP_EXEC_OUTPUT=5", "OTHER=1", "AGENT_LSP_LOG_LEVEL=", "AGENT_LSP_TEST_X=1"}
	l.flags = []Flag{{"--max-rounds", "turn.max_rounds", "6"}, {"--keep", "exec.keep_env", "[A, B]"}, {"--idle", "request.idle_timeout", "7s"}}
	check(t, l, func(c *Config) {
		want(c)
		c.Turn.MaxRounds, c.Exec.Output, c.Exec.KeepEnv, c.Request.IdleTimeout = 6, 5, []string{"A", "B"}, Duration(7*time.Second)
	})
}

func TestAProfileMayBeGivenWhole(t *testing.T) {
	inline := func(script string) func(*Config) {
		return func(c *Config) {
			c.Profile = Inline
			c.Profiles[Inline] = model.Profile{Name: Inline, Provider: "script", Script: script}
		}
	}
	path := filepath.ToSlash(filepath.Join(t.TempDir(), "s.yaml"))
	check(t, layers{init: `{"profile": {"provider": "script", "script": "` + path + `"}}`}, inline(filepath.FromSlash(path)))
	f := Flag{Name: "--profile", Key: "profile", Value: `{provider: script, script: "` + path + `"}`}
	check(t, layers{init: `{"profile": "demo"}`, flags: []Flag{f}}, inline(filepath.FromSlash(path)))
	check(t, layers{user: "profile: {provider: script}\n"}, nil, "USER:1:1: profile: this names a profile; a profile itself stands under profiles")
	check(t, layers{init: `{"profile": {"model": "m"}}`}, nil, "initializationOptions: profile: the profile names no provider: script, openai or anthropic",
		`initializationOptions: profile: there is no profile "inline"; there are demo`)
}

func TestRelativeScriptsStartWhereTheyAreNamed(t *testing.T) {
	l := layers{user: "profiles: {u: {provider: script, script: a.yaml}}\n", init: `{"profiles": {"i": {"provider": "script", "script": "a.yaml"}}}`}
	s := l.sources(t)
	c := Load(s).Config
	if got, want := c.Profiles["u"].Script, filepath.Join(filepath.Dir(s.UserFile), "a.yaml"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := c.Profiles["i"].Script, filepath.Join(s.Workspace, "a.yaml"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestALaterProfileReplacesAnEarlierWhole(t *testing.T) {
	check(t, layers{
		user: "profiles: {a: {provider: openai, model: m, base_url: http://a, api_key_env: K}}\n",
		init: `{"profiles": {"a": {"provider": "openai", "model": "n"}}, "profile": "a"}`,
	}, func(c *Config) {
		c.Profile = "a"
		c.Profiles["a"] = model.Profile{Name: "a", Provider: "openai", Model: "n"}
	})
}

func TestAMistakeLeavesTheRest(t *testing.T) {
	last := func(c *Config) { c.Log.Level = "warn" }
	for name, tt := range map[string]struct {
		user string
		want []string
	}{
		"unknown key":          {"aprovals: all", []string{"USER:1:1: aprovals: there is no such setting (did you mean approvals?)"}},
		"swapped letters":      {"porfile: x", []string{"USER:1:1: porfile: there is no such setting (did you mean profile?)"}},
		"nothing near":         {"zzz: 1", []string{"USER:1:1: zzz: there is no such setting"}},
		"camel case in a file": {"turn:\n  maxRounds: 3", []string{"USER:2:3: turn.maxRounds: there is no such setting (did you mean max_rounds?)"}},
		"number":               {"turn: {max_rounds: many}", []string{`USER:1:8: turn.max_rounds: this is "many", not a whole number`}},
		"fraction":             {"turn: {max_rounds: 1.5}", []string{`USER:1:8: turn.max_rounds: this is "1.5", not a whole number`}},
		"no port":              {"exec: {loopback: [5432, 65536]}", []string{"USER:1:25: exec.loopback[1]: 65536 is more than 65535"}},
		"no ports":             {"exec: {loopback: 5432}", []string{"USER:1:8: exec.loopback: this is a number, not a list of whole numbers"}},
		"too few":              {"turn: {max_rounds: 0}", []string{"USER:1:8: turn.max_rounds: 0 is less than 1"}},
		"a size without sense": {"sandbox: {cache_size: lots}", []string{`USER:1:11: sandbox.cache_size: this is "lots", not a size such as 500MB or 5GB`}},
		"duration in numbers":  {"exec: {timeout: 120}", []string{`USER:1:8: exec.timeout: this is "120", not a length of time such as 90s or 2m`}},
		"no duration":          {"exec: {timeout: 0s}", []string{"USER:1:8: exec.timeout: 0s is not longer than no time at all"}},
		"boolean":              {"checker: {enabled: \"true\"}", []string{"USER:1:11: checker.enabled: this is a text, not true or false"}},
		"enum":                 {"approvals: readonly", []string{`USER:1:1: approvals: "readonly" is not one of plan, ask, edits, auto, all, read-only (did you mean read-only?)`}},
		"list":                 {"checker: {off: deno}", []string{"USER:1:11: checker.off: this is a text, not a list of texts"}},
		"item of a list":       {"checker: {off: [deno, [go]]}", []string{"USER:1:23: checker.off[1]: this is a list, not a text, so the whole list is left out"}},
		"section":              {"exec: 3", []string{"USER:1:1: exec: this is a number, not settings by name"}},
		"table":                {"profiles: [a]", []string{"USER:1:1: profiles: this is a list, not values by name"}},
		"entry of a table":     {"checker: {commands: {go: go vet}}", []string{"USER:1:22: checker.commands.go: this is a text, not a list of texts"}},
		"rule":                 {"rules: {deny: [rm]}", []string{"USER:1:16: rules.deny[0]: this is a text, not a rule such as exec: [go, test]"}},
		"rule's tool":          {"rules: {deny: [{exce: [rm]}]}", []string{`USER:1:17: rules.deny[0]: "exce" is not one of the tools read, write, patch, exec, git, browse (did you mean exec?)`}},
		"trust":                {"trusted: true\nsaves_edits: true", []string{"USER:1:1: trusted: only an editor's initializationOptions or the command line sets this", "USER:2:1: saves_edits: only an editor's initializationOptions or the command line sets this"}},
		"no such profile":      {"profile: dmo", []string{`USER:1:1: profile: there is no profile "dmo"; there are demo (did you mean demo?)`}},
		"no provider":          {"profiles: {a: {model: m}}\nprofile: a", []string{"USER:1:12: profiles.a: the profile names no provider: script, openai or anthropic", `USER:2:1: profile: there is no profile "a"; there are demo`}},
		"null":                 {"exec:\nprofile: ~\nchecker: {off: }", nil},
	} {
		t.Run(name, func(t *testing.T) {
			check(t, layers{user: tt.user + "\nlog: {level: warn}\n"}, last, tt.want...)
		})
	}
	t.Run("in a rule", func(t *testing.T) {
		check(t, layers{user: "rules: {deny: [{exec: [[a]]}, {exec: [rm]}]}\n"}, func(c *Config) { c.Rules.Deny = []Rule{{"exec", []string{"rm"}}} },
			"USER:1:24: rules.deny[0].exec[0]: this is a list, not a text, so the whole list is left out")
	})
	t.Run("in a profile", func(t *testing.T) {
		check(t, layers{user: "profiles: {a: {provider: openai, modle: m, fallback: [b, a, dem]}}\n"}, func(c *Config) {
			c.Profiles["a"] = model.Profile{Name: "a", Provider: "openai", Fallback: []string{"b", "a", "dem"}}
		}, "USER:1:34: profiles.a.modle: there is no such setting (did you mean model?)", "USER:1:12: profiles.a: the profile names no model",
			`USER:1:44: profiles.a.fallback: the profile "a" falls back to "b", which is no profile`,
			`USER:1:44: profiles.a.fallback: the profile "a" falls back to itself`,
			`USER:1:44: profiles.a.fallback: the profile "a" falls back to "dem", which is no profile (did you mean demo?)`)
	})
	t.Run("in a message", func(t *testing.T) {
		check(t, layers{init: `{"log":{"level":"warn"},"saves_edits":true,"exec":{"output":"1"}}`}, last,
			"initializationOptions: saves_edits: there is no such setting (did you mean savesEdits?)",
			`initializationOptions: exec.output: this is "1", not a whole number`)
		check(t, layers{init: `{"log":`, client: `{"agentLsp":{"log":{"level":"warn"},"server":{"path":"x"},"trace":1,"profile":""}}`}, last,
			`initializationOptions: this is not read: unexpected EOF within "/log" after offset 7`)
		check(t, layers{init: `[]`, client: `3`}, nil, "workspace/configuration: this is a number, not settings by name", "initializationOptions: this is a list, not settings by name")
	})
	t.Run("in the environment", func(t *testing.T) {
		check(t, layers{env: []string{"AGENT_LSP_LOG_LEVEL=warn", "AGENT_LSP_APROVALS=all", "AGENT_LSP_EXEC_OUTPUT=x", "AGENT_LSP_CHECKER_OFF=[a"}}, last,
			"AGENT_LSP_APROVALS: there is no such setting (did you mean AGENT_LSP_APPROVALS?)",
			"AGENT_LSP_CHECKER_OFF: checker.off: the value is not read: sequence end token ']' not found",
			`AGENT_LSP_EXEC_OUTPUT: exec.output: this is "x", not a whole number`)
	})
}

func TestAFileThatDoesNotParseIsOneWarning(t *testing.T) {
	for name, tt := range map[string]struct{ user, want string }{
		"syntax":      {"a: [\n", "USER:1:4: sequence end token ']' not found; none of it applies"},
		"key twice":   {"log: {}\nlog: {}\n", `USER:2:1: mapping key "log" already defined at [1:1]; none of it applies`},
		"anchors":     {"exec: &a {output: 1}\n", "USER:1:7: anchors and aliases are not read; none of it applies"},
		"merge":       {"exec: {<<: {output: 1}}\n", "USER:1:8: merge keys are not read; none of it applies"},
		"documents":   {"log: {level: warn}\n---\nlog: {level: info}\n", "USER:3:1: the file holds more than one document; none of it applies"},
		"a list":      {"- a\n", "USER:1:1: this is a list, not settings by name"},
		"a bomb":      {strings.Repeat("[", 100_000), "USER:1:1: values are nested too deep; none of it applies"},
		"deep dashes": {strings.Repeat("- ", 50_000), "USER:1:1: values are nested too deep; none of it applies"},
		"depth":       {strings.Repeat("[", 40) + strings.Repeat("]", 40), "USER:1:34: values are nested too deep; none of it applies"},
		"large":       {strings.Repeat("#", most+1), "USER: the file is not read: it is larger than 262144 bytes; none of it applies"},
	} {
		t.Run(name, func(t *testing.T) { check(t, layers{user: tt.user}, nil, tt.want) })
	}
	t.Run("a directory", func(t *testing.T) {
		r := Load(Sources{UserFile: t.TempDir()})
		if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0].Text, "it is not a regular file") {
			t.Error(r.Warnings)
		}
	})
}

func TestKeysAreNeverReadOrRepeated(t *testing.T) {
	const key = "sk-abcdefghijklmnopqrst"
	l := layers{user: "profiles:\n  a: {provider: openai, model: m, api_key_env: " + key + "}\n  b: {provider: openai, model: m, api_key: " + key + "}\nstore: postgres://u:" + key + "@h/d?password=" + key + "\n"}
	s := l.sources(t)
	r := Load(s)
	want := []string{
		"USER:2:3: profiles.a.api_key_env: this is not the name of an environment variable",
		"USER:3:35: profiles.b.api_key: API keys are not read from a configuration: name the environment variable that holds it (did you mean api_key_env?)",
	}
	if d := cmp.Diff(want, warnings(r, s)); d != "" {
		t.Error(d)
	}
	if got := r.Config.Profiles["a"].APIKeyEnv; got != "" {
		t.Errorf("kept %s", got)
	}
	for _, v := range r.Settings() {
		if strings.Contains(v.Value, key) {
			t.Errorf("%s shows %s", v.Key, v.Value)
		}
	}
	if !strings.Contains(r.Config.Store, key) {
		t.Error("the store's own address lost its password")
	}
}

func TestAFileThatBreaksStaysAsItWas(t *testing.T) {
	l := layers{user: "approvals: read-only\n", workspace: "rules: {deny: [exec: [rm]]}\n"}
	s := l.sources(t)
	var loader Loader
	loader.Load(s)
	write(t, s.UserFile, "approvals: [\n")
	write(t, filepath.Join(s.Workspace, WorkspaceFile), "rules: [\n")
	r := loader.Load(s)
	if r.Config.Approvals != "read-only" || len(r.Config.Rules.Deny) != 1 {
		t.Errorf("%+v", r.Config)
	}
	want := []string{
		"USER:1:12: sequence end token ']' not found; it applies as it was before",
		"ROOT/.agent-lsp.yaml:1:8: sequence end token ']' not found; it applies as it was before",
	}
	if d := cmp.Diff(want, warnings(r, s)); d != "" {
		t.Error(d)
	}
	if err := os.Remove(s.UserFile); err != nil {
		t.Fatal(err)
	}
	if r := loader.Load(s); r.Config.Approvals != "ask" {
		t.Errorf("a removed file still applies: %+v", r.Config)
	}
}

func TestAPipeIsNotWaitedFor(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no such files on Windows")
	}
	r := Load(Sources{UserFile: os.DevNull})
	if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0].Text, "it is not a regular file") {
		t.Error(r.Warnings)
	}
}

func TestRulesNameAnyToolThatThereIs(t *testing.T) {
	for name, tt := range map[string]struct {
		tools []string
		rule  string
		fits  bool
	}{
		"one of the six":        {nil, "exec", true},
		"none":                  {nil, "search", false},
		"a further one":         {[]string{"exec", "search"}, "search", true},
		"one that is not there": {[]string{"exec", "search"}, "browse", false},
		"another server's":      {[]string{"exec"}, "db__query", true},
	} {
		r := Load(Sources{Tools: tt.tools, Init: []byte(`{"rules":{"deny":[{"` + tt.rule + `":["x"]}]}}`)})
		if got := len(r.Config.Rules.Deny) == 1; got != tt.fits || (len(r.Warnings) == 0) != tt.fits {
			t.Errorf("%s: fits %v, warnings %v", name, got, r.Warnings)
		}
	}
}
