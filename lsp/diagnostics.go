package lsp

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/agent-lsp/agent-lsp/checker"
	"github.com/agent-lsp/agent-lsp/lsp/editor"
	"github.com/agent-lsp/agent-lsp/lsp/text"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"
)

// findings are what the client shows as diagnostics: by checked root, then by
// file. A file may stand in the sets of several roots; the client gets their union.
type findings struct {
	mu   sync.Mutex // guards what follows, and keeps the notifications in order
	sets map[string]*findingSet
	sent map[string]string // the URI under which a file, by key, has diagnostics
	dumb map[string]bool   // roots, as in sets, whose last check failed

	shown  atomic.Int64 // how many are in sent
	asking atomic.Int64 // how many agent.check run
}

// findingSet is the last check of one root.
type findingSet struct {
	workspace string // the workspace folder, as the engine named it
	root      string
	files     map[string]*fileFindings
}

// fileFindings are one file's, by key of its URI.
type fileFindings struct {
	path        string // as the client spells its folder
	diagnostics []protocol.Diagnostic
	lines       []string // for the model
}

// Findings implements session.Editor.
func (s *Server) Findings(root string, r checker.Result) {
	r.Root = cmp.Or(r.Root, root)
	// A root may have a checker for each of its ecosystems.
	checked := r.Root + "\x00" + r.Ecosystem
	switch r.Outcome {
	case checker.Failed:
		s.log.Warn("unchecked: the checker gave no answer", "root", r.Root, "command", strings.Join(r.Command, " "), "reason", r.Text)
	case checker.Skipped:
		s.log.Info("not checked", "root", r.Root, "reason", r.Text)
	}
	if s.findings.fails(checked, r.Outcome == checker.Failed) && s.findings.asking.Load() == 0 {
		s.showCheck(r)
	}
	if r.Outcome == checker.Failed || r.Outcome == checker.Skipped {
		s.dropGone(r.Root)
		return
	}
	set := &findingSet{workspace: root, root: r.Root, files: map[string]*fileFindings{}}
	texts := s.newTexts(r.Unsaved)
	for _, f := range r.Findings {
		where := s.place(f.Path)
		file := set.files[where.key]
		if file == nil {
			file = &fileFindings{path: where.path}
			set.files[where.key] = file
		}
		d := s.diagnostic(f, texts)
		file.diagnostics = append(file.diagnostics, d)
		file.lines = append(file.lines, fmt.Sprintf("%s:%d: %s: %s", s.shortPath(where.path), f.Range.Start.Line, f.Severity, oneLine(f.Message, 200)))
	}
	s.replaceFindings(checked, set)
}

// fails notes whether the check of a root failed, and reports whether it does now
// and did not the last time.
func (f *findings) fails(checked string, failed bool) (began bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.dumb == nil {
		f.dumb = map[string]bool{}
	}
	began = failed && !f.dumb[checked]
	f.dumb[checked] = failed
	return began
}

// replaceFindings puts a set in the place of a root's last one and tells the
// client of every file that had or has findings.
func (s *Server) replaceFindings(checked string, set *findingSet) {
	s.findings.mu.Lock()
	defer s.findings.mu.Unlock()
	if s.findings.sets == nil {
		s.findings.sets, s.findings.sent = map[string]*findingSet{}, map[string]string{}
	}
	changed := map[string]bool{}
	if old := s.findings.sets[checked]; old != nil {
		for key := range old.files {
			changed[key] = true
		}
	}
	for key := range set.files {
		changed[key] = true
	}
	s.findings.sets[checked] = set
	if len(set.files) == 0 {
		delete(s.findings.sets, checked)
	}
	for _, key := range slices.Sorted(maps.Keys(changed)) {
		s.publish(key)
	}
}

// publish sends what all sets hold of a file; the caller holds findings.mu.
func (s *Server) publish(key string) {
	defer func() { s.findings.shown.Store(int64(len(s.findings.sent))) }()
	var path string
	list := []protocol.Diagnostic{}
	for _, root := range slices.Sorted(maps.Keys(s.findings.sets)) {
		if f := s.findings.sets[root].files[key]; f != nil {
			path = f.path
			list = append(list, f.diagnostics...)
		}
	}
	before, had := s.findings.sent[key]
	if path == "" {
		if had {
			s.publishAs(before, nil, list)
			delete(s.findings.sent, key)
		}
		return
	}
	name, version := s.spelling(path)
	if had && before != name {
		s.publishAs(before, nil, []protocol.Diagnostic{})
	}
	s.findings.sent[key] = name
	s.publishAs(name, version, list)
}

func (s *Server) publishAs(name string, version *int32, list []protocol.Diagnostic) {
	p := &protocol.PublishDiagnosticsParams{URI: uri.URI(name), Diagnostics: list}
	if version != nil {
		p.Version = protocol.NewOptional(*version)
	}
	s.notify(protocol.MethodTextDocumentPublishDiagnostics, p)
}

// spelling is a file's URI as the client knows it, and its version where open.
func (s *Server) spelling(path string) (string, *int32) {
	if x := s.editor.At(path); x != nil {
		return x.URI, new(x.Version)
	}
	if f, rel := s.editor.Folders.Holding(path); f != nil {
		return f.FileURI(rel), nil
	}
	return text.URI(path), nil
}

