// Package sqlite is the store in one file on this machine, in SQLite's WAL mode.
// Several processes may use the file at once; it must not be on a network file
// system, where their locks do not hold.
//
// A commit is flushed to the disk before a call returns, so what was acknowledged
// outlives a killed process and a power cut, as far as the disk keeps its word.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/agent-lsp/agent-lsp/session/store/contract"
	"modernc.org/sqlite"
)

const (
	// busyTimeout is how long a call waits for other processes' writes before it
	// fails. Its context ends the wait earlier.
	busyTimeout = 10 * time.Second
	// idleReaders is how many reading connections are kept between calls.
	idleReaders = 4
	// walLimit is what the write-ahead log is cut down to when it is reused.
	walLimit = 64 << 20
)

// Store keeps sessions in one file. Writes of this process take turns on one
// connection; reads go beside them and never wait for them.
type Store struct {
	path   string
	write  *sql.DB // one connection, so that waiting for a turn obeys the context
	read   *sql.DB
	fences contract.Fences

	closing sync.Once
	closed  error // what closing returned
	stmts
}

// stmts are prepared once. Those that write are of the write connection.
type stmts struct {
	put, place, insert *sql.Stmt
	get, head          *sql.Stmt
}

var (
	_ contract.Store     = (*Store)(nil)
	_ contract.Reopener  = (*Store)(nil)
	_ contract.RawWriter = (*Store)(nil)
)

// Open opens the file at path and migrates an older schema. An absent file is
// made with mode 0600 and its directory with 0700. A file of a newer schema, of
// another program, or that is read-only is refused and left as it is.
func Open(ctx context.Context, path string) (*Store, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, &contract.BackendError{Place: path, Op: "open", Err: err}
	}
	s := &Store{path: abs}
	if err := s.open(ctx); err != nil {
		_ = s.Close() // the failure to open is what matters
		return nil, s.fault(ctx, "open", err)
	}
	return s, nil
}

func (s *Store) open(ctx context.Context) error {
	if err := prepareFile(s.path); err != nil {
		return err
	}
	if err := s.inspect(ctx); err != nil {
		return err
	}
	// SQLite's own builds flush with fdatasync where there is one; no durability is
	// lost by it. Where there is none the driver says so and keeps its flush.
	if _, err := sqlite.Fdatasync(true); err != nil && !errors.Is(err, sqlite.ErrFdatasyncUnavailable) {
		return err
	}
	var err error
	if s.write, err = sql.Open("sqlite", dsn(s.path, "rw")); err != nil {
		return err
	}
	s.write.SetMaxOpenConns(1)
	if err := useWAL(ctx, s.write); err != nil {
		return err
	}
	if err := migrate(ctx, s.write, migrations); err != nil {
		return err
	}
	if s.read, err = sql.Open("sqlite", dsn(s.path, "rw")); err != nil {
		return err
	}
	s.read.SetMaxIdleConns(idleReaders)
	return s.prepare(ctx)
}

func (s *Store) prepare(ctx context.Context) error {
	for _, p := range []struct {
		stmt **sql.Stmt
		db   *sql.DB
		text string
	}{
		{&s.put, s.write, putSQL},
		{&s.place, s.write, placeSQL},
		{&s.insert, s.write, insertSQL},
		{&s.get, s.read, getSQL},
		{&s.head, s.read, headSQL},
	} {
		stmt, err := p.db.PrepareContext(ctx, p.text)
		if err != nil {
			return err
		}
		*p.stmt = stmt
	}
	return nil
}

// dsn names the file for the driver, with what every connection is set to. The
// full flush of macOS is a pragma that does nothing elsewhere.
func dsn(path, mode string) string {
	slashed := filepath.ToSlash(path)
	if slashed[0] != '/' {
		slashed = "/" + slashed // a drive letter
	}
	q := url.Values{"mode": {mode}, "_txlock": {"immediate"}, "_pragma": {
		"busy_timeout(" + strconv.FormatInt(busyTimeout.Milliseconds(), 10) + ")",
		"synchronous(FULL)",
		"fullfsync(1)",
		"journal_size_limit(" + strconv.Itoa(walLimit) + ")",
	}}
	return (&url.URL{Scheme: "file", Path: slashed, RawQuery: q.Encode()}).String()
}

// Reopen implements contract.Reopener.
func (s *Store) Reopen(ctx context.Context) (contract.Store, error) { return Open(ctx, s.path) }

// Close implements contract.Store. Closing twice returns what the first did.
func (s *Store) Close() error {
	s.closing.Do(func() {
		var errs []error
		for _, db := range []*sql.DB{s.read, s.write} { // the last to close empties the log
			if db != nil {
				errs = append(errs, db.Close())
			}
		}
		s.closed = s.fault(context.Background(), "close", errors.Join(errs...))
	})
	return s.closed
}

func (s *Store) fault(ctx context.Context, op string, err error) error {
	return contract.Fault(ctx, s.path, op, err)
}

// inTx runs f in a transaction that holds the write lock from its begin.
func (s *Store) inTx(ctx context.Context, f func(*sql.Tx) error) error {
	tx, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := f(tx); err != nil {
		if undo := tx.Rollback(); undo != nil && !errors.Is(undo, sql.ErrTxDone) {
			return fmt.Errorf("%w; roll back: %w", err, undo)
		}
		return err
	}
	return tx.Commit()
}
