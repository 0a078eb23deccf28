package memory_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/agent-lsp/agent-lsp/session/store"
	"github.com/agent-lsp/agent-lsp/session/store/memory"
	"github.com/agent-lsp/agent-lsp/session/store/storetest"
)

func TestConformance(t *testing.T) {
	storetest.Run(t, func(*testing.T) store.Store { return memory.New() })
}

func TestSaysThatItForgets(t *testing.T) {
	if !store.Forgets(memory.New()) {
		t.Error("memory claims to keep what it holds")
	}
}

func TestLeaseEndsWithItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memory.New()
		defer s.Close()
		l, err := s.Acquire(t.Context(), storetest.ID(1), "one", time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(59 * time.Second)
		if err := l.Renew(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute - time.Nanosecond)
		if _, err := s.Acquire(t.Context(), storetest.ID(1), "two", time.Minute); err == nil {
			t.Fatal("a lease was taken a moment before its end")
		}
		time.Sleep(time.Nanosecond)
		if _, err := s.Acquire(t.Context(), storetest.ID(1), "two", time.Minute); err != nil {
			t.Fatal(err)
		}
	})
}
