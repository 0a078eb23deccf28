package tools

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/tools/proc"
	"github.com/agent-lsp/agent-lsp/workspace"
)

// tripwire is a program that leaves a trace, in a sandbox too: no sandbox so far
// keeps a mode from being changed. It passes on what it reads.
type tripwire struct {
	t              *testing.T
	program, trace string
}

func newTripwire(t *testing.T) *tripwire {
	t.Helper()
	dir := t.TempDir()
	lookWrites = append(lookWrites, dir)
	t.Cleanup(func() { lookWrites = lookWrites[:len(lookWrites)-1] })
	tw := &tripwire{t: t, program: filepath.Join(dir, "run"), trace: filepath.Join(dir, "trace")}
	for name, text := range map[string]string{tw.program: "#!/bin/sh\nchmod 700 " + tw.trace + "\ntouch " + tw.trace + ".new\nexec cat \"$@\"\n", tw.trace: ""} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(tw.program, 0o755); err != nil {
		t.Fatal(err)
	}
	return tw
}

// ran reports whether the program ran since it was last asked.
func (tw *tripwire) ran() bool {
	tw.t.Helper()
	info, err := os.Stat(tw.trace)
	if err != nil {
		tw.t.Fatal(err)
	}
	_, made := os.Stat(tw.trace + ".new")
	if err := os.Chmod(tw.trace, 0o600); err != nil {
		tw.t.Fatal(err)
	}
	_ = os.Remove(tw.trace + ".new")
	return info.Mode().Perm() != 0o600 || made == nil
}

// looks are calls of git for which nobody is asked, or that are asked about since
// they look into other repositories. The first ones lead to every kind of program.
var looks = [][]string{
	{"status"},
	{"diff", "HEAD"},
	{"log", "-p", "--show-signature"},
	{"log", "--format=%G? %s"},
	{"show", "HEAD~1"},
	{"blame", "f"},
	{"stash", "show", "-p"},
	{"diff", "--submodule=diff"},
	{"describe", "--always", "--dirty"},
	{"-C", "sub", "diff"},

	{"status", "-v", "-v"},
	{"diff"},
	{"diff", "--cached"},
	{"diff-files", "-p"},
	{"diff-index", "-p", "HEAD"},
	{"log", "-p"},
	{"show"},
	{"show", "HEAD:f"},
	{"annotate", "f"},
	{"grep", "a"},
	{"ls-files", "-m"},
	{"describe", "--always"},
	{"cat-file", "-p", "HEAD:f"},
	{"stash", "list"},
	{"reflog"},
	{"branch", "-avv"},
	{"tag", "-l"},
	{"remote", "-v"},
	{"worktree", "list"},
	{"rev-parse", "HEAD"},
	{"check-ignore", "f"},
	{"check-attr", "-a", "f"},
	{"for-each-ref"},
	{"range-diff", "HEAD~1..HEAD", "HEAD~1..HEAD"},
	{"whatchanged", "-p"},
	{"shortlog", "HEAD"},
	{"cherry", "HEAD~1"},
	{"log", "-S", "a"},
	{"log", "-G", "a"},
	{"submodule", "status"},
	{"status", "--ignore-submodules=none"},
	{"-C", "sub", "status"},
}

