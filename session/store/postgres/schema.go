package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// migrationLock is the key under which processes take turns at migrating: "agentlsp".
const migrationLock = 0x6167656e746c7370

// migrations lead from one schema version to the next; the version is how many of
// them a database has.
//
// A session's row holds its next index. An append takes it by updating the row, so
// appenders wait for each other on the row's lock, wherever they run, and an
// append that fails gives its index back. Half of each page is left free so that
// those updates stay on it and its indexes are not touched.
var migrations = []string{
	`CREATE TABLE agent_lsp.sessions (
		id     text COLLATE "C" PRIMARY KEY,
		n      bigint GENERATED ALWAYS AS IDENTITY,
		record bytea NOT NULL,
		head   bigint NOT NULL DEFAULT 0,
		fence  text NOT NULL DEFAULT ''
	) WITH (fillfactor = 50);
	CREATE TABLE agent_lsp.events (
		session bigint NOT NULL,
		idx     bigint NOT NULL,
		at      bigint NOT NULL,
		type    text NOT NULL,
		data    bytea NOT NULL,
		PRIMARY KEY (session, idx)
	);
	CREATE TABLE agent_lsp.defaults (
		subject text COLLATE "C" PRIMARY KEY,
		harness text NOT NULL
	);`,

	`CREATE TABLE agent_lsp.snapshots (
		session bigint NOT NULL,
		at      bigint NOT NULL,
		state   bytea NOT NULL,
		PRIMARY KEY (session, at)
	);
	CREATE TABLE agent_lsp.leases (
		id      text COLLATE "C" PRIMARY KEY,
		owner   text NOT NULL,
		token   text NOT NULL,
		expires timestamptz NOT NULL
	);`,
}

// querier is a pool or a transaction of it.
type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// migrate brings the database to the newest schema, all of the way or not at all.
func migrate(ctx context.Context, pool *pgxpool.Pool, steps []string) error {
	if version, err := readVersion(ctx, pool, len(steps)); err != nil || version == len(steps) {
		return err
	}
	return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1::bigint)`, int64(migrationLock)); err != nil {
			return err
		}
		version, err := readVersion(ctx, tx, len(steps)) // another process may have migrated meanwhile
		if err != nil || version == len(steps) {
			return err
		}
		for i := version; i < len(steps); i++ {
			if _, err := tx.Exec(ctx, steps[i], pgx.QueryExecModeSimpleProtocol); err != nil {
				return fmt.Errorf("migrate schema %d to %d: %w", i, i+1, err)
			}
		}
		_, err = tx.Exec(ctx, `UPDATE agent_lsp.version SET version = $1::integer`, len(steps))
		return err
	})
}

// readVersion returns 0 for a database without the schema, which it makes where it
// may, and an error for one that is newer than known.
func readVersion(ctx context.Context, q querier, known int) (version int, err error) {
	var there bool
	err = q.QueryRow(ctx, `SELECT to_regclass('agent_lsp.version') IS NOT NULL`).Scan(&there)
	if err != nil {
		return 0, err
	}
	if !there {
		tx, ok := q.(pgx.Tx)
		if !ok {
			return 0, nil
		}
		return 0, makeSchema(ctx, tx)
	}
	if err := q.QueryRow(ctx, `SELECT version FROM agent_lsp.version`).Scan(&version); err != nil {
		return 0, err
	}
	if version > known {
		return 0, fmt.Errorf("the database has schema %d and this program knows schemas up to %d: upgrade the program", version, known)
	}
	return version, nil
}

// makeSchema leaves a schema alone that an administrator made beforehand, for a
// user who may not make one.
func makeSchema(ctx context.Context, tx pgx.Tx) error {
	var there bool
	if err := tx.QueryRow(ctx, `SELECT to_regnamespace('agent_lsp') IS NOT NULL`).Scan(&there); err != nil {
		return err
	}
	if !there {
		if _, err := tx.Exec(ctx, `CREATE SCHEMA agent_lsp`); err != nil {
			return err
		}
	}
	_, err := tx.Exec(ctx, `CREATE TABLE agent_lsp.version (version integer NOT NULL);
		INSERT INTO agent_lsp.version VALUES (0)`, pgx.QueryExecModeSimpleProtocol)
	return err
}
