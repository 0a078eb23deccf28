package lsptest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/agent-lsp/agent-lsp/lsp/text"
	"go.lsp.dev/protocol"
)

type protocolEncoding = protocol.PositionEncodingKind

func contains[E comparable](list []E, x E) bool { return slices.Contains(list, x) }

// buffer is an open document.
type buffer struct {
	uri     string // as it was opened
	version int32
	doc     *text.Doc
	saved   string // what the disk had when it was last read or written
}

// lookup finds a buffer under any spelling of its URI; e.mu is held.
func (e *Editor) lookup(uri string) *buffer { return e.buffers[text.Key(uri)] }

// Open opens a file with its text on disk, or as an empty new one, and answers
// its URI. A URI is opened as it is spelled; a path is an absolute one.
func (e *Editor) Open(file string) string {
	uri := asURI(file)
	path, err := text.Path(uri)
	if err != nil {
		e.fatalf("open: %s", err)
	}
	content, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		e.fatalf("open: %s", err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.open(e.newBuffer(uri, string(content)))
	return uri
}

// newBuffer is one with what the disk has.
func (e *Editor) newBuffer(uri, content string) *buffer {
	b := &buffer{uri: uri, version: 1}
	if e.options.ZeroVersion {
		b.version = 0
	}
	if content == "" && e.options.EmptyLine {
		content = "\n"
	}
	b.doc, b.saved = text.New(content), content
	return b
}

// OpenText opens a document of any scheme with a text, at a version.
func (e *Editor) OpenText(uri, content string, version int32) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.open(&buffer{uri: uri, version: version, doc: text.New(content)})
}

func asURI(file string) string {
	if i := strings.Index(file, ":"); i > 1 {
		return file
	}
	return text.URI(file)
}

// open sends didOpen; e.mu is held.
func (e *Editor) open(b *buffer) {
	e.buffers[text.Key(b.uri)] = b
	e.send(Message{Method: "textDocument/didOpen", Params: raw(object{"textDocument": object{
		"uri": b.uri, "languageId": language(b.uri), "version": b.version, "text": b.doc.String(),
	}})})
}

func language(uri string) string {
	if i := strings.LastIndexByte(uri, '.'); i >= 0 && !strings.Contains(uri[i:], "/") {
		return uri[i+1:]
	}
	return "plaintext"
}

// must answers the buffer of a URI; e.mu is held. It unlocks before it fails.
func (e *Editor) must(uri string) *buffer {
	b := e.lookup(uri)
	if b == nil {
		e.mu.Unlock()
		defer e.mu.Lock()
		e.fatalf("%s is not open in the editor", uri)
	}
	return b
}

// Change applies changes to a buffer as one didChange. The URI is sent as it is
// spelled here.
func (e *Editor) Change(uri string, changes ...text.Change) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.flush()
	e.change1(e.must(uri), uri, changes)
}

// change1 is Change; e.mu is held.
func (e *Editor) change1(b *buffer, spelled string, changes []text.Change) {
	b.doc = b.doc.Apply(changes, e.encoding)
	b.version += e.options.VersionStep
	list := []object{}
	for _, c := range changes {
		entry := object{"text": c.Text}
		if c.Range != nil {
			entry["range"] = jsonRange(*c.Range)
		}
		list = append(list, entry)
	}
	e.send(Message{Method: "textDocument/didChange", Params: raw(object{
		"textDocument": object{"uri": spelled, "version": b.version}, "contentChanges": list,
	})})
}

func jsonRange(r protocol.Range) object {
	place := func(p protocol.Position) object { return object{"line": p.Line, "character": p.Character} }
	return object{"start": place(r.Start), "end": place(r.End)}
}

// Replace changes the one place where old stands in a buffer, as typing does.
func (e *Editor) Replace(uri, old, new string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.flush()
	b := e.must(uri)
	at := strings.Index(b.doc.String(), old)
	if n := strings.Count(b.doc.String(), old); n != 1 {
		e.mu.Unlock()
		defer e.mu.Lock()
		e.fatalf("%q stands %d times in %s, want once", old, n, uri)
	}
	r := b.doc.Range(at, at+len(old), e.encoding)
	e.change1(b, b.uri, []text.Change{{Range: &r, Text: new}})
}

// SetText makes the whole text of a buffer another one, by edits of its lines.
func (e *Editor) SetText(uri, content string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.flush()
	b := e.must(uri)
	e.change1(b, b.uri, backwards(b.doc.Edits(content, e.encoding)))
}

// backwards makes changes, each against the result of the one before, of edits
// that are all against the same text.
func backwards(edits []protocol.TextEdit) []text.Change {
	slices.SortStableFunc(edits, func(x, y protocol.TextEdit) int {
		if c := int64(y.Range.Start.Line) - int64(x.Range.Start.Line); c != 0 {
			return int(c)
		}
		return int(int64(y.Range.Start.Character) - int64(x.Range.Start.Character))
	})
	changes := make([]text.Change, len(edits))
	for i, x := range edits {
		changes[i] = text.Change{Range: new(x.Range), Text: x.NewText}
	}
	return changes
}

// Save writes a buffer to its file and sends didSave.
func (e *Editor) Save(uri string) {
	e.mu.Lock()
	e.flush()
	b := e.must(uri)
	err := e.save(b)
	e.mu.Unlock()
	if err != nil {
		e.fatalf("save: %s", err)
	}
}

// save is Save; e.mu is held.
func (e *Editor) save(b *buffer) error {
	path, err := text.Path(b.uri)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path, []byte(b.doc.String()), 0o666); err != nil {
		return fmt.Errorf("save a buffer: %w", err)
	}
	b.saved = b.doc.String()
	e.send(Message{Method: "textDocument/didSave", Params: raw(object{"textDocument": object{"uri": b.uri}})})
	return nil
}

// CloseDocument closes a buffer; what was not saved is lost.
func (e *Editor) CloseDocument(uri string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.must(uri)
	delete(e.buffers, text.Key(uri))
	e.send(Message{Method: "textDocument/didClose", Params: raw(object{"textDocument": object{"uri": uri}})})
}

// Text is a buffer's text, ok whether it is open.
func (e *Editor) Text(uri string) (content string, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if b := e.lookup(uri); b != nil {
		return b.doc.String(), true
	}
	return "", false
}

// Version is a buffer's version, 0 where it is not open.
func (e *Editor) Version(uri string) int32 {
	e.mu.Lock()
	defer e.mu.Unlock()
	if b := e.lookup(uri); b != nil {
		return b.version
	}
	return 0
}

// Dirty says whether a buffer holds something that was not saved.
func (e *Editor) Dirty(uri string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	b := e.lookup(uri)
	return b != nil && b.doc.String() != b.saved
}