// place is where findings about a file are kept: a checker may name it by a path
// without the symlinks that the client's spelling has.
type place struct{ key, path string }

func (s *Server) place(path string) place {
	if x := s.editor.At(path); x != nil {
		return place{text.Key(text.URI(x.Real)), x.Path}
	}
	p := place{text.Key(text.URI(editor.RealPath(path))), path}
	if f, rel := s.editor.Folders.Holding(path); f != nil {
		p.path = f.Abs(rel)
	}
	return p
}

// shortPath is a path relative to its folder.
func (s *Server) shortPath(path string) string {
	if _, rel := s.editor.Folders.Holding(path); rel != "" {
		return rel
	}
	return path
}

// respell tells the client its diagnostics of a file again, after it opened or
// closed it: it may spell it another way than the server did.
func (s *Server) respell(x *editor.Document) {
	if x.Real == "" {
		return
	}
	key := text.Key(text.URI(x.Real))
	s.findings.mu.Lock()
	defer s.findings.mu.Unlock()
	if before, had := s.findings.sent[key]; had && before != x.URI {
		for _, set := range s.findings.sets {
			if f := set.files[key]; f != nil {
				f.path = x.Path
			}
		}
		s.publish(key)
	}
}

// vanished clears the findings of a file, and of all files below it, that was
// deleted or renamed.
func (s *Server) vanished(path string) {
	real := editor.RealPath(path)
	s.dropFindings(func(_, file string) bool {
		_, spelled := editor.Below(path, file)
		_, resolved := editor.Below(real, editor.RealPath(file))
		return spelled || resolved
	})
}

// dropGone clears the findings of a root's files that are there no more, after a
// check of it that could not look.
func (s *Server) dropGone(root string) {
	s.dropFindings(func(of, file string) bool { return of == root && s.isGone(file) })
}

// isGone reports whether a file in a workspace folder is neither on the disk nor
// open.
func (s *Server) isGone(path string) bool {
	f, rel := s.editor.Folders.Holding(path)
	if f == nil || s.editor.At(path) != nil {
		return false
	}
	w, err := f.Workspace()
	if err != nil {
		return false
	}
	_, err = w.Root().Lstat(filepath.FromSlash(rel))
	return errors.Is(err, fs.ErrNotExist)
}

// dropFindings clears the findings of the files for which drop is true, by root
// and path.
func (s *Server) dropFindings(drop func(root, file string) bool) {
	s.findings.mu.Lock()
	defer s.findings.mu.Unlock()
	changed := map[string]bool{}
	for checked, set := range s.findings.sets {
		for key, f := range set.files {
			if drop(set.root, f.path) {
				delete(set.files, key)
				changed[key] = true
			}
		}
		if len(set.files) == 0 {
			delete(s.findings.sets, checked)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(changed)) {
		s.publish(key)
	}
}

// forget clears the findings of a workspace folder.
func (s *Server) forget(x *editor.Folder) {
	s.findings.mu.Lock()
	var roots []string
	for checked, set := range s.findings.sets {
		_, inside := editor.Below(x.Dir(), set.root)
		if inside || set.workspace == x.Dir() {
			roots = append(roots, checked)
		}
	}
	s.findings.mu.Unlock()
	for _, checked := range roots {
		s.replaceFindings(checked, &findingSet{})
	}
}

// lines are the findings of a folder for the model, in order.
func (f *findings) lines(x *editor.Folder) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []string
	for _, set := range f.sets {
		for _, file := range set.files {
			if _, ok := editor.Below(x.Dir(), file.path); ok {
				out = append(out, file.lines...)
			}
		}
	}
	slices.Sort(out)
	return out
}

// diagnostic is a finding in the client's terms.
func (s *Server) diagnostic(f checker.Finding, t *texts) protocol.Diagnostic {
	doc := t.of(f.Path)
	d := protocol.Diagnostic{
		Range:    s.findingRange(doc, f.Range, f.Unit),
		Severity: severity(f.Severity),
		Source:   protocol.NewOptional(strings.TrimSpace("agent-lsp " + f.Tool)),
	}
	if f.Code != "" {
		d.Code = protocol.String(f.Code)
	}
	message := f.Message
	for _, r := range f.Related {
		if !s.client.related {
			message += fmt.Sprintf("\n%s:%d: %s", s.shortPath(r.Path), r.Range.Start.Line, r.Message)
			continue
		}
		name, _ := s.spelling(s.place(r.Path).path)
		d.RelatedInformation = append(d.RelatedInformation, protocol.DiagnosticRelatedInformation{
			Location: protocol.Location{URI: uri.URI(name), Range: s.findingRange(t.of(r.Path), r.Range, f.Unit)},
			Message:  r.Message,
		})
	}
	d.Message = protocol.String(message)
	return d
}

func severity(s checker.Severity) protocol.DiagnosticSeverity {
	switch s {
	case checker.Warning:
		return protocol.DiagnosticSeverityWarning
	case checker.Info:
		return protocol.DiagnosticSeverityInformation
	case checker.Hint:
		return protocol.DiagnosticSeverityHint
	}
	return protocol.DiagnosticSeverityError
}

// some reports that the client shows diagnostics of the server's.
func (f *findings) some() bool { return f.shown.Load() > 0 }
