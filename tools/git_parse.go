package tools

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// gitCommand is a call of git that passed the rules.
type gitCommand struct {
	dir   string // of -C, "" for the root
	name  string // subcommand
	flags []string
	args  []string
	reads bool // it changes no ref, index, configuration or remote
}

// gitReads are subcommands that only read, whatever their arguments, once the
// forbidden options are out.
var gitReads = []string{
	"annotate", "blame", "cat-file", "check-attr", "check-ignore", "cherry", "count-objects", "describe", "diff", "diff-files",
	"diff-index", "diff-tree", "for-each-ref", "grep", "log", "ls-files", "ls-tree", "merge-base", "name-rev", "range-diff",
	"rev-list", "rev-parse", "shortlog", "show", "show-branch", "show-ref", "status", "version", "whatchanged",
}

// gitChanges are the other subcommands that may be run, when allowed.
var gitChanges = []string{
	"add", "am", "apply", "archive", "bisect", "branch", "checkout", "cherry-pick", "clean", "clone", "commit", "config", "fetch", "fsck",
	"gc", "init", "ls-remote", "maintenance", "merge", "merge-file", "mv", "notes", "prune", "pull", "push", "rebase", "reflog", "remote",
	"repack", "replace", "rerere", "reset", "restore", "revert", "rm", "sparse-checkout", "stash", "submodule", "switch", "symbolic-ref",
	"tag", "update-index", "update-ref", "verify-commit", "verify-tag", "worktree", "write-tree", "commit-tree", "read-tree", "format-patch", "bundle",
}

// gitDiffs are the reading subcommands that may start a program to show a
// difference, unless an option forbids it.
var gitDiffs = []string{"diff", "log", "show", "whatchanged", "diff-files", "diff-index", "diff-tree"}

// gitDescends are options that make git look into the repositories inside a
// repository, or may: what is named there as a program runs.
var gitDescends = []string{"--submodule", "--ignore-submodules", "--recurse-submodules", "--dirty", "--broken"}

// gitStays are the forms of such options that keep git out of them.
var gitStays = []string{"--ignore-submodules", "--ignore-submodules=all", "--ignore-submodules=dirty"}

// descends reports whether a command may look into the repositories inside its own.
func (c gitCommand) descends() bool {
	return c.name == "submodule" || slices.ContainsFunc(c.args, func(a string) bool {
		return !slices.Contains(gitStays, a) && abbreviates(a, gitDescends) != ""
	})
}

// gitForbidden are long options that write files, run programs or read outside of
// the repository. They are refused in every unambiguous abbreviation.
var gitForbidden = []string{
	"--output", "--output-directory", "--ext-diff", "--textconv", "--open-files-in-pager", "--no-index", "--contents", "--upload-pack", "--receive-pack", "--exec",
	"--exec-path", "--git-dir", "--work-tree", "--config-env", "--template", "--separate-git-dir", "--ignore-revs-file", "--exclude-from",
	"--edit", "--interactive", "--patch-with-editor", "--filters", "--local-env-vars", "--super-prefix", "--config",
	"--resolve-git-dir", "--reference", "--upload-archive",
}

// gitPermitted are options that are spelled like the start of a forbidden one, or
// are one where they mean something harmless.
var gitPermitted = map[string][]string{
	"":         {"--text", "--no-in-body-headers"},
	"commit":   {"--edit"},
	"add":      {"--edit"},
	"ls-files": {},
}

// parseGit parses a git command line and refuses what could leave the
// repository, start other programs or write other files.
func parseGit(argv []string) (gitCommand, error) {
	var c gitCommand
	if len(argv) > 0 && argv[0] == "git" {
		argv = argv[1:]
	}
	for _, a := range argv {
		if strings.IndexByte(a, 0) >= 0 {
			return c, errors.New("an argument has a NUL byte in it")
		}
	}
	argv, err := c.leading(argv)
	if err != nil {
		return c, err
	}
	if len(argv) == 0 {
		return c, errors.New("no git subcommand is named")
	}
	c.name, c.args = argv[0], argv[1:]
	known := slices.Contains(gitReads, c.name)
	if !known && !slices.Contains(gitChanges, c.name) {
		return c, fmt.Errorf("git %s is not among the subcommands that may be run", c.name)
	}
	if err := gitOptions(c); err != nil {
		return c, err
	}
	c.reads = (known || gitOnlyLists(c)) && !c.descends()
	if slices.Contains(gitDiffs, c.name) {
		c.flags = []string{"--no-ext-diff"}
	}
	if c.reads && (c.name == "status" || slices.Contains(gitDiffs, c.name)) {
		c.flags = append(c.flags, "--ignore-submodules=dirty")
	}
	return c, nil
}

// leading reads the options before the subcommand and returns what follows them.
func (c *gitCommand) leading(argv []string) ([]string, error) {
	for len(argv) > 0 && strings.HasPrefix(argv[0], "-") {
		switch a := argv[0]; a {
		case "--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs", "--no-replace-objects":
			argv = argv[1:]
		case "--version", "-v":
			argv = append([]string{"version"}, argv[1:]...)
		case "-C":
			if len(argv) < 2 || c.dir != "" {
				return nil, errors.New("git -C needs one directory")
			}
			c.dir, argv = argv[1], argv[2:]
		default:
			return nil, fmt.Errorf("the option %s is not allowed before git's subcommand", a)
		}
	}
	return argv, nil
}

