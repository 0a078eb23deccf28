package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
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

// hostName names this machine so that a process number means the same process
// wherever the name is read: two containers may share a host's name.
var hostName = sync.OnceValue(func() string {
	host, err := os.Hostname()
	if err != nil {
		host = "this machine"
	}
	host = strings.Join(strings.Fields(host), "-")
	boot, berr := os.ReadFile("/proc/sys/kernel/random/boot_id")
	space, serr := os.Readlink("/proc/self/ns/pid")
	if berr != nil || serr != nil {
		return host // not Linux
	}
	return fmt.Sprintf("%s/%.8s", host, hashOf(string(boot)+space))
})

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
	s.leased = l
	return nil
}

// acquire takes a lease. One whose holder was a process of this machine that is
// dead is given back in its name first.
func acquire(ctx context.Context, st store.Store, id uuid.UUID, name string, ttl time.Duration) (store.Lease, error) {
	l, err := st.Acquire(ctx, id, name, ttl)
	taken, ok := errors.AsType[*store.LeasedError](err)
	if !ok || !deadOwner(taken.Owner) {
		return l, err
	}
	// Whoever else tries the same at once is refused by the lease that was taken
	// meanwhile: no living process goes by that name.
	left, err := st.Acquire(ctx, id, taken.Owner, ttl)
	if err != nil {
		return nil, err
	}
	if err := left.Release(ctx); err != nil {
		return nil, err
	}
	return st.Acquire(ctx, id, name, ttl)
}

// deadOwner reports whether an owner was a process of this machine that has ended.
func deadOwner(name string) bool {
	var pid int
	var host string
	if _, err := fmt.Sscanf(name, ownerFormat, &pid, &host); err != nil || name != fmt.Sprintf(ownerFormat, pid, hostName()) {
		return false
	}
	return pid != os.Getpid() && !alive(pid)
}

// release returns the lease of the session.
func (s *Session) release(ctx context.Context) {
	if s.leased == nil {
		return
	}
	if err := s.leased.Release(ctx); err != nil {
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
		err := s.leased.Renew(s.ctx)
		switch {
		case err == nil || s.ctx.Err() != nil:
		case errors.Is(err, store.ErrLeased):
			s.log.Error("session taken by another process; suspended here", "session", s.id, "err", err)
			s.mu.Lock()
			s.endedBy = fmt.Errorf("it was suspended: %w", err)
			s.mu.Unlock()
			s.stop()
		default:
			s.log.Warn("renew the session's lease", "session", s.id, "err", err)
		}
	}
}

// alive reports whether a process of this machine still runs.
func alive(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer p.Release() //nolint:errcheck // there is nothing to release but a handle
	if runtime.GOOS == "windows" {
		return true // FindProcess opened it
	}
	err = p.Signal(syscall.Signal(0))
	return err == nil || errors.Is(err, os.ErrPermission)
}
