package caches

import (
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
)

// goCacheArg is the hidden subcommand by which the go command starts this program as
// its build cache.
const goCacheArg = "go-build-cache"

// self is the path of this program once Main was called.
var self atomic.Value

// Main must be called first by a program whose commands use private caches, by a test
// binary in its TestMain: the go command starts the same program again, and there
// Main serves it and exits.
func Main() {
	if len(os.Args) == 4 && os.Args[1] == goCacheArg {
		if err := ServeGo(os.Stdin, os.Stdout, os.Args[2], os.Args[3]); err != nil {
			fmt.Fprintln(os.Stderr, "agent-lsp go-build-cache:", err)
			syscall.Exit(1)
		}
		syscall.Exit(0)
	}
	if path, err := os.Executable(); err == nil {
		self.Store(path)
	}
}

// Program returns the path of the program that serves as the go command's build
// cache, "" when there is none.
func Program() string {
	path, _ := self.Load().(string)
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}

// goCacheProg is the value of GOCACHEPROG, "" when this program cannot serve it.
func goCacheProg(person, private string) string {
	words := []string{Program(), goCacheArg, person, private}
	for i, w := range words {
		switch {
		case w == "" || strings.ContainsAny(w, "'") && strings.ContainsAny(w, `"`):
			return ""
		case strings.ContainsAny(w, " \t\n\r\""):
			words[i] = "'" + w + "'"
		case strings.Contains(w, "'"):
			words[i] = `"` + w + `"`
		}
	}
	return strings.Join(words, " ")
}
