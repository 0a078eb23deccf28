package lsp

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/agent-lsp/agent-lsp/checker"
	"github.com/agent-lsp/agent-lsp/lsp/editor"
	"github.com/agent-lsp/agent-lsp/lsp/text"
	"github.com/agent-lsp/agent-lsp/workspace"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"
)

// findings are the diagnostics that the client shows: by checked root, then by
// file. A file may be in the sets of several roots; the client gets their union.
type findings struct {
	editor *editor.Editor
	client *client
	log    *slog.Logger
	notify func(method string, params any)

	mu     sync.Mutex // guards what follows, and keeps the notifications in order
	sets   map[string]*findingSet
	sent   map[string]string // the URI under which a file, by key, has diagnostics
	failed map[string]bool   // roots, as in sets, whose last check failed

	shown  atomic.Int64 // how many are in sent
	asking atomic.Int64 // how many agent.check commands are running
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
func (s agentSide) Findings(root string, r checker.Result) { s.findings.receive(root, r) }

// receive shows the outcome of a check.
func (f *findings) receive(root string, r checker.Result) {
	r.Root = cmp.Or(r.Root, root)
	// A root may have a checker for each of its ecosystems.
	checked := r.Root + "\x00" + r.Ecosystem
	switch r.Outcome {
	case checker.Failed:
		f.log.Warn("unchecked: the checker gave no answer", "root", r.Root, "command", workspace.CommandLine(r.Command), "reason", r.Text)
	case checker.Skipped:
		f.log.Info("not checked", "root", r.Root, "reason", r.Text)
	}
	if f.setFailed(checked, r.Outcome == checker.Failed) && f.asking.Load() == 0 {
		f.showCheck(r)
	}
	if r.Outcome == checker.Failed || r.Outcome == checker.Skipped {
		f.dropDeleted(r.Root)
		return
	}
	set := &findingSet{workspace: root, root: r.Root, files: map[string]*fileFindings{}}
	texts := f.newTexts(r.Unsaved)
	for _, x := range r.Findings {
		where := f.place(x.Path)
		file := set.files[where.key]
		if file == nil {
			file = &fileFindings{path: where.path}
			set.files[where.key] = file
		}
		d := f.diagnostic(x, texts)
		file.diagnostics = append(file.diagnostics, d)
		file.lines = append(file.lines, fmt.Sprintf("%s:%d: %s: %s", f.shortPath(where.path), x.Range.Start.Line, x.Severity, oneLine(x.Message, 200)))
	}
	f.replaceFindings(checked, set)
}

// setFailed stores whether the check of a root failed, and reports whether it failed
// now and did not fail the last time.
func (f *findings) setFailed(checked string, failed bool) (began bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.failed == nil {
		f.failed = map[string]bool{}
	}
	began = failed && !f.failed[checked]
	f.failed[checked] = failed
	return began
}

// replaceFindings replaces a root's last set and publishes every file that had or
// has findings.
func (f *findings) replaceFindings(checked string, set *findingSet) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.sets == nil {
		f.sets, f.sent = map[string]*findingSet{}, map[string]string{}
	}
	changed := map[string]bool{}
	if old := f.sets[checked]; old != nil {
		for key := range old.files {
			changed[key] = true
		}
	}
	for key := range set.files {
		changed[key] = true
	}
	f.sets[checked] = set
	if len(set.files) == 0 {
		delete(f.sets, checked)
	}
	for _, key := range slices.Sorted(maps.Keys(changed)) {
		f.publish(key)
	}
}

// publish sends a file's diagnostics from all sets; the caller has locked
// findings.mu.
func (f *findings) publish(key string) {
	defer func() { f.shown.Store(int64(len(f.sent))) }()
	var path string
	list := []protocol.Diagnostic{}
	for _, root := range slices.Sorted(maps.Keys(f.sets)) {
		if x := f.sets[root].files[key]; x != nil {
			path = x.path
			list = append(list, x.diagnostics...)
		}
	}
	before, had := f.sent[key]
	if path == "" {
		if had {
			f.publishAs(before, nil, list)
			delete(f.sent, key)
		}
		return
	}
	name, version := f.spelling(path)
	if had && before != name {
		f.publishAs(before, nil, []protocol.Diagnostic{})
	}
	f.sent[key] = name
	f.publishAs(name, version, list)
}

func (f *findings) publishAs(name string, version *int32, list []protocol.Diagnostic) {
	p := &protocol.PublishDiagnosticsParams{URI: uri.URI(name), Diagnostics: list}
	if version != nil {
		p.Version = protocol.NewOptional(*version)
	}
	f.notify(protocol.MethodTextDocumentPublishDiagnostics, p)
}

