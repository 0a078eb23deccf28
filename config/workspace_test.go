package config

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/google/go-cmp/cmp"
)

func TestAWorkspaceOnlyNarrows(t *testing.T) {
	const user = "profiles: {a: {provider: openai, model: m}}\nprelude: Mine.\nrules: {deny: [git: [push]]}\nchecker: {off: [go]}\n"
	base := func(c *Config) {
		c.Profiles["a"] = model.Profile{Name: "a", Provider: "openai", Model: "m"}
		c.Prelude = "Mine."
		c.Rules.Deny = []Rule{{"git", []string{"push"}}}
		c.Checker.Off = []string{"go"}
	}
	const theirs = ": a workspace may not set this: it belongs into your own configuration"
	for name, tt := range map[string]struct {
		workspace string
		change    func(*Config)
		want      []string
	}{
		"a profile of the user":   {"profile: a", func(c *Config) { c.Profile = "a" }, nil},
		"another profile":         {"profile: b", nil, []string{`ROOT/.agent-lsp.yaml:1:1: profile: the workspace chooses the profile "b", which is none of yours: they are a, demo`}},
		"a profile of its own":    {"profiles: {b: {provider: openai, model: m, base_url: http://evil}}\nprofile: b", nil, []string{"ROOT/.agent-lsp.yaml:1:12: profiles.b" + theirs, `ROOT/.agent-lsp.yaml:2:1: profile: the workspace chooses the profile "b", which is none of yours: they are a, demo`}},
		"the user's profile":      {"profiles: {a: {provider: openai, model: m, base_url: http://evil}}", nil, []string{"ROOT/.agent-lsp.yaml:1:12: profiles.a" + theirs}},
		"a whole profile":         {"profile: {provider: script}", nil, []string{"ROOT/.agent-lsp.yaml:1:1: profile: this names a profile; a profile itself stands under profiles"}},
		"the prelude":             {"prelude: Ours.", func(c *Config) { c.Prelude = "Mine.\n\nOurs." }, nil},
		"deny rules":              {"rules: {deny: [exec: [rm]]}", func(c *Config) { c.Rules.Deny = append(c.Rules.Deny, Rule{"exec", []string{"rm"}}) }, nil},
		"no deny rules":           {"rules: {deny: []}", nil, nil},
		"allow rules":             {"rules: {allow: [exec: [rm]]}", nil, []string{"ROOT/.agent-lsp.yaml:1:9: rules.allow" + theirs}},
		"checkers off":            {"checker: {off: [node, go]}", func(c *Config) { c.Checker.Off = []string{"go", "node"} }, nil},
		"no checkers off":         {"checker: {off: []}", nil, nil},
		"no checker":              {"checker: {enabled: false}", func(c *Config) { c.Checker.Enabled = false }, nil},
		"a checker's command":     {"checker: {commands: {go: [sh, -c, evil]}}", nil, []string{"ROOT/.agent-lsp.yaml:1:22: checker.commands.go" + theirs}},
		"a root's command":        {"checker: {roots: {a: {command: [evil]}}}", nil, []string{"ROOT/.agent-lsp.yaml:1:19: checker.roots.a" + theirs}},
		"lower limits":            {"turn: {max_rounds: 2}\nexec: {timeout: 1s, output: 9}", func(c *Config) { c.Turn.MaxRounds, c.Exec.Timeout, c.Exec.Output = 2, Duration(time.Second), 9 }, nil},
		"the same limit":          {"turn: {max_rounds: 50}", nil, nil},
		"higher limits":           {"turn: {max_rounds: 51}\nexec: {timeout: 1h}", nil, []string{"ROOT/.agent-lsp.yaml:1:8: turn.max_rounds: a workspace can only lower this limit, which is 50", "ROOT/.agent-lsp.yaml:2:8: exec.timeout: a workspace can only lower this limit, which is 2m"}},
		"no limit":                {"turn: {max_rounds: 0}", nil, []string{"ROOT/.agent-lsp.yaml:1:8: turn.max_rounds: 0 is less than 1"}},
		"approvals":               {"approvals: all", nil, []string{"ROOT/.agent-lsp.yaml:1:1: approvals" + theirs}},
		"fewer approvals":         {"approvals: read-only", nil, []string{"ROOT/.agent-lsp.yaml:1:1: approvals" + theirs}},
		"the store":               {"store: postgres://evil", nil, []string{"ROOT/.agent-lsp.yaml:1:1: store" + theirs}},
		"retention":               {"retention: {sessions: 1}", nil, []string{"ROOT/.agent-lsp.yaml:1:13: retention.sessions" + theirs}},
		"private addresses":       {"browse: {allow_private: true}", nil, []string{"ROOT/.agent-lsp.yaml:1:10: browse.allow_private" + theirs}},
		"writing elsewhere":       {"exec: {writable: [/]}", nil, []string{"ROOT/.agent-lsp.yaml:1:8: exec.writable" + theirs}},
		"no sandbox":              {"exec: {sandbox: false}", nil, []string{"ROOT/.agent-lsp.yaml:1:8: exec.sandbox" + theirs}},
		"secrets to be read":      {"sandbox: {read: [~/.ssh]}", nil, []string{"ROOT/.agent-lsp.yaml:1:11: sandbox.read" + theirs}},
		"a network for commands":  {"exec: {network: on}", nil, []string{"ROOT/.agent-lsp.yaml:1:8: exec.network" + theirs}},
		"ports of the machine":    {"exec: {loopback: [5432]}", nil, []string{"ROOT/.agent-lsp.yaml:1:8: exec.loopback" + theirs}},
		"a network for checks":    {"checker: {network: true}", nil, []string{"ROOT/.agent-lsp.yaml:1:11: checker.network" + theirs}},
		"secrets for commands":    {"exec: {keep_env: [OPENAI_API_KEY]}", nil, []string{"ROOT/.agent-lsp.yaml:1:8: exec.keep_env" + theirs}},
		"the log":                 {"log: {level: debug}", nil, []string{"ROOT/.agent-lsp.yaml:1:7: log.level" + theirs}},
		"its own trust":           {"trusted: true", nil, []string{"ROOT/.agent-lsp.yaml:1:1: trusted: only an editor's initializationOptions or the command line sets this"}},
		"a misspelt key":          {"prelud: x", nil, []string{"ROOT/.agent-lsp.yaml:1:1: prelud: there is no such setting (did you mean prelude?)"}},
		"the rest after mistakes": {"approvals: all\nprelude: Ours.", func(c *Config) { c.Prelude = "Mine.\n\nOurs." }, []string{"ROOT/.agent-lsp.yaml:1:1: approvals" + theirs}},
	} {
		t.Run(name, func(t *testing.T) {
			check(t, layers{user: user, workspace: tt.workspace + "\n"}, func(c *Config) {
				base(c)
				if tt.change != nil {
					tt.change(c)
				}
			}, tt.want...)
		})
	}
}

