package session

import (
	"sync"

	"github.com/agent-lsp/agent-lsp/tools"
)

// todo is the session's list of things to do, as the model last gave it.
type todo struct {
	mu   sync.Mutex // guards list
	list string
}

// take keeps the list that a call has set, if it is one that sets it.
func (l *todo) take(op tools.Op) {
	if list, ok := tools.Todo(op); ok {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.list = list
	}
}

// reminder is what a request says at its end: the mode, and what is still to do.
func (s *Session) reminder() *string {
	text := s.mode.reminder(s.tools.Mode())
	s.todo.mu.Lock()
	defer s.todo.mu.Unlock()
	if s.todo.list == "" {
		return text
	}
	list := "Your list of things to do:\n" + s.todo.list
	if text != nil {
		list = *text + "\n\n" + list
	}
	return &list
}
