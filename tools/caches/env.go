package caches

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/agent-lsp/agent-lsp/tools/proc"
)

// A tool is directed to its private cache by a variable. One whose person's cache is
// also a store of what was downloaded, which it cannot read in two places, goes on
// using the person's, without writing, until it ran with the network: a place within
// the private directory that is there from then on says so.
var directed = []struct{ name, dir, once string }{
	{"npm_config_cache", "npm", ""},
	{"PIP_CACHE_DIR", "pip", ""},
	{"UV_CACHE_DIR", "uv", ""},
	{"BUN_INSTALL_CACHE_DIR", "bun", ""},
	{"CCACHE_DIR", "ccache", ""},
	{"SCCACHE_DIR", "sccache", ""},
	{"GOLANGCI_LINT_CACHE", "golangci-lint", ""},
	{"COMPOSER_CACHE_DIR", "composer", ""},
	{"NUGET_HTTP_CACHE_PATH", "nuget-http", ""},
	{"XDG_CACHE_HOME", "xdg", ""},
	{"GOMODCACHE", "mod", "mod/cache/download"},
	{"CARGO_HOME", "cargo", "cargo/.package-cache"},
	{"DENO_DIR", "deno", "deno"},
	{"PNPM_HOME", "pnpm", "pnpm"},
	{"YARN_GLOBAL_FOLDER", "yarn", "yarn"},
	{"NUGET_PACKAGES", "nuget", "nuget"},
}

// Variables returns the variables that direct tools to the private caches in dir. Env
// is the environment in which they would use the person's.
func Variables(env []string, dir string) []proc.Variable {
	var out []proc.Variable
	at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	for _, d := range directed {
		v := proc.Variable{Name: d.name, Value: at(d.dir)}
		if d.once != "" {
			v.Once = at(d.once)
		}
		out = append(out, v)
	}
	if target, ok := proc.Getenv(env, "CARGO_TARGET_DIR"); ok && filepath.IsAbs(target) {
		out = append(out, proc.Variable{Name: "CARGO_TARGET_DIR", Value: at("target")})
	}
	settings := goSettings(env)
	out = append(out,
		proc.Variable{Name: "GOCACHE", Value: at("go-build")},
		proc.Variable{Name: "GOCACHEPROG", Value: goCacheProg(settings.build, at("go-build"))},
	)
	if settings.modules != "" {
		// Modules that the person has are copied from there instead of downloaded.
		download := filepath.ToSlash(filepath.Join(settings.modules, "cache", "download"))
		out = append(out, proc.Variable{Name: "GOPROXY", Value: "file://" + download + "," + settings.proxy, Once: at("mod/cache/download")})
	}
	return out
}

// goPlaces are where the go command of the person keeps and finds things.
type goPlaces struct{ build, modules, proxy string }

func goSettings(env []string) goPlaces {
	file := goEnvFile(env)
	get := func(name string) string {
		if v, ok := proc.Getenv(env, name); ok && v != "" {
			return v
		}
		return file[name]
	}
	home, _ := proc.Getenv(env, "HOME")
	p := goPlaces{build: get("GOCACHE"), modules: get("GOMODCACHE"), proxy: get("GOPROXY")}
	if p.build == "" {
		p.build = filepath.Join(cacheHome(env), "go-build")
	}
	if p.modules == "" {
		path := filepath.SplitList(get("GOPATH"))
		switch {
		case len(path) > 0 && path[0] != "":
			p.modules = filepath.Join(path[0], "pkg", "mod")
		case filepath.IsAbs(home):
			p.modules = filepath.Join(home, "go", "pkg", "mod")
		}
	}
	if p.proxy == "" {
		p.proxy = "https://proxy.golang.org,direct"
	}
	return p
}

// goEnvFile reads what `go env -w` wrote.
func goEnvFile(env []string) map[string]string {
	path, ok := proc.Getenv(env, "GOENV")
	if !ok || path == "" {
		settings, ok := proc.Getenv(env, "XDG_CONFIG_HOME")
		if home, _ := proc.Getenv(env, "HOME"); !ok || settings == "" {
			settings = filepath.Join(home, ".config")
			if runtime.GOOS == "darwin" {
				settings = filepath.Join(home, "Library", "Application Support")
			}
		}
		path = filepath.Join(settings, "go", "env")
	}
	out := map[string]string{}
	text, err := os.ReadFile(path)
	if err != nil {
		return out // most people have none
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		if name, value, ok := strings.Cut(lines.Text(), "="); ok {
			out[strings.TrimSpace(name)] = strings.TrimSpace(value)
		}
	}
	return out
}

// cacheHome is the directory of the person's caches, "" without a home.
func cacheHome(env []string) string {
	if dir, ok := proc.Getenv(env, "XDG_CACHE_HOME"); ok && filepath.IsAbs(dir) {
		return dir
	}
	home, ok := proc.Getenv(env, "HOME")
	switch {
	case !ok || !filepath.IsAbs(home):
		return ""
	case runtime.GOOS == "darwin":
		return filepath.Join(home, "Library", "Caches")
	}
	return filepath.Join(home, ".cache")
}
