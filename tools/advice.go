package tools

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-lsp/agent-lsp/tools/proc"
	"github.com/agent-lsp/agent-lsp/workspace"
)

// What follows keeps ordinary commands going in the sandbox, or says what else to do.

// withoutRetries keeps installers from trying a network again that is not there, some
// of them for minutes.
func withoutRetries(env []string) []string {
	env = setUnset(env, "0", "npm_config_fetch_retries", "UV_HTTP_RETRIES", "CARGO_NET_RETRY")
	return setUnset(env, "1", "PIP_RETRIES") // pip says what failed only as it tries again
}

// withoutHooks keeps installers from setting up git's hooks, which they may not: they
// would fail for that alone.
func withoutHooks(env []string) []string {
	return setUnset(setUnset(env, "0", "HUSKY"), "1", "SKIP_INSTALL_SIMPLE_GIT_HOOKS")
}

func setUnset(env []string, value string, names ...string) []string {
	for _, name := range names {
		if _, ok := proc.Getenv(env, name); !ok {
			env = proc.Setenv(env, name, value)
		}
	}
	return env
}

// installers are package managers of Node.js, and installing their subcommands that run
// the scripts of the project itself.
var (
	installers = []string{"npm", "pnpm", "yarn", "bun"}
	installing = []string{"install", "i", "ci", "add", "remove", "uninstall", "update", "upgrade", "rebuild"}
)

// installs reports whether a command installs a project's packages.
func installs(argv []string) bool {
	if len(argv) == 0 || !slices.Contains(installers, programName(argv[0])) {
		return false
	}
	for _, a := range argv[1:] {
		if !strings.HasPrefix(a, "-") {
			return slices.Contains(installing, a)
		}
	}
	return programName(argv[0]) == "yarn"
}

// advice says what a command left out in the sandbox, or which tool does instead what
// failed in it.
func (t execTool) advice(op execArgs, dir string, r proc.Result) string {
	switch {
	case programName(op.Argv[0]) == "git" && !r.OK():
		words := gitWords(op.Argv[1:])
		if len(words) > 0 && (slices.Contains(gitSettles, words[0]) || slices.Contains(gitConnects, words[0])) {
			return "\n[the tool git does this: with it an allowed " + words[0] + " has the settings, remotes and agent that it needs]"
		}
	case installs(op.Argv) && t.huskyIsNew(dir):
		return "\n[husky's hooks are not installed: commands do not change git's settings; the person runs the prepare script once, outside of the sandbox]"
	}
	return ""
}

// huskyIsNew reports whether the package in a directory wants husky's hooks, and the
// repository has no directory for hooks yet.
func (t execTool) huskyIsNew(dir string) bool {
	text, err := workspace.ReadFile(nil, filepath.Join(dir, "package.json"), t.cfg.MaxRead)
	if err != nil || !strings.Contains(string(text), `"husky"`) {
		return false
	}
	r, ok, err := t.repos.find(workspace.RealPath(dir))
	if err != nil || !ok {
		return false
	}
	return !strings.Contains(strings.ToLower(readPointer(filepath.Join(r.common, "config"))), "hookspath")
}
