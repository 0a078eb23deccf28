package session

import (
	"cmp"
	"context"
	"path/filepath"
	"strings"

	"github.com/agent-lsp/agent-lsp/checker"
	"github.com/agent-lsp/agent-lsp/session/event"
	disk "github.com/agent-lsp/agent-lsp/workspace" // workspace is a type of this package
)

// check runs the checker over the roots of the edited files and returns what the
// model reads of it, behind the text of the edit's result. The call is the last of the
// edits.
func (s performer) check(t *turn, c *call, edited []string) string {
	paths := make([]string, len(edited))
	for i, p := range edited {
		paths[i] = filepath.Join(s.root, filepath.FromSlash(p))
	}
	var text strings.Builder
	if why := s.mayCheck(t, c, paths); why != "" {
		r := checker.Result{Outcome: checker.Skipped, Root: s.root, New: -1, Text: why}
		if _, err := s.journal.record(s.ctx, checkEvent(s.root, t.id, r)); err != nil && s.ctx.Err() == nil {
			s.log.Error("record a check", "session", s.id, "err", err)
		}
		return "\n\n" + r.ForModel()
	}
	s.setDoing("checking")
	for _, r := range s.cfg.Checker.AfterEdit(t.ctx, s.root, paths) {
		if t.ctx.Err() != nil {
			return text.String()
		}
		if _, err := s.journal.record(s.ctx, checkEvent(s.root, t.id, r)); err != nil && s.ctx.Err() == nil {
			s.log.Error("record a check", "session", s.id, "err", err)
		}
		s.manager.Report(s.root, r)
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
	ev := &event.Check{Turn: turn, Root: disk.Relative(root, r.Root), Outcome: r.Outcome.String(), Text: cmp.Or(r.Text, r.Note), Command: r.Command}
	for _, f := range r.Findings {
		ev.Findings = append(ev.Findings, event.Finding{
			Path: disk.Relative(root, f.Path), Line: f.Range.Start.Line, Column: f.Range.Start.Column,
			Severity: string(f.Severity), Code: f.Code, Message: f.Message,
		})
	}
	for _, u := range r.Unseen {
		ev.Unseen = append(ev.Unseen, event.Unseen{Path: disk.Relative(root, u.Path), Reason: u.Reason})
	}
	ev.Title = ev.Heading()
	return ev
}

// Check runs the checkers of a workspace folder now, one result for each root in
// it; for a folder without any the result is why it was skipped.
func (m *Manager) Check(ctx context.Context, folder string) ([]checker.Result, error) {
	roots, err := m.cfg.Checker.Roots(ctx, folder)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		m.cfg.Log.Warn("not every root was looked for", "folder", folder, "err", err)
	}
	if len(roots) == 0 {
		roots = []string{folder}
	}
	var out []checker.Result
	for _, root := range roots {
		r := m.cfg.Checker.Check(ctx, folder, root)
		if err := ctx.Err(); err != nil {
			return out, err
		}
		m.Report(folder, r)
		out = append(out, r)
	}
	return out, nil
}

// Report shows what a check in a workspace folder came to, and keeps it for Status.
// One that a newer check replaced, or was reported before, shows nothing.
func (m *Manager) Report(folder string, r checker.Result) {
	if r.Superseded {
		return
	}
	m.reporting.Lock()
	defer m.reporting.Unlock()
	key := r.Root + "\x00" + r.Ecosystem
	m.mu.Lock()
	late := !r.Began.IsZero() && m.checks[key].Began.After(r.Began)
	if !late {
		m.checks[key] = r
	}
	m.mu.Unlock()
	if !late {
		m.editor.Findings(folder, r)
	}
}
