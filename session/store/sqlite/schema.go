package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"time"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// applicationID marks the file as this program's: "aLSP".
const applicationID = 0x614c5350

// migrations lead from one schema version to the next; the version is how many of
// them a file has. An event's primary key is what makes an index unique and a
// transcript one range. Records and events are apart, so that a record that
// cannot be decoded does not touch its transcript.
var migrations = []string{
	`CREATE TABLE sessions (
		n      INTEGER PRIMARY KEY,
		id     TEXT NOT NULL UNIQUE,
		record BLOB NOT NULL
	) STRICT;
	CREATE TABLE events (
		session INTEGER NOT NULL,
		idx     INTEGER NOT NULL,
		at      INTEGER NOT NULL,
		type    TEXT NOT NULL,
		data    BLOB NOT NULL,
		PRIMARY KEY (session, idx)
	) STRICT, WITHOUT ROWID;
	CREATE TABLE defaults (
		subject TEXT PRIMARY KEY,
		harness TEXT NOT NULL
	) STRICT, WITHOUT ROWID;`,

	`CREATE TABLE snapshots (
		session INTEGER NOT NULL,
		at      INTEGER NOT NULL,
		state   BLOB NOT NULL,
		PRIMARY KEY (session, at)
	) STRICT;
	CREATE TABLE leases (
		id      TEXT PRIMARY KEY,
		owner   TEXT NOT NULL,
		token   TEXT NOT NULL,
		expires INTEGER NOT NULL
	) STRICT, WITHOUT ROWID;`,
}

// inspect refuses a file that this program must not touch, before anything could
// change it: it reads through a connection that cannot write.
func (s *Store) inspect(ctx context.Context) (err error) {
	if info, err := os.Stat(s.path); err != nil || info.Size() == 0 {
		return err
	}
	db, err := sql.Open("sqlite", dsn(s.path, "ro"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	err = checkVersion(ctx, db, len(migrations))
	var failure *sqlite.Error
	if errors.As(err, &failure) && failure.Code()&0xff == lib.SQLITE_READONLY {
		return nil // a crash left work that only a writer may undo; migrate checks again
	}
	return err
}

// querier is a database or a transaction of it.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func checkVersion(ctx context.Context, q querier, known int) error {
	version, err := readVersion(ctx, q)
	if err != nil {
		return err
	}
	var app, tables int
	err = q.QueryRowContext(ctx, `SELECT application_id, (SELECT COUNT(*) FROM sqlite_schema) FROM pragma_application_id`).Scan(&app, &tables)
	switch {
	case err != nil:
		return err
	case app != applicationID && (app != 0 || version != 0 || tables != 0):
		return errors.New("the file is another program's database: name another store")
	case version > known:
		return fmt.Errorf("the file has schema %d and this program knows schemas up to %d: upgrade the program", version, known)
	}
	return nil
}

func readVersion(ctx context.Context, q querier) (version int, err error) {
	err = q.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version)
	return version, err
}

// retryPause is how long useWAL waits before it asks again.
const retryPause = 5 * time.Millisecond

// useWAL turns the write-ahead log on, which stays on in the file. While another
// process does the same, SQLite returns busy at once instead of waiting.
func useWAL(ctx context.Context, db *sql.DB) error {
	ctx, cancel := context.WithTimeoutCause(ctx, busyTimeout, errors.New("another process keeps the file locked"))
	defer cancel()
	for {
		var mode string
		err := db.QueryRowContext(ctx, "PRAGMA journal_mode=WAL").Scan(&mode)
		var failure *sqlite.Error
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.As(err, &failure) && failure.Code()&0xff == lib.SQLITE_BUSY:
			select {
			case <-ctx.Done():
				return context.Cause(ctx)
			case <-time.After(retryPause):
			}
			continue
		case err != nil:
			return err
		case mode != "wal":
			return fmt.Errorf("the file system cannot share memory between processes (journal mode %s): name a store on a local disk", mode)
		}
		return nil
	}
}

// migrate brings the file to the newest schema, all of the way or not at all.
func migrate(ctx context.Context, db *sql.DB, steps []string) error {
	if version, err := readVersion(ctx, db); err != nil || version == len(steps) {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := migrateIn(ctx, tx, steps); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

func migrateIn(ctx context.Context, tx *sql.Tx, steps []string) error {
	if err := checkVersion(ctx, tx, len(steps)); err != nil {
		return err
	}
	version, err := readVersion(ctx, tx) // another process may have migrated meanwhile
	if err != nil {
		return err
	}
	for i := version; i < len(steps); i++ {
		if _, err := tx.ExecContext(ctx, steps[i]); err != nil {
			return fmt.Errorf("migrate schema %d to %d: %w", i, i+1, err)
		}
	}
	_, err = tx.ExecContext(ctx, fmt.Sprintf("PRAGMA application_id=%d; PRAGMA user_version=%d", applicationID, len(steps)))
	return err
}