// TestTheServersOwnGitRunsNothing plants programs in every place where git looks
// for some, and has git look around, in every mode.
func TestTheServersOwnGitRunsNothing(t *testing.T) {
	needs(t, "git")
	posix(t)
	plants := map[string]plant{
		"filter":                  {config: "[filter \"x\"]\n clean = NAME\n smudge = NAME\n required = true\n"},
		"filter as a process":     {config: "[filter \"x\"]\n process = NAME\n required = true\n"},
		"filter by another case":  {config: "[FILTER \"x\"]\n CLEAN = NAME\n"},
		"filter of any name":      {config: "[filter \"a.b c\\\"\"]\n clean = NAME\n", files: map[string]string{"info/attributes": "* filter=a.b diff=a.b\n"}},
		"filter with a dot":       {config: "[filter \"a.b\"]\n clean = NAME\n[diff \"a.b\"]\n textconv = NAME\n", files: map[string]string{"info/attributes": "* filter=a.b diff=a.b\n"}},
		"textconv":                {config: "[diff \"x\"]\n textconv = NAME\n cachetextconv = true\n"},
		"diff command":            {config: "[diff \"x\"]\n command = NAME\n"},
		"external diff":           {config: "[diff]\n external = NAME\n"},
		"fsmonitor":               {config: "[core]\n fsmonitor = NAME\n"},
		"hooks path":              {config: "[core]\n hooksPath = HOOKS\n"},
		"hooks":                   {files: map[string]string{"hooks/post-index-change": "NAME", "hooks/reference-transaction": "NAME", "hooks/fsmonitor-watchman": "NAME", "hooks/pre-auto-gc": "NAME"}},
		"pager":                   {config: "[core]\n pager = NAME\n[pager]\n log = NAME\n status = NAME\n diff = NAME\n"},
		"alias":                   {config: "[alias]\n status = !NAME\n log = !NAME\n"},
		"signatures":              {config: "[log]\n showSignature = true\n[gpg]\n program = NAME\n format = openpgp\n[gpg \"ssh\"]\n program = NAME\n[gpg \"openpgp\"]\n program = NAME\n[gpg \"x509\"]\n program = NAME\n"},
		"editors":                 {config: "[core]\n editor = NAME\n askPass = NAME\n[sequence]\n editor = NAME\n"},
		"credentials and remotes": {config: "[credential]\n helper = NAME\n[core]\n sshCommand = NAME\n gitProxy = NAME\n alternateRefsCommand = NAME\n"},
		"lazy fetch": {
			config: "[core]\n repositoryformatversion = 1\n[extensions]\n partialClone = origin\n[remote \"origin\"]\n url = file:///UP\n promisor = true\n partialclonefilter = blob:none\n uploadpack = NAME\n",
			files:  map[string]string{"lost": ""},
		},
		"included":               {config: "[include]\n path = evil\n", files: map[string]string{"evil": "[diff \"x\"]\n textconv = NAME\n[filter \"x\"]\n clean = NAME\n"}},
		"included conditionally": {config: "[includeIf \"gitdir:/\"]\n path = evil\n[includeIf \"onbranch:main\"]\n path = evil\n", files: map[string]string{"evil": "[filter \"x\"]\n clean = NAME\n"}},
		"of the work tree":       {config: "[core]\n repositoryformatversion = 1\n[extensions]\n worktreeConfig = true\n", files: map[string]string{"config.worktree": "[filter \"x\"]\n clean = NAME\n[diff \"x\"]\n textconv = NAME\n"}},
		"nested":                 {files: map[string]string{"nested": ""}},
	}
	// All of it at once, with every look, and in every mode.
	together := plant{files: map[string]string{}}
	for _, p := range plants {
		together.config += p.config
		maps.Copy(together.files, p.files)
	}
	delete(together.files, "lost")
	for mode, policy := range map[string]Policy{"read-only": {Mode: ModeReadOnly}, "ask": {}, "all": {Mode: ModeAll}, "untrusted": {Mode: ModeAll, Untrusted: true}} {
		some := looks[:10]
		if policy.Untrusted {
			some = looks
		}
		t.Run("all in "+mode, func(t *testing.T) { runsNothing(t, policy, together, some) })
	}
	for name, p := range plants {
		t.Run(name, func(t *testing.T) { runsNothing(t, Policy{Mode: ModeReadOnly}, p, looks[:10]) })
	}
}

// plant is what a hostile repository brings.
type plant struct {
	config string            // behind its configuration; NAME is the program
	files  map[string]string // below .git; one named lost takes an object away, nested is for the submodule
}

func runsNothing(t *testing.T, policy Policy, p plant, looks [][]string) {
	tw := newTripwire(t)
	put := strings.NewReplacer("NAME", tw.program, "HOOKS", filepath.Dir(tw.program), "UP", tw.program)
	w := newWorld(t, map[string]string{"f": "a\n", "sub/g": "a\n", ".gitattributes": "* filter=x diff=x\n", "sub/.gitattributes": "* filter=x diff=x\n"},
		func(c *Config) { c.Policy = policy })
	repositoryWithSubmodule(t, w)
	plantInGit(t, w, ".git", put, p.config, p.files)
	if _, nested := p.files["nested"]; nested {
		plantInGit(t, w, "sub/.git", put, "[filter \"x\"]\n clean = NAME\n[diff \"x\"]\n textconv = NAME\n[core]\n fsmonitor = NAME\n", nil)
	}
	performed := 0
	for i, argv := range looks {
		w.put("f", strings.Repeat("b\n", i+2))
		w.put("sub/g", strings.Repeat("b\n", i+2))
		d := w.Decide(t.Context(), gitOp(argv...))
		if d.Verdict != Allow || d.Mutates {
			continue // somebody is asked, or it is denied
		}
		performed++
		if got := w.Run(t.Context(), gitOp(argv...), "turn 1"); tw.ran() {
			t.Errorf("git %v ran a program: %s", argv, got.Text)
		}
	}
	if performed < len(looks)/2 {
		t.Errorf("only %d of %d looks were performed", performed, len(looks))
	}
	w.put("f", "for the status\n")
	w.Decide(t.Context(), writeOp("f", "x\n"))
	newChangeDetector(t.Context(), w.Executor).changed(t.Context())
	if tw.ran() {
		t.Error("a look at what a command changed ran a program")
	}
}