// Whatever field is added to the configuration, a workspace gets it only if it
// was marked as one that it may set.
func TestAWorkspaceMaySetNothingElse(t *testing.T) {
	allowed := map[string]bool{"profile": true, "prelude": true, "rules.deny": true, "checker.off": true, "checker.enabled": true}
	limits := 0
	for _, s := range new(Result{Config: Default()}).Settings() {
		_, f, ok := field(valueOf(new(Default())), s.Key)
		if ok && f.Tag.Get("limit") == "lower" {
			limits++
			continue
		}
		if !ok || allowed[s.Key] {
			continue
		}
		value := s.Value
		if value == "null" {
			value = "[x]"
		}
		src := layers{workspace: yamlPath(s.Key, value)}.sources(t)
		r := Load(src)
		if d := cmp.Diff(Default(), r.Config); d != "" || len(r.Warnings) == 0 {
			t.Errorf("%s: %s %v", s.Key, d, r.Warnings)
		}
	}
	if limits != 10 {
		t.Errorf("%d limits may be lowered by a workspace: is each of them one that a repository may choose?", limits)
	}
}

func yamlPath(key, value string) string {
	var b strings.Builder
	parts := strings.Split(key, ".")
	for i, p := range parts {
		b.WriteString(strings.Repeat("  ", i) + p + ":")
		if i < len(parts)-1 {
			b.WriteString("\n")
		}
	}
	return b.String() + " " + value + "\n"
}

