package session

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/agent-lsp/agent-lsp/tools"
)

// lostJobs starts the note about jobs that ended with an earlier process.
const lostJobs = "interrupted: "

// jobsSeen are the jobs that a transcript says to run, by id.
type jobsSeen map[int]string

// result takes the result of a call.
func (j jobsSeen) result(c *call, r *event.Result) {
	if c == nil {
		return
	}
	switch id, command, ended := tools.JobOf(c.op, r.Text); {
	case ended:
		delete(j, id)
	case id > 0:
		j[id] = command
	}
}

// note takes a note: the one about lost jobs is about all of before.
func (j jobsSeen) note(n *event.Note) {
	if strings.HasPrefix(n.Text, lostJobs) {
		clear(j)
	}
}

// restoreJobs records which jobs the end of the session before has ended.
func (l *log) restoreJobs(ctx context.Context, s *Session) error {
	if len(l.jobs) == 0 {
		return nil
	}
	var lines []string
	for _, id := range slices.Sorted(maps.Keys(l.jobs)) {
		lines = append(lines, fmt.Sprintf("job %d (%s)", id, l.jobs[id]))
	}
	_, err := s.journal.record(ctx, &event.Note{Model: true, Text: lostJobs + "the session was suspended, which ended what ran in the background: " +
		strings.Join(lines, ", ") + "; start it again if it is needed"})
	return err
}
