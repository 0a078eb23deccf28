package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
)

// The two calls that must be fast, an append and a scan of many rows, go to the
// driver itself: package sql starts a goroutine for each query and converts every
// value, which costs more than an insert or a row does.

// wholeConn is all that the driver's connections do for package sql.
type wholeConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

// queryStmt is all that a prepared statement of the driver does here.
type queryStmt interface {
	driver.Stmt
	driver.StmtQueryContext
}

// writeConn is a connection that keeps a statement prepared, and ends it first:
// with a statement left the file would stay open.
type writeConn struct {
	wholeConn
	append queryStmt // nil until the first append
}

// Unwrap is how the driver finds its own connection.
func (c *writeConn) Unwrap() driver.Conn { return c.wholeConn }

func (c *writeConn) Close() error {
	var err error
	if c.append != nil {
		err = c.append.Close()
	}
	return errors.Join(err, c.wholeConn.Close())
}

// prepare makes the statement of an append once.
func (c *writeConn) prepare(ctx context.Context) error {
	if c.append != nil {
		return nil
	}
	stmt, err := c.PrepareContext(ctx, appendSQL)
	if err != nil {
		return err
	}
	query, ok := stmt.(queryStmt)
	if !ok {
		return errors.Join(fmt.Errorf("the driver's %T lacks what the store needs", stmt), stmt.Close())
	}
	c.append = query
	return nil
}

type writeConnector struct{ driver.Connector }

func (w writeConnector) Connect(ctx context.Context) (driver.Conn, error) {
	c, err := w.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	whole, ok := c.(wholeConn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("the driver's %T lacks what the store needs", c), c.Close())
	}
	return &writeConn{wholeConn: whole}, nil
}

// appendRow runs appendSQL to its end, which is where it is committed, and answers
// the index, or sql.ErrNoRows.
func appendRow(ctx context.Context, db *sql.DB, args ...driver.Value) (int64, error) {
	index := int64(-1)
	err := onConn(ctx, db, func(conn any) error {
		c, ok := conn.(*writeConn)
		if !ok {
			return fmt.Errorf("an append on a %T, which is not made for it", conn)
		}
		if err := c.prepare(ctx); err != nil {
			return err
		}
		rows, err := c.append.QueryContext(ctx, named(args))
		if err != nil {
			return err
		}
		return drain(rows, func(row []driver.Value) (bool, error) {
			index, _ = row[0].(int64)
			return true, nil
		})
	})
	if err == nil && index < 0 {
		err = sql.ErrNoRows
	}
	return index, err
}

// scan calls f for each row of a query until it answers false. f may keep the
// values, but not the slice.
func scan(ctx context.Context, db *sql.DB, text string, f func([]driver.Value) (bool, error), args ...driver.Value) error {
	return onConn(ctx, db, func(conn any) error {
		c, ok := conn.(driver.QueryerContext)
		if !ok {
			return fmt.Errorf("the driver's %T lacks what the store needs", conn)
		}
		rows, err := c.QueryContext(ctx, text, named(args))
		if err != nil {
			return err
		}
		return drain(rows, f)
	})
}

func onConn(ctx context.Context, db *sql.DB, f func(conn any) error) (err error) {
	c, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	return c.Raw(f)
}

func drain(rows driver.Rows, f func([]driver.Value) (bool, error)) error {
	row := make([]driver.Value, len(rows.Columns()))
	for {
		err := rows.Next(row)
		more := false
		if err == nil {
			more, err = f(row)
		}
		if errors.Is(err, io.EOF) {
			err = nil
		}
		if err != nil || !more {
			return cmp.Or(err, rows.Close()) // which would say the same again
		}
	}
}

func named(values []driver.Value) []driver.NamedValue {
	args := make([]driver.NamedValue, len(values))
	for i, v := range values {
		args[i] = driver.NamedValue{Ordinal: i + 1, Value: v}
	}
	return args
}
