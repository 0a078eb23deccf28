package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgxpool"
)

// settleTimeout bounds how long a cancelled call waits for the server to say how
// the statement ended.
const settleTimeout = 2 * time.Second

// cancelled marks a connection that a cancel request was sent for.
const cancelled = "agent_lsp cancelled"

// settleCancelled has a cancelled call end the statement on the server and wait for
// its end, so that no write appears after its caller was told that it is over. The
// connection is not used again: the request could reach the server late and meet
// another statement.
func settleCancelled(cfg *pgxpool.Config) {
	cfg.ConnConfig.BuildContextWatcherHandler = func(c *pgconn.PgConn) ctxwatch.Handler {
		return &settler{conn: c}
	}
	cfg.AfterRelease = func(c *pgx.Conn) bool { return c.PgConn().CustomData()[cancelled] == nil }
}

// settler is called by the goroutine that runs the statement, apart from
// HandleCancel, which comes before HandleUnwatchAfterCancel.
type settler struct {
	conn *pgconn.PgConn
	sent chan struct{}
}

func (s *settler) HandleCancel(context.Context) {
	s.sent = make(chan struct{})
	until := time.Now().Add(settleTimeout)
	_ = s.conn.Conn().SetDeadline(until) // without it the read ends when the server answers
	go func() {
		defer close(s.sent)
		ctx, stop := context.WithDeadline(context.Background(), until)
		defer stop()
		_ = s.conn.CancelRequest(ctx) // unheard, the deadline ends the wait
	}()
}

func (s *settler) HandleUnwatchAfterCancel() {
	<-s.sent
	s.conn.CustomData()[cancelled] = true
	_ = s.conn.Conn().SetDeadline(time.Time{}) // on a broken connection nothing is left to bound
}
