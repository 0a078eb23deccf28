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

// documents are the open buffers and how they change; conn.mu guards them.
type documents struct {
	*conn
	encoding text.Encoding
	buffers  map[string]*buffer // by text.Key of the URI
	late     []func()           // didChanges that EditLazy has kept back
	formats  bool               // a formatter changes what the edit that is being taken changed
}

// lookup finds a buffer under any spelling of its URI; the caller has locked mu.
func (d *documents) lookup(uri string) *buffer { return d.buffers[text.Key(uri)] }

// Open opens a file with its text on disk, or as an empty new one, and returns
// its URI. A URI is opened as it is spelled; a path is an absolute one.
func (d *documents) Open(file string) string {
	uri := asURI(file)
	path, err := text.Path(uri)
	if err != nil {
		d.fatalf("open: %s", err)
	}
	content, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		d.fatalf("open: %s", err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.open(d.newBuffer(uri, string(content)))
	return uri
}

// newBuffer is one with what the disk has.
func (d *documents) newBuffer(uri, content string) *buffer {
	b := &buffer{uri: uri, version: 1}
	if d.options.ZeroVersion {
		b.version = 0
	}
	if content == "" && d.options.EmptyLine {
		content = "\n"
	}
	b.doc, b.saved = text.New(content), content
	return b
}

// OpenText opens a document of any scheme with a text, at a version.
func (d *documents) OpenText(uri, content string, version int32) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.open(&buffer{uri: uri, version: version, doc: text.New(content)})
}

func asURI(file string) string {
	if i := strings.Index(file, ":"); i > 1 {
		return file
	}
	return text.URI(file)
}

// open sends didOpen; the caller has locked mu.
func (d *documents) open(b *buffer) {
	d.buffers[text.Key(b.uri)] = b
	d.send(Message{Method: "textDocument/didOpen", Params: raw(object{"textDocument": object{
		"uri": b.uri, "languageId": language(b.uri), "version": b.version, "text": b.doc.String(),
	}})})
}

func language(uri string) string {
	if i := strings.LastIndexByte(uri, '.'); i >= 0 && !strings.Contains(uri[i:], "/") {
		return uri[i+1:]
	}
	return "plaintext"
}

// must returns the buffer of a URI; the caller has locked mu. It unlocks before it fails.
func (d *documents) must(uri string) *buffer {
	b := d.lookup(uri)
	if b == nil {
		d.mu.Unlock()
		defer d.mu.Lock()
		d.fatalf("%s is not open in the editor", uri)
	}
	return b
}

// Change applies changes to a buffer as one didChange. The URI is sent as it is
// spelled here.
func (d *documents) Change(uri string, changes ...text.Change) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.flush()
	d.change1(d.must(uri), uri, changes)
}

// change1 is Change; the caller has locked mu.
func (d *documents) change1(b *buffer, spelled string, changes []text.Change) {
	b.doc = b.doc.Apply(changes, d.encoding)
	b.version += d.options.VersionStep
	list := []object{}
	for _, c := range changes {
		entry := object{"text": c.Text}
		if c.Range != nil {
			entry["range"] = jsonRange(*c.Range)
		}
		list = append(list, entry)
	}
	d.send(Message{Method: "textDocument/didChange", Params: raw(object{
		"textDocument": object{"uri": spelled, "version": b.version}, "contentChanges": list,
	})})
}

func jsonRange(r protocol.Range) object {
	place := func(p protocol.Position) object { return object{"line": p.Line, "character": p.Character} }
	return object{"start": place(r.Start), "end": place(r.End)}
}

// Replace changes the one place where old stands in a buffer, as typing does.
func (d *documents) Replace(uri, old, new string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.flush()
	b := d.must(uri)
	at := strings.Index(b.doc.String(), old)
	if n := strings.Count(b.doc.String(), old); n != 1 {
		d.mu.Unlock()
		defer d.mu.Lock()
		d.fatalf("%q stands %d times in %s, want once", old, n, uri)
	}
	r := b.doc.Range(at, at+len(old), d.encoding)
	d.change1(b, b.uri, []text.Change{{Range: &r, Text: new}})
}

// SetText makes the whole text of a buffer another one, by edits of its lines.
func (d *documents) SetText(uri, content string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.flush()
	b := d.must(uri)
	d.change1(b, b.uri, backwards(b.doc.Edits(content, d.encoding)))
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
func (d *documents) Save(uri string) {
	d.mu.Lock()
	d.flush()
	b := d.must(uri)
	err := d.save(b)
	d.mu.Unlock()
	if err != nil {
		d.fatalf("save: %s", err)
	}
}

// save is Save; the caller has locked mu.
func (d *documents) save(b *buffer) error {
	path, err := text.Path(b.uri)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path, []byte(b.doc.String()), 0o666); err != nil {
		return fmt.Errorf("save a buffer: %w", err)
	}
	b.saved = b.doc.String()
	d.send(Message{Method: "textDocument/didSave", Params: raw(object{"textDocument": object{"uri": b.uri}})})
	return nil
}

// CloseDocument closes a buffer; what was not saved is lost.
func (d *documents) CloseDocument(uri string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.must(uri)
	delete(d.buffers, text.Key(uri))
	d.send(Message{Method: "textDocument/didClose", Params: raw(object{"textDocument": object{"uri": uri}})})
}

// Text is a buffer's text, ok whether it is open.
func (d *documents) Text(uri string) (content string, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if b := d.lookup(uri); b != nil {
		return b.doc.String(), true
	}
	return "", false
}

// Version is a buffer's version, 0 where it is not open.
func (d *documents) Version(uri string) int32 {
	d.mu.Lock()
	defer d.mu.Unlock()
	if b := d.lookup(uri); b != nil {
		return b.version
	}
	return 0
}

// Dirty says whether a buffer holds something that was not saved.
func (d *documents) Dirty(uri string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	b := d.lookup(uri)
	return b != nil && b.doc.String() != b.saved
}