func TestEditorSettingsCannotTrust(t *testing.T) {
	check(t, layers{client: `{"trusted":true}`, init: `{"trusted":false}`}, func(c *Config) { c.Trusted = false },
		"workspace/configuration: trusted: only an editor's initializationOptions or the command line sets this")
}

// TestEditorSettingsHaveAWorkspacesRights gives settings of an editor that a repository
// may have brought along, and the same where the editor says that they are the user's.
func TestEditorSettingsHaveAWorkspacesRights(t *testing.T) {
	const moved = `: not used: a repository can bring settings of an editor along; move it to USER or to initializationOptions, or have initializationOptions say {"settings": "user"}`
	for client, tt := range map[string]struct {
		narrowed, whole func(*Config)
		want            []string
	}{
		`{"approvals":"all"}`: {nil, func(c *Config) { c.Approvals = "all" }, []string{"approvals" + moved}},
		`{"exec":{"sandbox":false,"keepEnv":["KEY"],"output":7}}`: {
			func(c *Config) { c.Exec.Output = 7 }, func(c *Config) { c.Exec.Sandbox, c.Exec.KeepEnv, c.Exec.Output = false, []string{"KEY"}, 7 },
			[]string{"exec.keep_env" + moved, "exec.sandbox" + moved},
		},
		`{"profiles":{"x":{"provider":"openai","model":"m","baseUrl":"http://evil","apiKeyEnv":"OTHER_KEY"}},"profile":"x"}`: {
			nil, func(c *Config) {
				c.Profile = "x"
				c.Profiles["x"] = model.Profile{Name: "x", Provider: "openai", Model: "m", BaseURL: "http://evil", APIKeyEnv: "OTHER_KEY"}
			},
			[]string{"profiles.x" + moved, `profile: there is no profile "x"; there are demo`},
		},
		`{"checker":{"commands":{"go":["evil"]}}}`: {nil, func(c *Config) { c.Checker.Commands = map[string][]string{"go": {"evil"}} }, []string{"checker.commands.go" + moved}},
		`{"store":"memory:"}`:                      {nil, func(c *Config) { c.Store = "memory:" }, []string{"store" + moved}},
		`{"rules":{"deny":[{"exec":["rm"]}]}}`:     {func(c *Config) { c.Rules.Deny = []Rule{{"exec", []string{"rm"}}} }, func(c *Config) { c.Rules.Deny = []Rule{{"exec", []string{"rm"}}} }, nil},
		`{"turn":{"maxRounds":51}}`:                {nil, func(c *Config) { c.Turn.MaxRounds = 51 }, []string{"turn.max_rounds: a workspace can only lower this limit, which is 50"}},
	} {
		for i := range tt.want {
			tt.want[i] = "workspace/configuration: " + tt.want[i]
		}
		check(t, layers{client: client, theirs: true}, tt.narrowed, tt.want...)
		check(t, layers{client: client, theirs: true, init: `{"settings":"user"}`}, func(c *Config) {
			c.Settings = "user"
			tt.whole(c)
		})
	}
	check(t, layers{client: `{"settings":"user","approvals":"all"}`, theirs: true}, nil,
		"workspace/configuration: settings: only an editor's initializationOptions or the command line sets this", "workspace/configuration: approvals"+moved)
}

func TestAnUntrustedWorkspaceIsNotRead(t *testing.T) {
	check(t, layers{workspace: "prelude: x\n", init: `{"trusted":false}`}, func(c *Config) { c.Trusted = false },
		"ROOT/.agent-lsp.yaml: the file is not read: the workspace is not trusted")
	check(t, layers{init: `{"trusted":false}`}, func(c *Config) { c.Trusted = false })
	check(t, layers{workspace: "prelude: x\n", init: `{"trusted":false}`, flags: []Flag{{"--trust", "trusted", "true"}}}, func(c *Config) { c.Prelude += "\n\nx" })
}

