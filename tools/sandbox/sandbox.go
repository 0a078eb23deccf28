// Package sandbox computes what the programs of a session may do: which places
// they may write, which are protected in them, and what nobody reads. It looks at
// the person's settings and at the system, never at what files of a workspace say;
// package proc does the confining.
package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-lsp/agent-lsp/tools/caches"
	"github.com/agent-lsp/agent-lsp/tools/proc"
)

// Settings are what the person configured, and where things are.
type Settings struct {
	// Env is the environment that programs get; its HOME and PATH count.
	Env []string
	// State are the server's own places, which nobody reads.
	State []string
	// Temp is a directory for temporary files, see proc.Sandbox.
	Temp string
	// Caches is the directory of the private caches, see package caches; "" has none.
	Caches string
	// Aside is where what is taken out of protected places goes.
	Aside string
	// Writable are further places that may be written, Read secrets that may be read
	// all the same, DenyRead further secrets. A leading ~/ is the home directory.
	Writable, Read, DenyRead []string
	// Network allows connections.
	Network bool
	// Loopback are ports of this machine that programs without network reach.
	Loopback []int
}

// Box returns the sandbox of all programs of a session, without its workspace.
func (s Settings) Box() proc.Sandbox {
	home, _ := proc.Getenv(s.Env, "HOME")
	box := proc.Sandbox{
		Writable: append(s.scratch(), expand(s.Writable, home)...),
		Hidden:   s.hidden(home),
		Readable: s.shown(home),
		Network:  s.Network,
		Loopback: slices.Compact(slices.Sorted(slices.Values(s.Loopback))),
		Temp:     s.Temp,
		Aside:    s.Aside,
	}
	if s.Caches != "" {
		box.Writable = append(box.Writable, s.Caches)
		box.Env = caches.Variables(s.Env, s.Caches)
		if program := caches.Program(); program != "" {
			box.Readable = append(box.Readable, program) // the go command starts it
		}
	}
	return box
}

// scratch returns the places beside the workspace and the private caches that builds
// write to; the system's directories for temporary files only where there is no other.
func (s Settings) scratch() []string {
	out := proc.Scratch()
	if s.Temp == "" {
		return out
	}
	return slices.DeleteFunc(out, func(p string) bool {
		return p == "/tmp" || p == "/var/tmp" || p == filepath.Clean(os.TempDir())
	})
}

// shown returns the places that stay visible in a directory for temporary files of
// the sandbox's own: programs on the PATH, files and directories that other
// variables name, and what the person names.
func (s Settings) shown(home string) []string {
	out := expand(s.Read, home)
	path, _ := proc.Getenv(s.Env, "PATH")
	for _, dir := range filepath.SplitList(path) {
		if filepath.IsAbs(dir) {
			out = append(out, filepath.Clean(dir))
		}
	}
	for _, kv := range s.Env {
		name, value, _ := strings.Cut(kv, "=")
		if !inTemp(value) || name == "TMPDIR" || name == "TMP" || name == "TEMP" {
			continue
		}
		if info, err := os.Stat(value); err == nil && (info.IsDir() || info.Mode().IsRegular()) {
			out = append(out, filepath.Clean(value))
		}
	}
	return out
}

// inTemp reports whether a path lies in a directory for temporary files.
func inTemp(path string) bool {
	for _, dir := range []string{"/tmp/", "/var/tmp/"} {
		if rest, ok := strings.CutPrefix(path, dir); ok && filepath.IsLocal(rest) {
			return true
		}
	}
	return false
}

// expand replaces ~/ by the home directory and drops relative paths.
func expand(paths []string, home string) []string {
	var out []string
	for _, p := range paths {
		if rest, ok := strings.CutPrefix(p, "~/"); ok && filepath.IsAbs(home) {
			p = filepath.Join(home, rest)
		}
		if filepath.IsAbs(p) {
			out = append(out, filepath.Clean(p))
		}
	}
	return out
}
