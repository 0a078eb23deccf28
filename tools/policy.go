package tools

import (
	"fmt"
	"net"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/agent-lsp/agent-lsp/workspace"
)

// Family names the calls that a rule is about: those of the tool of this name.
type Family string

// The families of the tools that every session has.
const (
	FamilyRead   Family = "read"
	FamilyWrite  Family = "write"
	FamilyPatch  Family = "patch"
	FamilyExec   Family = "exec"
	FamilyGit    Family = "git"
	FamilyBrowse Family = "browse"
)

// Rule matches calls of a family. For exec and git, Match is the start of the
// argument list. For the others it lists what matches, one of which is enough: for
// browse hosts, each of which stands for its subdomains, or addresses, each of
// which stands for all that begin so; for every other tool paths relative to the
// root, each of which stands for all below it, or patterns of path.Match. An empty
// Match matches the whole family. A rule for exec or git whose last element is "$"
// matches that one command line and nothing longer.
type Rule struct {
	Family Family
	Match  []string
}

// Policy decides which calls run, which need a person's approval and which are
// refused. A deny rule wins over all else.
type Policy struct {
	Mode        Mode // "" is ModeAsk, ModeReadOnly is ModePlan
	Allow, Deny []Rule
	// Untrusted says that nothing of the workspace may be executed.
	Untrusted bool
}

// remote is the part that all names of other servers' tools contain. Such tools may
// come and go while a session runs.
const remote = "__"

func (p Policy) validate(known *Registry) error {
	if _, err := ParseMode(string(p.Mode)); err != nil {
		return fmt.Errorf("tools: %w", err)
	}
	for _, rule := range slices.Concat(p.Allow, p.Deny) {
		if _, ok := known.Lookup(string(rule.Family)); !ok && !strings.Contains(string(rule.Family), remote) {
			return fmt.Errorf("tools: a rule names no tool: %q; the tools are %s", rule.Family, known.names())
		}
	}
	return nil
}

// subject describes a call to the rules that are matched against it.
type subject struct {
	family   Family
	argv     []string // exec, git
	unfolded unfolded // exec: what argv runs
	dir      string   // exec: the working directory
	network  bool     // exec: it is to have the network
	paths    []string // read, edit, write, patch: as given and as resolved
	url      string   // browse
	post     bool     // browse: it sends a body
	// guarded says that the call needs approval in every mode: a rule without a
	// pattern does not allow it.
	guarded bool
}

func (p Policy) allowed(s subject) bool {
	// A rule allows a command, and not that it sends things away.
	return !s.network && slices.ContainsFunc(p.Allow, func(r Rule) bool { return r.matches(s, false) })
}

func (p Policy) denied(s subject) (Rule, bool) {
	i := slices.IndexFunc(p.Deny, func(r Rule) bool { return r.matches(s, true) })
	if i < 0 {
		return Rule{}, false
	}
	return p.Deny[i], true
}

// doubts reports whether a rule may deny a command of which cannot be told what it
// runs.
func (p Policy) doubts(u unfolded) bool {
	return slices.ContainsFunc(p.Deny, func(r Rule) bool {
		return (r.Family == FamilyExec || r.Family == FamilyGit) && r.deniesCommand(u) == maybe
	})
}

// edits are the families of the tools that change one file: a rule for one of them
// is one for all.
var edits = []Family{FamilyWrite, FamilyPatch, familyEdit}

// matches reports whether a rule applies to a call. For a denial it also compares
// equivalent spellings: a program by the last element of its path, and names without
// regard to case.
func (r Rule) matches(s subject, deny bool) bool {
	switch {
	case deny && s.family == FamilyExec && (r.Family == FamilyExec || r.Family == FamilyGit):
		return r.deniesCommand(s.unfolded) == yes
	case deny && s.family == FamilyGit && r.Family == FamilyExec:
		return len(r.Match) > 0 && r.deniesOne(append([]string{"git"}, s.argv...)) == yes
	case r.Family != s.family && (!slices.Contains(edits, r.Family) || !slices.Contains(edits, s.family)):
		return false
	case len(r.Match) == 0:
		return deny || !s.guarded && !s.post
	}
	switch s.family {
	case FamilyExec:
		return r.coversCommand(s.argv)
	case FamilyGit:
		if n := len(r.Match); n > 1 && r.Match[n-1] == end && !deny {
			return slices.Equal(r.Match[:n-1], s.argv)
		}
		return prefixOf(r.Match, s.argv)
	case FamilyBrowse:
		return slices.ContainsFunc(r.Match, func(m string) bool { return requestMatches(m, s, deny) })
	default:
		one := func(p string) bool {
			return slices.ContainsFunc(r.Match, func(m string) bool { return pathMatches(m, p, deny) })
		}
		// One spelling is enough to deny; to allow, all must match.
		if deny {
			return slices.ContainsFunc(s.paths, one)
		}
		return len(s.paths) > 0 && !slices.ContainsFunc(s.paths, func(p string) bool { return !one(p) })
	}
}

