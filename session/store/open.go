package store

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/agent-lsp/agent-lsp/session/store/memory"
	"github.com/agent-lsp/agent-lsp/session/store/postgres"
	"github.com/agent-lsp/agent-lsp/session/store/sqlite"
)

const forms = "give memory:, sqlite:PATH or postgres://…"

// Open opens the store that dsn names; the caller closes it.
//
//	memory:                 forgets everything on Close
//	sqlite:PATH, PATH       one file on this machine, made when absent
//	postgres://…            a shared server, as libpq writes it; also postgresql://
//
// An error names the place that it is about, without credentials.
func Open(ctx context.Context, dsn string) (Store, error) {
	scheme, rest, _ := strings.Cut(dsn, ":")
	var s Store
	var err error
	switch {
	case dsn == "":
		return nil, errors.New("open store: the DSN is empty; " + forms)
	case dsn == "memory:":
		return memory.New(), nil
	case strings.HasPrefix(dsn, "postgres://"), strings.HasPrefix(dsn, "postgresql://"):
		s, err = postgres.Open(ctx, dsn)
	case scheme == "sqlite" && rest != "":
		s, err = sqlite.Open(ctx, rest)
	case otherScheme.MatchString(dsn):
		return nil, fmt.Errorf("open store: no backend for %q; %s", withoutCredentials(dsn), forms)
	default:
		s, err = sqlite.Open(ctx, dsn)
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

var (
	// otherScheme matches what was not meant as a path. A drive letter is one.
	otherScheme = regexp.MustCompile(`^([a-zA-Z][a-zA-Z0-9+.-]+://|:memory:|memory:|file:|sqlite3?:)`)
	credentials = regexp.MustCompile(`//[^/]*@`)
)

// withoutCredentials hides what stands before the host in a URL.
func withoutCredentials(dsn string) string {
	return credentials.ReplaceAllString(dsn, "//…@")
}
