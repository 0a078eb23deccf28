package contract

import (
	"sync"

	"github.com/google/uuid"
)

// Fences remembers which leases a handle took, so that its appends are refused
// once another owner has taken one of them. The zero value is ready.
type Fences struct {
	mu     sync.Mutex // guards tokens
	tokens map[uuid.UUID]string
}

// Set remembers the token of the lease on id.
func (f *Fences) Set(id uuid.UUID, token string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.tokens == nil {
		f.tokens = map[uuid.UUID]string{}
	}
	f.tokens[id] = token
}

// Get returns the token that an append to id must still find, empty for none.
func (f *Fences) Get(id uuid.UUID) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.tokens[id]
}

// Drop forgets the lease on id if it is the one of token.
func (f *Fences) Drop(id uuid.UUID, token string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.tokens[id] == token {
		delete(f.tokens, id)
	}
}
