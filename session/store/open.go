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
//	postgres://…            a shared server, as libpq writes it; also postgresql:// and
//	host=… dbname=…         keywords with values
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
	case OnServer(dsn):
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

// OnServer reports whether a DSN names a server: an address, or keywords with values.
// Those are never the name of a file, which would tell a password.
func OnServer(dsn string) bool {
	return strings.HasPrefix(dsn, "postgres://") || strings.HasPrefix(dsn, "postgresql://") || keywords.MatchString(dsn)
}

// keywords matches how libpq's keywords begin.
var keywords = regexp.MustCompile(`^\s*(?:host|hostaddr|port|dbname|user|password|passfile|service|servicefile|options|application_name|connect_timeout|target_session_attrs|ssl[a-z]*|channel_binding|krbsrvname)\s*=`)

var (
	// otherScheme matches what was not meant as a path. A drive letter is one.
	otherScheme = regexp.MustCompile(`^([a-zA-Z][a-zA-Z0-9+.-]+://|:memory:|memory:|file:|sqlite3?:)`)
	credentials = regexp.MustCompile(`//[^/]*@`)
)

// withoutCredentials hides what stands before the host in a URL.
func withoutCredentials(dsn string) string {
	return credentials.ReplaceAllString(dsn, "//…@")
}
