package tools

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/agent-lsp/agent-lsp/core/abi"
	"github.com/agent-lsp/agent-lsp/workspace"
)

// decider decides about calls: it applies the policy, its rules and what was granted.
type decider struct{ *Executor }

func (e *Executor) decider() decider { return decider{e} }

// Decide returns policy's decision about a call: run it, ask a person, or refuse it.
// It changes nothing, but reads what it needs to show the person what would happen.
// A call that will fail anyway, such as a patch that fits nowhere, needs no approval:
// running it gives the model the reason.
func (e *Executor) Decide(ctx context.Context, op Op) Decision {
	t, c, err := e.open(op)
	if err != nil {
		return Decision{Verdict: Deny, Title: "Unknown call", Reason: err.Error(), Effect: Run, Mutates: true}
	}
	d := t.Decide(ctx, c)
	if op.Tool != nil && d.Path != "" && !contained(d.Path) {
		d.Verdict, d.Reason = Deny, abi.Refused(d.Path) // as the core does for the calls that it knows
	}
	if _, ok := t.(policed); !ok {
		d = e.decider().judge(d, Family(c.Name))
	}
	d.Mutates = d.Effect.changes()
	return shownWhole(d)
}

// The most characters of a question. More than that nobody reads, and some editors cut.
const (
	mostOfAnEdit   = 200_000
	mostOfACommand = 8_000
)

// shownWhole makes visible what a person reads. A call that a question could not show
// whole cannot be allowed.
func shownWhole(d Decision) Decision {
	d.Title, d.Detail = workspace.Visible(d.Title), workspace.Visible(d.Detail)
	most, what, instead := mostOfACommand, "call", "make it shorter, for instance by writing a file first"
	if d.Effect == Write {
		most, what, instead = mostOfAnEdit, "change", "make it in several smaller ones"
	}
	n := utf8.RuneCountInString(d.Detail)
	if n <= most {
		return d
	}
	d.Detail = headTail(d.Detail, most)
	if d.Verdict == Ask {
		d.Verdict = Deny
		d.Reason = fmt.Sprintf("the %s is %d characters long, and a question can show %d: what the person cannot see whole they cannot allow; %s", what, n, most, instead)
	}
	return d
}

var escapes = regexp.MustCompile(`^(/|\.\.$|\.\./|[A-Za-z]:)`)

// contained reports whether a path that a call names stays below the root by its
// spelling, with the core's own rule: it is not absolute, names no drive and does not
// climb, with '/' and '\\' both separators. Links are checked by resolve.
func contained(name string) bool {
	return !escapes.MatchString(path.Clean(strings.ReplaceAll(name, `\`, "/")))
}

// policed is a tool of this package, which applies policy itself: its rules are
// matched against more than a path.
type policed interface{ policed() }

func (e *Executor) policed() {}

// judge applies policy to the decision of a tool that does not do so itself: a call
// that changes something needs approval, unless the mode lets it run.
func (e decider) judge(d Decision, family Family) Decision {
	p := e.policy()
	if d.Lasting.Words == "" {
		d.Lasting = Lasting{Words: "every call of " + string(family), Rule: Rule{Family: family}}
	}
	free := p.Mode == ModeAll || p.Mode.edits() && d.Effect == Write
	switch {
	case d.Verdict == Allow && d.Effect.changes() && !free:
		d.Verdict = Ask
	case d.Verdict == Ask && free:
		d.Verdict = Allow
	}
	d.Executes = d.Effect == Run
	if p.Untrusted && d.Executes && d.Verdict != Deny {
		d.Verdict, d.Reason = Deny, Untrusted
	}
	s := subject{family: family}
	if d.Path != "" {
		s.paths = e.spellings(d.Path)
	}
	return e.applyRules(d, s, "")
}

// applyRules applies rules and grants to a decision whose Verdict is the mode's.
// Always is why the call needs approval in every mode, "" when it does not.
func (e decider) applyRules(d Decision, s subject, always string) Decision {
	p := e.policy()
	if r, ok := p.denied(s); ok {
		d.Verdict, d.Reason = Deny, fmt.Sprintf("a rule of the configuration denies it (%s)", r)
		return d
	}
	if d.Verdict == Deny {
		return d
	}
	if p.Mode == ModePlan && d.Effect.changes() {
		d.Verdict, d.Reason = Deny, planning
		return d
	}
	if always != "" {
		d.Verdict = Ask
		d.Title += ": " + always
		s.guarded = true
	}
	if d.Verdict == Ask && e.allows(s) {
		d.Verdict = Allow
	}
	return d
}

// spellings returns the path given and the one that its links lead to, as far as they
// are paths below the root.
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

func (e decider) decideEdit(family Family, name string, make drafter) Decision {
	d := Decision{Title: "Change " + name, Detail: name, Effect: Write, Verdict: Ask}
	d.Lasting = Lasting{Words: "every edit of a file, except of those that always ask", Rule: Rule{Family: FamilyWrite}}
	if e.policy().Mode.edits() {
		d.Verdict = Allow
	}
	paths := e.spellings(name)
	if len(paths) > 0 {
		if err := e.editor().mayWrite(name, paths[len(paths)-1]); err != nil {
			d.Verdict, d.Reason = Deny, err.Error()
			return d
		}
	}
	if _, denied := e.policy().denied(subject{family: FamilyRead, paths: paths}); denied || len(paths) > 0 && e.policy().otherName(e.ws.Root(), paths[len(paths)-1]) {
		// What is refused, and what is asked about, shows what the file contains.
		d.Verdict, d.Reason = Deny, "a rule of the configuration denies reading "+name
		return d
	}
	always := ""
	for _, p := range paths {
		if always == "" {
			always = alwaysAsks(p)
		}
	}
	if always == "" && d.Verdict == Allow && len(paths) > 0 && e.repos.ignores(paths[len(paths)-1]) {
		always = "version control ignores it"
	}
	if always != "" {
		d.Lasting = Lasting{Words: "every edit of " + paths[0], Rule: Rule{FamilyWrite, paths}}
	}
	draft, err := e.editor().prepare(name, make)
	if err != nil || draft.unchanged() {
		// Nothing will be written: the call itself tells the model why.
		d = e.applyRules(d, subject{family: family, paths: paths}, "")
		if d.Verdict == Ask {
			d.Verdict = Allow
		}
		return d
	}
	switch {
	case draft.deleted:
		d.Title = "Delete " + draft.path
	case !draft.exists:
		d.Title = "Create " + draft.path
	default:
		d.Title = "Change " + draft.path
	}
	d.Detail = preview(draft)
	return e.applyRules(d, subject{family: family, paths: paths}, always)
}

// Untrusted is why a call that runs programs is refused in a workspace that nobody
// trusts.
const Untrusted = "the workspace is not trusted, so that nothing of it is executed"

// subcommand is what a second argument looks like that says what a program does.
var subcommand = regexp.MustCompile(`^[a-z][a-z0-9]*([:_-][a-z0-9]+)*$`)

// cleanCwd returns the absolute path of the working directory that a call names, the
// root when it names none.
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
