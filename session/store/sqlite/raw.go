package sqlite

import (
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

// oneRow is a statement kept prepared on the one connection of a pool.
type oneRow struct {
	text string
	conn any // that stmt is prepared on; guarded by the connection's turn
	stmt driver.Stmt
}

// query runs the statement to its end, which is where it is committed, and answers
// its single integer, or sql.ErrNoRows.
func (o *oneRow) query(ctx context.Context, db *sql.DB, args ...driver.Value) (int64, error) {
	var answer int64
	err := onConn(ctx, db, func(conn any) error {
		if o.conn != conn {
			stmt, err := conn.(driver.ConnPrepareContext).PrepareContext(ctx, o.text)
			if err != nil {
				return err
			}
			o.conn, o.stmt = conn, stmt
		}
		rows, err := o.stmt.(driver.StmtQueryContext).QueryContext(ctx, named(args))
		if err != nil {
			return err
		}
		found := false
		err = drain(rows, func(row []driver.Value) (bool, error) {
			n, ok := row[0].(int64)
			if !ok {
				return false, fmt.Errorf("the database answered %T where a number is due", row[0])
			}
			answer, found = n, true
			return true, nil
		})
		if err == nil && !found {
			err = sql.ErrNoRows
		}
		return err
	})
	return answer, err
}

// scan calls f for each row of a query until it answers false. f may keep the
// values, but not the slice.
func scan(ctx context.Context, db *sql.DB, text string, f func([]driver.Value) (bool, error), args ...driver.Value) error {
	return onConn(ctx, db, func(conn any) error {
		rows, err := conn.(driver.QueryerContext).QueryContext(ctx, text, named(args))
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
			return errors.Join(err, rows.Close())
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