// spelling returns a file's URI as the client spells it, and its version if open.
func (f *findings) spelling(path string) (string, *int32) {
	if x := f.editor.At(path); x != nil {
		return x.URI, new(x.Version)
	}
	if x, rel := f.editor.Folders.Holding(path); x != nil {
		return x.FileURI(rel), nil
	}
	return text.URI(path), nil
}

// place returns the place of a file's findings: a checker may name it by a path
// without the symlinks that the client's spelling has.
type place struct{ key, path string }

func (f *findings) place(path string) place {
	if x := f.editor.At(path); x != nil {
		return place{text.Key(text.URI(x.Real)), x.Path}
	}
	p := place{text.Key(text.URI(editor.RealPath(path))), path}
	if x, rel := f.editor.Folders.Holding(path); x != nil {
		p.path = x.Abs(rel)
	}
	return p
}

// shortPath returns a path relative to its folder.
func (f *findings) shortPath(path string) string {
	if _, rel := f.editor.Folders.Holding(path); rel != "" {
		return rel
	}
	return path
}

// respell publishes a file's diagnostics again after the client opened or closed it:
// the client may spell its URI another way than the server did.
func (f *findings) respell(x *editor.Document) {
	if x.Real == "" {
		return
	}
	key := text.Key(text.URI(x.Real))
	f.mu.Lock()
	defer f.mu.Unlock()
	if before, had := f.sent[key]; had && before != x.URI {
		for _, set := range f.sets {
			if file := set.files[key]; file != nil {
				file.path = x.Path
			}
		}
		f.publish(key)
	}
}

// removeFile clears the findings of a file, and of all files below it, that was
// deleted or renamed.
func (f *findings) removeFile(path string) {
	real := editor.RealPath(path)
	f.dropFindings(func(_, file string) bool {
		_, spelled := editor.Below(path, file)
		_, resolved := editor.Below(real, editor.RealPath(file))
		return spelled || resolved
	})
}

// dropDeleted clears the findings of a root's files that no longer exist, after a
// check that did not run.
func (f *findings) dropDeleted(root string) {
	f.dropFindings(func(of, file string) bool { return of == root && f.isDeleted(file) })
}

// isDeleted reports whether a file in a workspace folder is neither on the disk nor
// open.
func (f *findings) isDeleted(path string) bool {
	x, rel := f.editor.Folders.Holding(path)
	if x == nil || f.editor.At(path) != nil {
		return false
	}
	w, err := x.Workspace()
	if err != nil {
		return false
	}
	_, err = w.Root().Lstat(filepath.FromSlash(rel))
	return errors.Is(err, fs.ErrNotExist)
}

// dropFindings clears the findings of the files for which drop is true, by root
// and path.
func (f *findings) dropFindings(drop func(root, file string) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	changed := map[string]bool{}
	for checked, set := range f.sets {
		for key, x := range set.files {
			if drop(set.root, x.path) {
				delete(set.files, key)
				changed[key] = true
			}
		}
		if len(set.files) == 0 {
			delete(f.sets, checked)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(changed)) {
		f.publish(key)
	}
}

// forget clears the findings of a workspace folder.
func (f *findings) forget(x *editor.Folder) {
	f.mu.Lock()
	var roots []string
	for checked, set := range f.sets {
		_, inside := editor.Below(x.Dir(), set.root)
		if inside || set.workspace == x.Dir() {
			roots = append(roots, checked)
		}
	}
	f.mu.Unlock()
	for _, checked := range roots {
		f.replaceFindings(checked, &findingSet{})
	}
}

// lines returns the findings of a folder for the model, in order.
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

// diagnostic converts a finding to a diagnostic of the protocol.
func (f *findings) diagnostic(x checker.Finding, t *texts) protocol.Diagnostic {
	doc := t.of(x.Path)
	d := protocol.Diagnostic{
		Range:    f.findingRange(doc, x.Range, x.Unit),
		Severity: severity(x.Severity),
		Source:   protocol.NewOptional(strings.TrimSpace("agent-lsp " + x.Tool)),
	}
	if x.Code != "" {
		d.Code = protocol.String(x.Code)
	}
	message := x.Message
	for _, r := range x.Related {
		if !f.client.related {
			message += fmt.Sprintf("\n%s:%d: %s", f.shortPath(r.Path), r.Range.Start.Line, r.Message)
			continue
		}
		name, _ := f.spelling(f.place(r.Path).path)
		d.RelatedInformation = append(d.RelatedInformation, protocol.DiagnosticRelatedInformation{
			Location: protocol.Location{URI: uri.URI(name), Range: f.findingRange(t.of(r.Path), r.Range, x.Unit)},
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

// some reports whether the client shows any diagnostics of the server.
func (f *findings) some() bool { return f.shown.Load() > 0 }
