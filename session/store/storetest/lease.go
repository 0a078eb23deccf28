package storetest

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/agent-lsp/agent-lsp/session/store"
)

func (s *scope) acquire(n uint64, owner string, ttl time.Duration) store.Lease {
	s.Helper()
	l, err := s.store.Acquire(s.ctx, ID(n), owner, ttl)
	s.must(err, "Acquire takes a lease that nobody else holds")
	return l
}

// leased fails the scenario unless err is the refusal that names the owner.
func (s *scope) leased(err error, owner string) {
	s.Helper()
	var refusal *store.LeasedError
	if !errors.Is(err, store.ErrLeased) || !errors.As(err, &refusal) {
		s.Fatalf("a lease that %q holds is refused with ErrLeased, got %v", owner, err)
	}
	s.equal(refusal.Owner, owner, "the refusal names the owner")
	if !strings.Contains(err.Error(), owner) {
		s.Fatalf("the refusal's text names the owner %q, got %q", owner, err)
	}
}

func leaseOwner(s *scope) {
	s.put(Record(201, 0))
	first := s.acquire(201, "editor-1 pid 17", time.Hour)
	_, err := s.store.Acquire(s.ctx, ID(201), "editor-2 pid 18", time.Hour)
	s.leased(err, "editor-1 pid 17")
	s.must(first.Renew(s.ctx), "the holder renews")
	s.acquire(202, "editor-2 pid 18", time.Hour) // another session's, which has no record

	again := s.acquire(201, "editor-1 pid 17", time.Hour)
	s.leased(first.Renew(s.ctx), "editor-1 pid 17")
	s.must(first.Release(s.ctx), "releasing a lost lease is no error")
	_, err = s.store.Acquire(s.ctx, ID(201), "editor-2 pid 18", time.Hour)
	s.leased(err, "editor-1 pid 17")

	s.must(again.Release(s.ctx), "the holder releases")
	if err := again.Renew(s.ctx); !errors.Is(err, store.ErrLeased) {
		s.Fatalf("a released lease is not renewed, got %v", err)
	}
	s.must(again.Release(s.ctx), "releasing twice is no error")
	s.acquire(201, "editor-2 pid 18", time.Hour)

	for _, bad := range []struct {
		owner string
		ttl   time.Duration
	}{{"", time.Hour}, {"owner", 0}, {"owner", -1}, {"\xff", time.Hour}} {
		if _, err := s.store.Acquire(s.ctx, ID(203), bad.owner, bad.ttl); err == nil {
			s.Fatalf("a lease for %q of %s is refused", bad.owner, bad.ttl)
		}
	}
}

// takeOver acquires as soon as the holder's lease, which is of a moment, has ended.
func takeOver(ctx context.Context, st store.Store, n uint64, owner string) (store.Lease, error) {
	for {
		l, err := st.Acquire(ctx, ID(n), owner, time.Hour)
		if !errors.Is(err, store.ErrLeased) {
			return l, err
		}
	}
}

func leaseTakeover(s *scope) {
	s.put(Record(211, 0))
	lost := s.acquire(211, "one", time.Microsecond)
	_, err := takeOver(s.ctx, s.store, 211, "two")
	s.must(err, "a lease that ended is taken over")
	s.leased(lost.Renew(s.ctx), "two")
	s.must(lost.Release(s.ctx), "releasing a lost lease is no error")
	_, err = s.store.Acquire(s.ctx, ID(211), "three", time.Hour)
	s.leased(err, "two")

	late := s.acquire(212, "one", time.Nanosecond)
	s.must(late.Renew(s.ctx), "a lease that ran out but that nobody took is renewed")
}

func leaseFence(s *scope) {
	other := s.another()
	defer func() { s.must(other.Close(), "Close releases the store") }()
	id := ID(221)
	s.put(Record(221, 0))
	old := s.acquire(221, "slept", time.Hour)
	slept := s.acquire(221, "slept", time.Microsecond)
	s.must(old.Release(s.ctx), "releasing a lost lease is no error, and leaves the one that replaced it")
	s.append(id, 0, "driven")
	next, err := takeOver(s.ctx, other, 221, "next")
	s.must(err, "a lease that ended is taken over")

	_, err = s.store.Append(s.ctx, id, At(1), JSON("too late"))
	s.leased(err, "next")
	_, err = s.store.AppendAll(s.ctx, id, At(1), []store.Payload{JSON("too late")})
	s.leased(err, "next")
	index, err := other.Append(s.ctx, id, At(1), JSON("taken over"))
	s.must(err, "the new owner appends")
	s.equal(index, uint64(1), "an append that lost its lease wrote nothing")
	s.indices(s.read(id), 0, 1)

	s.must(next.Release(s.ctx), "the holder releases")
	if _, err = s.store.Append(s.ctx, id, At(1), JSON("too late")); !errors.Is(err, store.ErrLeased) {
		s.Fatalf("a lost lease stops appends until it is acquired again, got %v", err)
	}
	if err := slept.Renew(s.ctx); !errors.Is(err, store.ErrLeased) {
		s.Fatalf("a lost lease is not renewed, got %v", err)
	}
	back := s.acquire(221, "slept", time.Hour)
	s.append(id, 2, "driven again")
	s.must(back.Release(s.ctx), "the holder releases")
	s.append(id, 3, "without a lease")
}