// repositoryWithSubmodule makes the world's files a repository of two commits with a
// signed one, a stash and a populated submodule that is looked into by default.
func repositoryWithSubmodule(t *testing.T, w *world) {
	t.Helper()
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	git(t, w, "init", "-q", "-b", "main", "sub")
	git(t, w, "-C", "sub", "add", ".")
	git(t, w, "-C", "sub", "commit", "-q", "-m", "inner")
	w.put(".gitmodules", "[submodule \"sub\"]\n\tpath = sub\n\turl = ./sub\n\tignore = none\n")
	initRepo(t, w)
	w.put("f", "stashed\n")
	git(t, w, "stash")
	w.put("f", "second\n")
	git(t, w, "add", "f")
	tree := strings.TrimSpace(git(t, w, "write-tree"))
	head := strings.TrimSpace(git(t, w, "rev-parse", "HEAD"))
	w.put("commit", fmt.Sprintf("tree %s\nparent %s\nauthor t <t@example.org> 1700000000 +0000\ncommitter t <t@example.org> 1700000000 +0000\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n iQ==\n -----END PGP SIGNATURE-----\n\nsecond\n", tree, head))
	signed := strings.TrimSpace(git(t, w, "hash-object", "-t", "commit", "-w", "commit"))
	git(t, w, "reset", "-q", "--hard", signed)
	if err := os.Remove(filepath.Join(w.dir, "commit")); err != nil {
		t.Fatal(err)
	}
}

