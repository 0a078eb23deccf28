package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/agent-lsp/agent-lsp/session/store"
	"github.com/google/uuid"
)

// Retention says how long sessions are kept.
type Retention struct {
	Sessions int           // how many of the most recently used; 0 keeps all
	Age      time.Duration // since the last turn; 0 keeps all
}

// Prune deletes the sessions that are over either bound, the least recently used
// first, and returns their records. A session that a process drives is kept, and
// so is what cannot be read: a person decides about that.
func Prune(ctx context.Context, st store.Store, r Retention, now time.Time) ([]store.Session, error) {
	l, err := st.List(ctx)
	if err != nil {
		return nil, fmt.Errorf("prune sessions: %w", err)
	}
	byUse := l.Sessions
	slices.SortStableFunc(byUse, func(a, b store.Session) int { return b.UpdatedAt.Compare(a.UpdatedAt) })
	var gone []store.Session
	for i, s := range slices.Backward(byUse) {
		over := r.Sessions > 0 && i >= r.Sessions || r.Age > 0 && now.Sub(s.UpdatedAt) > r.Age
		if !over {
			continue
		}
		switch err := DeleteStored(ctx, st, s.ID); {
		case errors.Is(err, store.ErrLeased):
		case err != nil:
			return gone, err
		default:
			gone = append(gone, s)
		}
	}
	return gone, nil
}

// DeleteStored deletes a session that no process drives; one that is driven is
// store.ErrLeased.
func DeleteStored(ctx context.Context, st store.Store, id uuid.UUID) error {
	// Another name than the one this process drives sessions under: its own lease
	// must refuse, too.
	if _, err := acquire(ctx, st, id, "the deletion by "+owner(), time.Minute); err != nil {
		return fmt.Errorf("delete session %s: %w", id, err)
	}
	if err := st.Delete(ctx, id); err != nil { // the lease goes with it
		return fmt.Errorf("delete session %s: %w", id, err)
	}
	return nil
}
