// Package postgres is the store on a PostgreSQL server, version 12 or later, for
// a team or for work on remote machines. Any number of processes may share it.
//
// It keeps no state in its connections besides prepared statements, so it works
// through a pooler that hands a connection out per transaction; one that cannot
// keep prepared statements is told so by default_query_exec_mode=exec in the DSN.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/agent-lsp/agent-lsp/session/store/contract"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// connectTimeout bounds one attempt to connect where the DSN sets no
// connect_timeout, so that a server that is away is an error and not a hang.
const connectTimeout = 10 * time.Second

// Store keeps sessions in the schema agent_lsp of a database.
type Store struct {
	dsn    string
	place  string
	pool   *pgxpool.Pool
	fences contract.Fences
}

var (
	_ contract.Store     = (*Store)(nil)
	_ contract.Reopener  = (*Store)(nil)
	_ contract.RawWriter = (*Store)(nil)
)

// Open connects to the database that dsn names, in libpq's form or as a URL, and
// makes or migrates the schema. A newer schema is refused. Once the schema is
// there, the user needs no right to change it.
func Open(ctx context.Context, dsn string) (*Store, error) {
	cfg, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, &contract.BackendError{Place: "postgres", Op: "open", Err: err} // the parser leaves the password out
	}
	if cfg.ConnConfig.ConnectTimeout == 0 {
		cfg.ConnConfig.ConnectTimeout = connectTimeout
	}
	settleCancelled(cfg)
	s := &Store{dsn: dsn, place: place(cfg.ConnConfig)}
	if s.pool, err = pgxpool.NewWithConfig(ctx, cfg); err != nil {
		return nil, contract.Fault(ctx, s.place, "open", err)
	}
	if err := s.prepare(ctx); err != nil {
		s.pool.Close()
		return nil, contract.Fault(ctx, s.place, "open", err)
	}
	return s, nil
}

func (s *Store) prepare(ctx context.Context) error {
	var isolation string
	if err := s.pool.QueryRow(ctx, `SELECT current_setting('transaction_isolation')`).Scan(&isolation); err != nil {
		return err
	}
	if isolation != "read committed" {
		return fmt.Errorf("the default isolation is %q, under which appenders would fail each other: set default_transaction_isolation to 'read committed' for this user", isolation)
	}
	return migrate(ctx, s.pool, migrations)
}

// place names the database for errors.
func place(c *pgx.ConnConfig) string {
	host := c.Host
	if !strings.HasPrefix(host, "/") {
		host = fmt.Sprintf("%s:%d", host, c.Port)
	}
	return "postgres " + host + " database " + c.Database
}

// Reopen implements contract.Reopener.
func (s *Store) Reopen(ctx context.Context) (contract.Store, error) { return Open(ctx, s.dsn) }

// Close implements contract.Store. It waits for calls that are under way.
func (s *Store) Close() error {
	s.pool.Close()
	return nil
}

// fault makes the error of a call. After one that tells of a lost server the other
// connections are given up too, so that each call after its return does not have to
// find out for itself.
func (s *Store) fault(ctx context.Context, op string, err error) error {
	err = contract.Fault(ctx, s.place, op, err)
	if failure, ok := errors.AsType[*contract.BackendError](err); ok && lost(failure) {
		s.pool.Reset()
	}
	return err
}

// lost tells a failure of the connection from one that the server reported in order.
func lost(err error) bool {
	reported, ok := errors.AsType[*pgconn.PgError](err)
	return !ok || strings.HasPrefix(reported.Code, "57P") || strings.HasPrefix(reported.Code, "08") // it is going down
}

// inTx runs f in one transaction.
func (s *Store) inTx(ctx context.Context, f func(pgx.Tx) error) error {
	return pgx.BeginFunc(ctx, s.pool, f)
}

// noRows tells a missing row from a failure.
func noRows(err error) bool { return errors.Is(err, pgx.ErrNoRows) }
