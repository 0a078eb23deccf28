package session

import (
	"context"
	"fmt"
	"time"

	"github.com/agent-lsp/agent-lsp/session/store"
	"github.com/google/uuid"
)

// Move makes a stored session one of another workspace folder, given by its
// absolute path: the project has another place on this machine, or was renamed.
// The folder is not looked at; an edit that does not fit its files is refused when
// it is made. A session that a process drives is store.ErrLeased.
func Move(ctx context.Context, st store.Store, id uuid.UUID, root string) error {
	fail := func(err error) error { return fmt.Errorf("move session %s: %w", id, err) }
	lease, err := acquire(ctx, st, id, "the move by "+owner(), time.Minute)
	if err != nil {
		return fail(err)
	}
	defer lease.Release(context.WithoutCancel(ctx)) //nolint:errcheck // it ends by itself
	rec, ok, err := st.Get(ctx, id)
	switch {
	case err != nil:
		return fail(err)
	case !ok:
		return fail(&store.NotFoundError{ID: id})
	}
	rec.Root = root
	if err := st.Put(ctx, rec); err != nil {
		return fail(err)
	}
	return nil
}
