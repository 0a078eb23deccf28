package tools

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/agent-lsp/agent-lsp/core/abi"
)

// Decide says what policy makes of a call: run it, ask a person, or refuse it. It
// performs nothing, but reads what it needs to show the person what would happen.
// A call that will fail anyway, a patch that fits nowhere for instance, is not
// asked about: running it gives the model the reason.
func (e *Executor) Decide(ctx context.Context, op Op) Decision {
	switch {
	case op.Read != nil:
		return e.decideRead(op.Read)
	case op.Write != nil:
		return e.decideEdit(ctx, FamilyWrite, op.Write.Path, e.writeDraft(op.Write))
	case op.Patch != nil:
		return e.decideEdit(ctx, FamilyPatch, op.Patch.Path, e.patchDraft(ctx, op.Patch))
	case op.Exec != nil:
		return e.decideExec(op.Exec)
	case op.Git != nil:
		return e.decideGit(op.Git)
	case op.Browse != nil:
		return e.decideBrowse(op.Browse)
	}
	return Decision{Verdict: Deny, Title: "Unknown call", Reason: "this is no call of a tool"}
}

// settle applies rules and grants to a decision whose Verdict is the mode's.
// Always is why the call asks in every mode, "" when it does not.
func (e *Executor) settle(d Decision, s subject, always string) Decision {
	p := e.policy()
	if r, ok := p.denied(s); ok {
		d.Verdict, d.Reason = Deny, fmt.Sprintf("a rule of the configuration denies it (%s)", r)
		return d
	}
	if d.Verdict == Deny {
		return d
	}
	if p.Mode == ModeReadOnly && d.Mutates {
		d.Verdict, d.Reason = Deny, "the session is read-only"
		return d
	}
	if always != "" {
		d.Verdict = Ask
		d.Title += ": " + always
	}
	if d.Verdict == Ask && (e.isGranted(d.Key) || p.allowed(s)) {
		d.Verdict = Allow
	}
	return d
}

func (e *Executor) decideRead(op *abi.Read) Decision {
	d := Decision{Title: "Read " + op.Path, Detail: op.Path, Key: "read"}
	return e.settle(d, subject{family: FamilyRead, paths: e.spellings(op.Path)}, "")
}

// spellings are the path given and the one it leads to, as far as they are paths
// below the root.
func (e *Executor) spellings(name string) []string {
	given, err := relative(e.ws.Dir(), name)
	if err != nil {
		return nil
	}
	out := []string{given}
	if p, err := e.find(name); err == nil && p != given {
		out = append(out, p)
	}
	return out
}

func (e *Executor) decideEdit(ctx context.Context, family Family, name string, make drafter) Decision {
	d := Decision{Title: "Change " + name, Detail: name, Key: "edits", Mutates: true, Verdict: Ask}
	if m := e.policy().Mode; m == ModeEdits || m == ModeAll {
		d.Verdict = Allow
	}
	paths := e.spellings(name)
	if len(paths) > 0 {
		if err := e.mayWrite(name, paths[len(paths)-1]); err != nil {
			d.Verdict, d.Reason = Deny, err.Error()
			return d
		}
	}
	always := ""
	for _, p := range paths {
		if always == "" {
			always = alwaysAsks(p)
		}
	}
	if always == "" && d.Verdict == Allow && len(paths) > 0 && e.ignoredByGit(ctx, paths[len(paths)-1]) {
		always = "version control ignores it"
	}
	if always != "" {
		d.Key = "edit " + paths[0]
	}
	draft, err := e.prepare(name, make)
	if err != nil || draft.exists && draft.after == draft.text {
		// Nothing will be written: the call itself tells the model why.
		d = e.settle(d, subject{family: family, paths: paths}, "")
		if d.Verdict == Ask {
			d.Verdict = Allow
		}
		return d
	}
	if !draft.exists {
		d.Title = "Create " + draft.path
	} else {
		d.Title = "Change " + draft.path
	}
	d.Detail = preview(draft)
	return e.settle(d, subject{family: family, paths: paths}, always)
}

// ignoredByGit reports whether the root is a git work tree that ignores a path,
// so that git could not bring back what was there.
func (e *Executor) ignoredByGit(ctx context.Context, p string) bool {
	r, ok, err := e.findRepository(realPath(e.ws.Dir()))
	if err != nil || !ok {
		return false
	}
	_, res, err := e.ownGit(ctx, r, realPath(e.ws.Dir()), []string{"check-ignore", "-q", "--", p}, statusTimeout, 0)
	return err == nil && res.OK()
}