func prefixOf(prefix, argv []string) bool {
	return len(argv) >= len(prefix) && slices.Equal(prefix, argv[:len(prefix)])
}

func pathMatches(pattern, p string, loose bool) bool {
	pattern = path.Clean(strings.ReplaceAll(pattern, `\`, "/"))
	if loose {
		pattern, p = strings.ToLower(pattern), strings.ToLower(p)
	}
	if pattern == "." || p == pattern || strings.HasPrefix(p, pattern+"/") {
		return true
	}
	if ok, err := path.Match(pattern, p); err == nil && ok {
		return true
	}
	// A pattern without a directory is one for names anywhere.
	if !strings.Contains(pattern, "/") && strings.ContainsAny(pattern, "*?[") {
		ok, err := path.Match(pattern, path.Base(p))
		return err == nil && ok
	}
	return false
}

// requestMatches reports whether an element of a rule for browse covers a request. An
// allow rule is for GET unless it says POST: "POST example.org", or "POST" alone. A
// deny rule without a method is for both.
func requestMatches(want string, s subject, deny bool) bool {
	method, target, ok := strings.Cut(want, " ")
	if !ok && (want == "POST" || want == "GET") {
		method, target, ok = want, "", true
	}
	switch {
	case !ok:
		return (deny || !s.post) && urlMatches(want, s.url, deny)
	case method != "POST" && method != "GET", s.post != (method == "POST"):
		return false
	}
	return target == "" || urlMatches(target, s.url, deny)
}

// urlMatches says whether a rule's host or the start of an address covers a URL.
// To deny, the scheme and the case of the path do not count.
func urlMatches(want, raw string, loose bool) bool {
	u, err := url.Parse(raw)
	if err != nil {
		return false
	}
	if _, _, err := net.SplitHostPort(want); err != nil && !strings.Contains(want, "/") {
		host, want := strings.Trim(plainHost(u), "[]"), strings.Trim(strings.ToLower(strings.TrimSuffix(want, ".")), "[]")
		return host == want || strings.HasSuffix(host, "."+want)
	}
	w, err := url.Parse(want)
	if err != nil || !strings.Contains(want, "://") {
		if w, err = url.Parse(u.Scheme + "://" + want); err != nil {
			return false
		}
	}
	if plainHost(w) != plainHost(u) || !loose && w.Scheme != u.Scheme {
		return false
	}
	if loose && w.Port() == "" && w.Scheme != u.Scheme {
		w.Scheme = u.Scheme
	}
	if portOf(w) != portOf(u) {
		return false
	}
	start, all := plainPath(w), plainPath(u)
	if loose {
		start, all = strings.ToLower(start), strings.ToLower(all)
	}
	return strings.HasPrefix(all, start)
}

func plainHost(u *url.URL) string {
	return strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
}

func portOf(u *url.URL) string {
	switch p := u.Port(); {
	case p != "":
		return p
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}

// plainPath is what a URL asks a host for, however its path is spelled.
func plainPath(u *url.URL) string {
	p := path.Clean("/" + u.Path)
	if strings.HasSuffix(u.Path, "/") && p != "/" {
		p += "/"
	}
	if u.RawQuery != "" {
		p += "?" + u.RawQuery
	}
	return p
}

// hostOf is the host that a URL names, "" when it is none.
func hostOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// String spells the rule as configuration does.
func (r Rule) String() string { return string(r.Family) + ": " + workspace.YAMLList(r.Match) }
