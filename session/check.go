package session

import (
	"path/filepath"
	"strings"

	"github.com/agent-lsp/agent-lsp/checker"
	"github.com/agent-lsp/agent-lsp/session/event"
)

// check runs the checker over the roots of the edited files and answers what the
// model reads of it, behind the text of the edit's result.
func (s *Session) check(t *turn, edited []string) string {
	s.setDoing("checking")
	paths := make([]string, len(edited))
	for i, p := range edited {
		paths[i] = filepath.Join(s.root, filepath.FromSlash(p))
	}
	var text strings.Builder
	for _, r := range s.cfg.Checker.AfterEdit(t.ctx, s.root, paths) {
		if t.ctx.Err() != nil {
			return text.String()
		}
		if _, err := s.journal.record(s.ctx, checkEvent(s.root, t.id, r)); err != nil && s.ctx.Err() == nil {
			s.log.Error("record a check", "session", s.id, "err", err)
		}
		if !r.Superseded {
			s.manager.checked(r)
			s.editor.Findings(s.root, r)
		}
		if m := r.ForModel(); m != "" {
			text.WriteString("\n\n")
			text.WriteString(m)
		}
	}
	return text.String()
}

// checkEvent is a check as the transcript keeps it: paths are relative to the
// workspace, and nothing in it changes from run to run.
func checkEvent(root string, turn uint64, r checker.Result) *event.Check {
	ev := &event.Check{Turn: turn, Root: relative(root, r.Root), Outcome: r.Outcome.String(), Text: r.Text, Command: r.Command}
	for _, f := range r.Findings {
		ev.Findings = append(ev.Findings, event.Finding{
			Path: relative(root, f.Path), Line: f.Range.Start.Line, Column: f.Range.Start.Column,
			Severity: string(f.Severity), Code: f.Code, Message: f.Message,
		})
	}
	return ev
}

// relative spells an absolute path below root with slashes; another one as it is.
func relative(root, path string) string {
	rel, err := filepath.Rel(root, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return filepath.ToSlash(path)
	}
	return filepath.ToSlash(rel)
}