func (e *Executor) decideExec(op *abi.Exec) Decision {
	d := Decision{
		Title: "Run " + clip(commandLine(op.Argv)), Detail: execDetail(op), Mutates: true, Verdict: Ask,
		Key: "exec " + execKey(op.Argv),
	}
	if e.policy().Mode == ModeAll {
		d.Verdict = Allow
	}
	if e.policy().Untrusted {
		d.Verdict, d.Reason = Deny, untrusted
	}
	d = e.settle(d, subject{family: FamilyExec, argv: op.Argv}, "")
	if d.Verdict != Deny && len(op.Argv) > 1 && programName(op.Argv[0]) == "git" {
		// The rules about git hold for the program too, whatever options come first.
		words := gitWords(op.Argv[1:])
		for _, s := range []subject{{family: FamilyGit, argv: words}, {family: FamilyExec, argv: append([]string{"git"}, words...)}} {
			if r, ok := e.policy().denied(s); ok && (s.family == FamilyGit || len(r.Match) > 0) {
				d.Verdict, d.Reason = Deny, fmt.Sprintf("a rule of the configuration denies it (%s)", r)
			}
		}
	}
	return d
}

const untrusted = "the workspace is not trusted, so that nothing of it is executed"

func execDetail(op *abi.Exec) string {
	cwd := "."
	if op.Cwd != nil && *op.Cwd != "" {
		cwd = *op.Cwd
	}
	return commandLine(op.Argv) + "\nin " + filepath.ToSlash(cwd)
}

// subcommand is what a second argument looks like that says what a program does.
var subcommand = regexp.MustCompile(`^[a-z][a-z0-9]*([:_-][a-z0-9]+)*$`)

// runners are programs whose arguments are programs or code themselves: a grant
// for them covers one exact command line only.
var runners = []string{
	"sh", "bash", "zsh", "dash", "fish", "ksh", "cmd", "powershell", "pwsh", "env", "xargs", "sudo", "doas", "su", "nohup", "nice",
	"timeout", "time", "exec", "npx", "pnpx", "bunx", "uvx", "pipx", "python", "python3", "node", "deno", "bun", "ruby", "perl", "php",
	"ssh", "docker", "podman", "kubectl", "rm", "mv", "cp", "dd", "find", "awk", "sed", "make", "watch", "script", "setsid", "stdbuf",
}

// runs are subcommands whose arguments are programs or code, in the same way.
var runs = []string{"run", "exec", "x", "dlx", "eval", "script", "tool", "install", "generate"}

// execKey names what allowing a command for the session covers: the program with
// its subcommand where it has one, else the whole command line.
func execKey(argv []string) string {
	if len(argv) > 1 && subcommand.MatchString(argv[1]) && !slices.Contains(runners, programName(argv[0])) &&
		!slices.Contains(runs, argv[1]) {
		return commandLine(argv[:2])
	}
	return commandLine(argv)
}

// commandLine spells arguments so that a person can tell them apart.
func commandLine(argv []string) string {
	parts := make([]string, len(argv))
	for i, a := range argv {
		if a == "" || strings.ContainsFunc(a, func(r rune) bool {
			return r <= ' ' || r == 0x7f || r >= 0x80 || strings.ContainsRune("'\"\\$`*?[]{}()<>|&;#!~", r)
		}) {
			a = fmt.Sprintf("%q", a)
		}
		parts[i] = a
	}
	return strings.Join(parts, " ")
}

func (e *Executor) decideBrowse(op *abi.Browse) Decision {
	d := Decision{Title: "Fetch " + clip(op.URL), Detail: "GET " + op.URL, Key: "browse " + hostOf(op.URL), Verdict: Ask}
	if op.Body != nil {
		d.Title, d.Detail, d.Mutates = "Post to "+clip(op.URL), "POST "+op.URL+"\n\n"+*op.Body, true
		d.Key = "browse post " + hostOf(op.URL)
	}
	if e.policy().Mode == ModeAll {
		d.Verdict = Allow
	}
	if err := checkURL(op.URL); err != nil {
		d.Verdict, d.Reason = Deny, err.Error()
		return d
	}
	return e.settle(d, subject{family: FamilyBrowse, url: op.URL}, "")
}

// cleanCwd makes a working directory of one that a call names.
func (e *Executor) cleanCwd(cwd *string) (string, error) {
	name := "."
	if cwd != nil && *cwd != "" {
		name = *cwd
	}
	p, err := e.find(name)
	if err != nil {
		return "", err
	}
	info, err := e.ws.Root().Stat(filepath.FromSlash(p))
	if err != nil {
		return "", pathError(p, err)
	}
	if !info.IsDir() {
		return "", fmt.Errorf("%s is not a directory", p)
	}
	return filepath.Join(e.ws.Dir(), filepath.FromSlash(path.Clean(p))), nil
}
