package lsp

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"

	"github.com/agent-lsp/agent-lsp/checker"
	"github.com/agent-lsp/agent-lsp/lsp/editor"
	"github.com/agent-lsp/agent-lsp/workspace"
	"go.lsp.dev/protocol"
)

// checkResult is one root's check.
type checkResult struct {
	Root     string         `json:"root"`
	Outcome  string         `json:"outcome"`
	Text     string         `json:"text"`
	Findings []checkFinding `json:"findings"`
	Command  []string       `json:"command"`
	TookMs   int64          `json:"tookMs"`
	Unseen   []checkUnseen  `json:"unseen,omitempty"`
}

// checkUnseen is an edited file that the check did not look at.
type checkUnseen struct {
	URI    string `json:"uri"`
	Path   string `json:"path"` // relative to the root
	Reason string `json:"reason"`
}

// checkFinding is a finding with positions in the client's encoding.
type checkFinding struct {
	URI      string           `json:"uri"`
	Range    checkRange       `json:"range"`
	Severity checker.Severity `json:"severity"`
	Code     string           `json:"code,omitzero"`
	Message  string           `json:"message"`
	Tool     string           `json:"tool"`
}

type checkRange struct {
	Start checkPosition `json:"start"`
	End   checkPosition `json:"end"`
}

type checkPosition struct {
	Line      uint32 `json:"line"`
	Character uint32 `json:"character"`
}

// check handles agent.check, {root?}: it runs the checkers of a root, or of every
// folder in turn.
func (s commands) check(ctx context.Context, a *arguments) (any, error) {
	root := s.rootArgument(a)
	engine, err := s.on(ctx, a)
	if err != nil {
		return nil, err
	}
	roots := s.editor.Folders.All()
	if root != nil {
		roots = []*editor.Folder{root}
	} else if len(roots) == 0 {
		if _, err := s.defaultRoot(); err != nil {
			return nil, err
		}
	}
	a.ticket.leave() // no later command depends on a check
	s.findings.asking.Add(1)
	defer s.findings.asking.Add(-1)
	results := []checkResult{}
	for _, f := range roots {
		checked, err := engine.Check(ctx, f.Dir())
		if err != nil {
			return nil, err
		}
		for _, r := range checked {
			results = append(results, s.checkResult(f, r))
			s.findings.showCheck(r)
		}
	}
	return struct {
		Results []checkResult `json:"results"`
	}{results}, nil
}

// showCheck shows a check's outcome as a message in an editor that has no transcript
// view: such an editor ignores a command's result.
func (f *findings) showCheck(r checker.Result) {
	if f.client.transcript {
		return
	}
	kind, said := protocol.MessageTypeInfo, r.ForPerson()+r.PATH()
	switch r.Outcome {
	case checker.Found:
		kind, said = protocol.MessageTypeWarning, "[check] `"+workspace.CommandLine(r.Command)+"` found "+problems(len(r.Findings))
	case checker.Failed:
		kind = protocol.MessageTypeWarning
	}
	f.notify(protocol.MethodWindowShowMessage, &protocol.ShowMessageParams{
		Type: kind, Message: fmt.Sprintf("agent: %s: %s", f.shortPath(r.Root), oneLine(said, 2000)),
	})
}

func problems(n int) string {
	if n == 1 {
		return "1 problem"
	}
	return fmt.Sprintf("%d problems", n)
}

func (s commands) checkResult(f *editor.Folder, r checker.Result) checkResult {
	out := checkResult{
		Root: r.Root, Outcome: r.Outcome.String(), Text: cmp.Or(r.Text, r.Note) + r.PATH(), Findings: []checkFinding{},
		Command: append([]string{}, r.Command...), TookMs: r.Took.Milliseconds(),
	}
	if out.Root == "" {
		out.Root = f.Dir()
	}
	for _, u := range r.Unseen {
		name, _ := s.findings.spelling(s.findings.place(u.Path).path)
		out.Unseen = append(out.Unseen, checkUnseen{URI: name, Path: relativeTo(out.Root, u.Path), Reason: u.Reason})
	}
	t := s.findings.newTexts(r.Unsaved)
	for _, x := range r.Findings {
		name, _ := s.findings.spelling(s.findings.place(x.Path).path)
		out.Findings = append(out.Findings, checkFinding{
			URI: name, Range: plainRange(s.findings.findingRange(t.of(x.Path), x.Range, x.Unit)),
			Severity: x.Severity, Code: x.Code, Message: x.Message, Tool: x.Tool,
		})
	}
	return out
}

func relativeTo(root, path string) string {
	rel, err := filepath.Rel(root, path)
	if err != nil {
		return path
	}
	return filepath.ToSlash(rel)
}

func plainRange(r protocol.Range) checkRange {
	return checkRange{checkPosition{r.Start.Line, r.Start.Character}, checkPosition{r.End.Line, r.End.Character}}
}
