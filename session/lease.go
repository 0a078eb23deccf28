package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"time"

	"github.com/agent-lsp/agent-lsp/session/store"
	"github.com/google/uuid"
)

// DefaultLeaseTTL is how long a session stays with a process that no longer
// renews.
const DefaultLeaseTTL = 10 * time.Second

// owner names this process to whoever is refused a session.
func owner() string { return fmt.Sprintf(ownerFormat, os.Getpid(), hostName()) }

const ownerFormat = "process %d on %s"

func hostName() string {
	host, err := os.Hostname()
	if err != nil {
		return "this machine"
	}
	return host
}

// leaseTTL is the configured time, or the default.
func (c *Config) leaseTTL() time.Duration {
	if c.LeaseTTL > 0 {
		return c.LeaseTTL
	}
	return DefaultLeaseTTL
}

// lease takes the session for this process.
func (s *Session) lease(ctx context.Context) error {
	l, err := acquire(ctx, s.journal.store, s.id, owner(), s.cfg.leaseTTL())
	if err != nil {
		return fmt.Errorf("take session %s: %w", s.id, err)
	}
	s.held = l
	return nil
}

// acquire takes a lease. A holder of this machine that is dead is waited for: its
// lease ends within the time to live.
func acquire(ctx context.Context, st store.Store, id uuid.UUID, name string, ttl time.Duration) (store.Lease, error) {
	for {
		l, err := st.Acquire(ctx, id, name, ttl)
		taken, ok := errors.AsType[*store.LeasedError](err)
		if !ok || !deadOwner(taken.Owner) {
			return l, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(max(time.Until(taken.Until), 10*time.Millisecond)):
		}
	}
}

// deadOwner tells that an owner was a process of this machine that is gone.
func deadOwner(name string) bool {
	var pid int
	var host string
	if _, err := fmt.Sscanf(name, ownerFormat, &pid, &host); err != nil || name != fmt.Sprintf(ownerFormat, pid, hostName()) {
		return false
	}
	return pid != os.Getpid() && !alive(pid)
}

// release gives the session back.
func (s *Session) release(ctx context.Context) {
	if s.held == nil {
		return
	}
	if err := s.held.Release(ctx); err != nil {
		s.log.Warn("release session", "session", s.id, "err", err)
	}
}

// keepLease renews until the session ends. A session whose lease another process
// took is suspended: two must never drive one. It owns the lease from here on.
func (s *Session) keepLease() {
	tick := time.NewTicker(s.cfg.leaseTTL() / 3)
	defer tick.Stop()
	for {
		select {
		case <-s.ctx.Done():
			ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), time.Second)
			s.release(ctx)
			cancel()
			return
		case <-tick.C:
		}
		err := s.held.Renew(s.ctx)
		switch {
		case err == nil || s.ctx.Err() != nil:
		case errors.Is(err, store.ErrLeased):
			s.log.Error("session taken by another process; suspended here", "session", s.id, "err", err)
			s.mu.Lock()
			s.over = fmt.Errorf("it was suspended: %w", err)
			s.mu.Unlock()
			s.stop()
		default:
			s.log.Warn("renew the session's lease", "session", s.id, "err", err)
		}
	}
}

// alive tells whether a process of this machine still runs.
func alive(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer p.Release() //nolint:errcheck // nothing is held but a handle
	if runtime.GOOS == "windows" {
		return true // FindProcess opened it
	}
	err = p.Signal(syscall.Signal(0))
	return err == nil || errors.Is(err, os.ErrPermission)
}