// gitValued are options before the subcommand that take the next argument for
// their value.
var gitValued = []string{"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env", "--super-prefix", "--attr-source"}

// gitWords returns a git command line from its subcommand on.
func gitWords(argv []string) []string {
	for i := 0; i < len(argv); i++ {
		if !strings.HasPrefix(argv[i], "-") {
			return argv[i:]
		}
		if slices.Contains(gitValued, argv[i]) {
			i++
		}
	}
	return nil
}

// gitOptions fails for arguments that a subcommand may not have.
func gitOptions(c gitCommand) error {
	for i, a := range c.args {
		// An option before it may take it for its value: then options still follow.
		if a == "--" && (i == 0 || !strings.HasPrefix(c.args[i-1], "-")) {
			break
		}
		if scheme, _, ok := strings.Cut(a, "::"); ok && !strings.ContainsAny(scheme, "/ ") && (scheme == "ext" || scheme == "fd") {
			return fmt.Errorf("git does not fetch from %s", a)
		}
		if strings.HasPrefix(a, "--") {
			if o := forbidden(c.name, a); o != "" {
				return fmt.Errorf("git %s %s is not allowed: %s writes or reads elsewhere or starts another program", c.name, a, o)
			}
			continue
		}
		if strings.HasPrefix(a, "-") && len(a) > 1 {
			if o := forbiddenShort(c.name, a); o != "" {
				return fmt.Errorf("git %s %s is not allowed: %s writes or reads elsewhere or starts another program", c.name, a, o)
			}
		}
	}
	switch {
	case c.name == "bisect" && len(c.args) > 0 && c.args[0] == "run",
		c.name == "submodule" && slices.Contains(c.args, "foreach"):
		return fmt.Errorf("git %s runs other programs: run them by themselves", strings.Join(append([]string{c.name}, c.args[:1]...), " "))
	case c.name == "rev-parse" && len(c.args) > 0 && c.args[0] == "--parseopt":
		return errors.New("git rev-parse --parseopt reads input, which there is none of")
	}
	return nil
}

// forbidden returns the forbidden option that a is or abbreviates, "" for none.
func forbidden(sub, a string) string {
	name, _, _ := strings.Cut(a, "=")
	if slices.Contains(gitPermitted[""], name) || slices.Contains(gitPermitted[sub], name) {
		return ""
	}
	return abbreviates(name, gitForbidden)
}

// abbreviates returns the first of some long options that an argument is or may
// abbreviate, "" for none.
func abbreviates(a string, options []string) string {
	name, _, _ := strings.Cut(a, "=")
	for _, o := range options {
		if len(name) > len("--") && strings.HasPrefix(o, name) {
			return o
		}
	}
	return ""
}

// forbiddenShort returns the first forbidden short option in a cluster of them, ""
// for none. A letter that takes the rest of the cluster as its value ends the search.
func forbiddenShort(sub, a string) string {
	bad, valued := "O", "SGLIUMCBlnm"
	switch sub {
	case "grep":
		bad, valued = "Of", "eABCm"
	case "clone", "fetch", "pull", "ls-remote":
		bad, valued = "uc", "bojS"
	case "archive":
		bad, valued = "o", ""
	case "format-patch":
		bad, valued = "oO", "vUMCBSGn"
	case "rebase":
		bad, valued = "xi", "sXCmr"
	case "push":
		bad, valued = "", "o"
	case "blame", "annotate":
		bad, valued = "S", "LMC"
	case "cat-file", "ls-files":
		bad, valued = "X", "x"
	}
	for _, r := range a[1:] {
		if strings.ContainsRune(bad, r) {
			return "-" + string(r)
		}
		if strings.ContainsRune(valued, r) {
			return ""
		}
	}
	return ""
}

// gitOnlyLists reports whether a subcommand that can change something is used
// only to show it.
func gitOnlyLists(c gitCommand) bool {
	first := ""
	if len(c.args) > 0 {
		first = c.args[0]
	}
	only := func(flags ...string) bool {
		for _, a := range c.args {
			name, _, _ := strings.Cut(a, "=")
			if !slices.Contains(flags, name) {
				return false
			}
		}
		return true
	}
	switch c.name {
	case "branch":
		return only("-a", "--all", "-r", "--remotes", "-v", "-vv", "--verbose", "--list", "-l", "--show-current", "--no-color", "--no-column", "--sort", "--format")
	case "tag":
		return only("-l", "--list", "-n", "--sort", "--format", "--no-column")
	case "remote":
		return only("-v", "--verbose") || first == "get-url" && len(c.args) == 2 && !strings.HasPrefix(c.args[1], "-")
	case "stash":
		return first == "list" || first == "show"
	case "reflog":
		return first == "" || first == "show"
	case "worktree":
		return first == "list"
	case "notes":
		return first == "" || first == "list" || first == "show"
	case "bisect":
		return first == "log"
	case "symbolic-ref":
		return len(c.args) == 1 && !strings.HasPrefix(first, "-")
	}
	return false
}