// plantInGit adds to the configuration and the files of a repository's directory.
// The file lost stands for an object that is taken away.
func plantInGit(t *testing.T, w *world, dir string, put *strings.Replacer, config string, files map[string]string) {
	t.Helper()
	if _, lost := files["lost"]; lost {
		blob := strings.TrimSpace(git(t, w, "rev-parse", "HEAD~1:f"))
		if err := os.Remove(filepath.Join(w.dir, dir, "objects", blob[:2], blob[2:])); err != nil {
			t.Fatal(err)
		}
	}
	w.put(dir+"/config", w.get(dir+"/config")+put.Replace(config))
	for name, text := range files {
		if strings.HasPrefix(name, "hooks/") {
			text = "#!/bin/sh\nexec " + text + "\n"
		}
		w.put(dir+"/"+name, put.Replace(text))
		if err := os.Chmod(filepath.Join(w.dir, dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// TestTheTripwiresTrip shows that git would run what the test above plants.
func TestTheTripwiresTrip(t *testing.T) {
	needs(t, "git")
	posix(t)
	tw := newTripwire(t)
	w := newWorld(t, map[string]string{"f": "a\n", ".gitattributes": "* filter=x diff=x\n"})
	initRepo(t, w)
	put := strings.NewReplacer("NAME", tw.program)
	plantInGit(t, w, ".git", put, "[diff \"x\"]\n textconv = NAME\n", nil)
	w.put("f", "b\n")
	if git(t, w, "diff"); !tw.ran() {
		t.Error("a textconv leaves no trace")
	}
	if proc.SandboxSupport().Mechanism != proc.NoMechanism {
		r, err := proc.Run(t.Context(), proc.Spec{Argv: []string{tw.program, "/dev/null"}, Dir: w.dir, Policy: looking()})
		if err != nil || !tw.ran() {
			t.Errorf("a confined program leaves no trace: %+v, %v", r, err)
		}
	}
}

// TestTheServersOwnGitTellsTheTruth compares what git says with a configuration of
// the server's own with what it says with the repository's.
func TestTheServersOwnGitTellsTheTruth(t *testing.T) {
	needs(t, "git")
	posix(t)
	w := newWorld(t, map[string]string{"f": "a\n", "sub/g": "a\n", "crlf": "a\r\n", ".gitignore": "ignored\n"})
	repositoryWithSubmodule(t, w)
	for _, kv := range [][2]string{
		{"core.autocrlf", "input"},
		{"remote.origin.url", "https://example.org/a \"b\"\\c#d;e.git"},
		{"remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*"},
		{"branch.main.remote", "origin"},
		{"branch.main.merge", "refs/heads/main"},
		{"user.name", "tab\there"},
		{"branch.x.y.description", "two\nlines"},
	} {
		git(t, w, "config", kv[0], kv[1])
	}
	git(t, w, "update-ref", "refs/remotes/origin/main", "HEAD~1")
	git(t, w, "worktree", "add", "-q", "../linked", "-b", "linked")
	w.put("f", "changed\n")
	w.put("new", "new\n")
	w.put("ignored", "x\n")
	w.put("crlf", "b\r\n")
	linked := newWorld(t, nil)
	linked.dir = filepath.Join(filepath.Dir(w.dir), "linked")
	d, err := NewDisk(linked.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if linked.Executor, err = New(Config{Workspace: d}); err != nil {
		t.Fatal(err)
	}
	linked.put("f", "changed there\n")
	for _, at := range []*world{w, linked} {
		for _, argv := range append([][]string{
			{"status", "--short", "--branch"}, {"diff", "--", "crlf"}, {"rev-parse", "--git-common-dir", "--show-toplevel", "--absolute-git-dir"}, {"log", "--oneline", "--graph", "--all"}, {"branch", "-vv"},
		}, looks...) {
			if c, err := parseGit(argv); err != nil || !c.reads || argv[0] == "-C" {
				continue
			}
			r, err := proc.Run(t.Context(), proc.Spec{Argv: append([]string{"git"}, argv...), Dir: at.dir, Env: append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C"), Policy: proc.Unconfined("a test's own program")})
			if err != nil {
				t.Fatal(err)
			}
			want := strings.TrimRight(shownOutput(r.Stdout, DefaultOutput), "\n")
			if argv[0] == "rev-parse" {
				want = strings.Replace("\n"+want, "\n.git\n", "\n"+filepath.Join(at.dir, ".git")+"\n", 1)[1:] // git says it short
			}
			if strings.Contains(strings.Join(argv, " "), "%G?") || slices.Contains(argv, "--show-signature") {
				continue // whose programs are switched off
			}
			got := at.run(gitOp(argv...))
			if argv[0] == "blame" || argv[0] == "annotate" { // of what is not committed now is the time
				got.Text, want = clockTime.ReplaceAllString(got.Text, "TIME"), clockTime.ReplaceAllString(want, "TIME")
			}
			if argv[0] == "worktree" { // a table, as wide as the paths were
				got.Text, want = strings.Join(strings.Fields(got.Text), " "), strings.Join(strings.Fields(want), " ")
			}
			if !strings.Contains(got.Text, want) {
				t.Errorf("git %v in %s says\n%s\nwant\n%s", argv, filepath.Base(at.dir), got.Text, want)
			}
		}
	}
}

var clockTime = regexp.MustCompile(`\d\d:\d\d:\d\d`)

// TestTheServersOwnGitIsConfined looks at what git is started with.
func TestTheServersOwnGitIsConfined(t *testing.T) {
	needs(t, "git")
	w := newWorld(t, map[string]string{"f": "a\n"}, func(c *Config) {
		c.Exec.Env = append(os.Environ(), "SSH_AUTH_SOCK=/x", "SSH_AGENT_PID=1", "GPG_AGENT_INFO=/x", "GIT_EXTERNAL_DIFF=/x", "GIT_CONFIG_PARAMETERS='a.b=c'", "GIT_CONFIG_COUNT=0")
	})
	initRepo(t, w)
	r, ok, err := w.repos.find(workspace.RealPath(w.dir))
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	spec, res, err := w.repos.run(t.Context(), r, w.dir, []string{"status"}, statusTimeout, 0)
	if err != nil || !res.OK() {
		t.Fatal(res, err)
	}
	for _, kv := range spec.Env {
		name, _, _ := strings.Cut(kv, "=")
		switch name {
		case "SSH_AUTH_SOCK", "SSH_AGENT_PID", "GPG_AGENT_INFO", "GIT_EXTERNAL_DIFF", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT":
			t.Errorf("git is told %s", kv)
		}
	}
	if v, _ := proc.Getenv(spec.Env, "GIT_NO_LAZY_FETCH"); v != "1" {
		t.Error("objects may be fetched")
	}
}

// TestTheSocketOfAnAgentIsForRemotesOnly looks at the environment of each kind.
func TestTheSocketOfAnAgentIsForRemotesOnly(t *testing.T) {
	w := newWorld(t, nil, func(c *Config) { c.Exec.Env = append(os.Environ(), "SSH_AUTH_SOCK=/s") })
	for name, want := range map[string]bool{"push": true, "fetch": true, "pull": true, "clone": true, "commit": false, "checkout": false, "config": false} {
		if _, got := proc.Getenv(gitTool{w.Executor}.env(name), "SSH_AUTH_SOCK"); got != want {
			t.Errorf("git %s has the agent's socket: %t", name, got)
		}
	}
	if _, got := proc.Getenv(execTool{w.Executor}.env(), "SSH_AUTH_SOCK"); got {
		t.Error("a command has the agent's socket")
	}
}