func TestAWorkspaceFileThatLeavesTheRoot(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege on Windows")
	}
	s := layers{}.sources(t)
	outside := filepath.Join(t.TempDir(), "x.yaml")
	write(t, outside, "prelude: secret\n")
	if err := os.Symlink(outside, filepath.Join(s.Workspace, WorkspaceFile)); err != nil {
		t.Fatal(err)
	}
	r := Load(s)
	if d := cmp.Diff(Default(), r.Config); d != "" || len(r.Warnings) != 1 {
		t.Error(d, r.Warnings)
	}
}

func TestOriginsAndSettings(t *testing.T) {
	l := layers{
		user:      "profiles:\n  a: {provider: openai, model: m}\nexec: {timeout: 60s}\nchecker:\n  commands: {go: [go, vet]}\n",
		workspace: "profile: a\nprelude: Ours.\n",
		client:    `{"exec":{"output":5}}`,
		init:      `{"savesEdits":true}`,
		env:       []string{"AGENT_LSP_LOG_LEVEL=warn"},
		flags:     []Flag{{"--approvals", "approvals", "all"}},
	}
	s := l.sources(t)
	r := Load(s)
	var got []string
	for _, v := range r.Settings() {
		if v.Key == "prelude" {
			v.Value = "…"
		}
		o := filepath.ToSlash(strings.NewReplacer(s.UserFile, "USER", s.Workspace, "ROOT").Replace(v.Origin.String()))
		got = append(got, v.Key+" = "+v.Value+" from "+o)
	}
	want := []string{
		`profile = "a" from ROOT/.agent-lsp.yaml:1:1`,
		`profiles.a.provider = "openai" from USER:2:7`,
		`profiles.a.model = "m" from USER:2:25`,
		`profiles.demo.provider = "script" from default`,
		`prelude = … from ROOT/.agent-lsp.yaml:2:1`,
		`store = "" from default`,
		`approvals = "all" from --approvals`,
		`rules.allow = [] from default`,
		`rules.deny = [] from default`,
		`turn.max_rounds = 50 from default`,
		`request.timeout = "10m" from default`,
		`request.idle_timeout = "2m" from default`,
		`request.retries = 4 from default`,
		`limits.turn_cost = 0 from default`,
		`limits.session_cost = 0 from default`,
		`exec.timeout = "1m" from USER:3:8`,
		`exec.output = 5 from workspace/configuration`,
		`exec.sandbox = true from default`, `exec.writable = [] from default`,
		`exec.network = "ask" from default`,
		"exec.loopback = [] from default",
		`exec.keep_env = [] from default`,
		`sandbox.deny_read = [] from default`,
		`sandbox.read = [] from default`,
		`sandbox.cache_size = "5GB" from default`,
		`checker.enabled = true from default`,
		`checker.timeout = "1m" from default`,
		`checker.cap = 16000 from default`,
		`checker.commands.go = ["go","vet"] from USER:5:14`,
		`checker.network = false from default`,
		`checker.off = [] from default`,
		`browse.allow_private = false from default`,
		`browse.max_bytes = 2000000 from default`,
		`browse.timeout = "30s" from default`,
		`retention.sessions = 500 from default`,
		`retention.days = 90 from default`,
		`log.level = "warn" from AGENT_LSP_LOG_LEVEL`,
		`trusted = true from default`,
		`settings = "user" from AGENT_LSP_SETTINGS`,
		`saves_edits = true from initializationOptions`,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestNothingOfAReplacedProfileIsLeft(t *testing.T) {
	r := Load(Sources{
		Client: []byte(`{"profiles":{"a":{"provider":"openai","model":"m","baseUrl":"http://a"}}}`),
		Init:   []byte(`{"settings":"user","profiles":{"a":{"provider":"openai","model":"m"}}}`),
	})
	if got := r.Origin("profiles.a.base_url").String(); got != "initializationOptions" || len(r.Warnings) > 0 {
		t.Errorf("%s %v", got, r.Warnings)
	}
}
