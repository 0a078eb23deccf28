package session

import (
	"context"
	"fmt"
)

// stalled implements journal.stalled: it says that the session waits for its
// store, and asks once whether it shall go on unsaved.
func (s *Session) stalled(ctx context.Context, why error) {
	if why == nil {
		s.setDoing("")
		return
	}
	s.log.Error("the session cannot be saved; it does nothing until it can be", "session", s.id, "err", why)
	s.setDoing("waiting until the session can be saved: " + why.Error())
	if s.ctx != nil {
		ctx = s.ctx // the question outlives the turn that met it
	}
	go s.unsaved.Do(func() {
		if s.mayGoUnsaved(ctx, why) {
			close(s.journal.forget)
		}
	})
}

// mayGoUnsaved asks the person whether the session goes on although it cannot be
// saved.
func (s *Session) mayGoUnsaved(ctx context.Context, why error) bool {
	a := s.editor.Approve(ctx, Question{
		Session: s.id, Decisions: []Decision{AllowOnce, Deny}, Title: "This session cannot be saved: " + why.Error(),
		Detail: fmt.Sprintf("It does nothing until it can be: make room, or repair what is named here, and it goes on by itself. "+
			"Unsaved it goes on at once, but what it does from here on is lost when the server ends, and session %s may then do it again.", s.id),
	})
	return a.Decision == AllowOnce || a.Decision == AllowSession
}
