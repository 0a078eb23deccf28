package lsptest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/agent-lsp/agent-lsp/lsp/text"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.lsp.dev/protocol"
)

// EditAnswer is what an editor does with a workspace/applyEdit. Each is the way
// of some real client.
type EditAnswer string

// The ways to take an edit.
const (
	// EditBefore applies, sends didChange, and then replies true. It is the
	// default; a stale version has the reply false.
	EditBefore EditAnswer = "before"
	// EditAfter replies true, and then sends didChange, as VS Code does.
	EditAfter EditAnswer = "after"
	// EditLazy applies and replies true, and sends didChange only with Flush or
	// before the next change or save by the person, as editors do that wait for
	// the end of typing.
	EditLazy EditAnswer = "lazy"
	// EditStaleTrue is EditBefore, but a stale version is skipped and the reply is
	// true, and only the first entry's is looked at, as Neovim does.
	EditStaleTrue EditAnswer = "stale-true"
	// EditSkip replies true and does nothing.
	EditSkip EditAnswer = "skip"
	// EditOther applies another text and replies true, as a format hook does.
	EditOther EditAnswer = "other"
	// EditFormatted is EditBefore, but another change follows before the document is
	// saved, as from a formatter.
	EditFormatted EditAnswer = "formatted"
	// EditHalf applies the first half of the entries, at least one change of text
	// where there is one, and replies false.
	EditHalf EditAnswer = "half"
	// EditRefuse replies false.
	EditRefuse EditAnswer = "refuse"
	// EditError replies with a JSON-RPC error.
	EditError EditAnswer = "error"
	// EditNever does not reply and does nothing.
	EditNever EditAnswer = "never"
	// EditMute applies and sends didChange, but does not reply.
	EditMute EditAnswer = "mute"
	// EditTyped types a line at the start of the document before it looks at the
	// edit, which then is stale, and replies false.
	EditTyped EditAnswer = "typed"
	// EditTypedTrue is EditTyped, but replies true.
	EditTypedTrue EditAnswer = "typed-true"
	// EditUnheard is EditBefore, but text for a file that is not open goes into a
	// buffer that no server knows of, as in Helix where the file's language has
	// none: a file that is made stays empty on the disk.
	EditUnheard EditAnswer = "unheard"
	// EditHold keeps the request until Release.
	EditHold EditAnswer = "hold"
)

type applyParams struct {
	Label string `json:"label"`
	Edit  struct {
		Changes         map[string][]textEdit `json:"changes"`
		DocumentChanges []entry               `json:"documentChanges"`
	} `json:"edit"`
}

// entry is one of the kinds of documentChanges.
type entry struct {
	Kind         string `json:"kind"`
	URI          string `json:"uri"`
	OldURI       string `json:"oldUri"`
	NewURI       string `json:"newUri"`
	TextDocument *struct {
		URI     string `json:"uri"`
		Version *int32 `json:"version"`
	} `json:"textDocument"`
	Edits   []textEdit `json:"edits"`
	Options struct {
		Overwrite      bool `json:"overwrite"`
		IgnoreIfExists bool `json:"ignoreIfExists"`
	} `json:"options"`
}

type textEdit struct {
	Range   protocol.Range `json:"range"`
	NewText string         `json:"newText"`
}

// errStale is an edit of another version than the buffer's.
var errStale = errors.New("the document has another version")

// applyEdit handles the request; the caller has locked mu.
func (a *answering) applyEdit(m Message, how EditAnswer) {
	var p applyParams
	if err := json.Unmarshal(m.Params, &p); err != nil {
		a.fault("workspace/applyEdit does not decode: %s", err)
		a.respond(m.ID, nil, &Error{Code: -32602, Message: err.Error()})
		return
	}
	entries := p.entries()
	a.checkEdit(p, m.Params)
	a.formats = how == EditFormatted
	switch how {
	case EditSkip:
		a.applied(m.ID, nil)
	case EditRefuse:
		a.applied(m.ID, errors.New("the editor refuses edits"))
	case EditError:
		a.respond(m.ID, nil, &Error{Code: -32603, Message: "the editor is told to fail"})
	case EditNever:
	case EditMute:
		_, _ = a.perform(entries, true)
	case EditHalf:
		_, _ = a.perform(half(entries), true)
		a.applied(m.ID, errors.New("the editor failed half way"))
	case EditOther:
		disturb(entries)
		_, err := a.perform(entries, true)
		a.applied(m.ID, err)
	case EditTyped, EditTypedTrue:
		a.typeBefore(entries)
		_, err := a.perform(entries, true)
		if how == EditTypedTrue {
			err = nil
		}
		a.applied(m.ID, err)
	case EditUnheard:
		_, err := a.perform(slices.DeleteFunc(entries, func(x entry) bool { return x.TextDocument != nil && a.target(x) == nil }), true)
		a.applied(m.ID, err)
	case EditAfter, EditLazy:
		late, err := a.perform(entries, false)
		a.applied(m.ID, err)
		a.late = append(a.late, late...)
		if how == EditAfter {
			a.flush()
		}
	case EditStaleTrue:
		for i := range entries {
			if x := entries[i].TextDocument; i > 0 && x != nil {
				x.Version = nil
			}
		}
		_, err := a.perform(entries, true)
		if errors.Is(err, errStale) {
			err = nil
		}
		a.applied(m.ID, err)
	default:
		_, err := a.perform(entries, true)
		a.applied(m.ID, err)
	}
}

// entries are the changes in either form as those of documentChanges.
func (p applyParams) entries() []entry {
	entries := p.Edit.DocumentChanges
	for uri, edits := range p.Edit.Changes {
		x := entry{Edits: edits}
		x.TextDocument = &struct {
			URI     string `json:"uri"`
			Version *int32 `json:"version"`
		}{URI: uri}
		entries = append(entries, x)
	}
	return entries
}

// disturb makes edits give another text.
func disturb(entries []entry) {
	for _, x := range entries {
		for i := range x.Edits {
			x.Edits[i].NewText += "// put in by a hook\n"
		}
	}
}

// typeBefore types a line into each open document that entries would edit.
func (d *documents) typeBefore(entries []entry) {
	for _, x := range entries {
		if b := d.target(x); b != nil {
			d.change1(b, b.uri, []text.Change{{Range: &protocol.Range{}, Text: "typed meanwhile\n"}})
		}
	}
}

// Flush sends the didChange of edits that were taken lazily.
func (d *documents) Flush() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.flush()
}

func (d *documents) flush() {
	late := d.late
	d.late = nil
	for _, send := range late {
		send()
	}
}

func (d *documents) target(x entry) *buffer {
	if x.TextDocument == nil {
		return nil
	}
	return d.lookup(x.TextDocument.URI)
}

func (a *answering) applied(id jsontext.Value, err error) {
	if err != nil {
		a.respond(id, object{"applied": false, "failureReason": err.Error()}, nil)
		return
	}
	a.respond(id, object{"applied": true}, nil)
}

// half is the first half of the entries; of a single one the first half of its
// edits, or of its only edit's text.
func half(entries []entry) []entry {
	if len(entries) > 1 {
		return entries[:len(entries)/2]
	}
	for i := range entries {
		switch edits := entries[i].Edits; {
		case len(edits) > 1:
			entries[i].Edits = edits[:len(edits)/2]
		case len(edits) == 1:
			edits[0].NewText = edits[0].NewText[:len(edits[0].NewText)/2]
		}
	}
	return entries
}

// perform applies the entries in order, without a way back, as editors do. With
// now false the notifications of text changes are returned instead of sent.
func (d *documents) perform(entries []entry, now bool) (late []func(), err error) {
	for _, x := range entries {
		if x.TextDocument == nil {
			if err := d.fileOperation(x); err != nil {
				return late, err
			}
			continue
		}
		send, err := d.editText(x, now)
		if err != nil {
			return late, err
		}
		late = append(late, send)
	}
	return late, nil
}

// editText edits one document; one that is not open is opened, unsaved, as a
// background tab.
func (d *documents) editText(x entry, now bool) (late func(), err error) {
	uri := x.TextDocument.URI
	b := d.lookup(uri)
	if b == nil {
		if b, err = d.background(uri); err != nil {
			return nil, err
		}
	} else if v := x.TextDocument.Version; v != nil && *v != b.version {
		return nil, fmt.Errorf("%w: %d, the edit is of %d", errStale, b.version, *v)
	}
	edits := make([]protocol.TextEdit, len(x.Edits))
	for i, t := range x.Edits {
		edits[i] = protocol.TextEdit{Range: t.Range, NewText: t.NewText}
		d.checkRange(b, t.Range)
	}
	want, err := b.doc.ApplyEdits(edits, d.encoding)
	if err != nil {
		d.fault("edit of %s: %s", uri, err)
		return nil, err
	}
	changes := backwards(edits)
	commit := func() {
		d.change1(b, b.uri, changes)
		if got := b.doc.String(); got != want {
			d.fault("edits of %s give %q in their order and %q one by one", uri, want, got)
		}
	}
	if now {
		commit()
		commit = func() {}
	}
	if d.formats {
		d.change1(b, b.uri, []text.Change{{Range: &protocol.Range{}, Text: "formatted\n"}})
	}
	if d.options.SavesEdits {
		if !now { // what is saved must have been announced
			commit()
			commit = func() {}
		}
		return commit, d.save(b)
	}
	return commit, nil
}

func (d *documents) background(uri string) (*buffer, error) {
	path, err := text.Path(uri)
	if err != nil {
		return nil, err
	}
	content, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	b := d.newBuffer(uri, string(content))
	d.open(b)
	return b, nil
}

// fileOperation acts on the disk at once, as editors do.
func (d *documents) fileOperation(x entry) error {
	switch x.Kind {
	case "create":
		path, err := text.Path(x.URI)
		if err != nil {
			return err
		}
		if _, err := os.Lstat(path); err == nil {
			switch {
			case x.Options.Overwrite:
			case x.Options.IgnoreIfExists:
				return nil
			default:
				return fmt.Errorf("%s exists", path)
			}
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		return os.WriteFile(path, nil, 0o666)
	case "delete":
		path, err := text.Path(x.URI)
		if err != nil {
			return err
		}
		if b := d.lookup(x.URI); b != nil {
			delete(d.buffers, text.Key(x.URI))
			d.send(Message{Method: "textDocument/didClose", Params: raw(object{"textDocument": object{"uri": b.uri}})})
		}
		return os.Remove(path)
	case "rename":
		from, err := text.Path(x.OldURI)
		if err != nil {
			return err
		}
		to, err := text.Path(x.NewURI)
		if err != nil {
			return err
		}
		return os.Rename(from, to)
	}
	return fmt.Errorf("unknown operation %q", x.Kind)
}

// checkEdit finds what the client did not offer, or does not understand.
func (a *answering) checkEdit(p applyParams, raw jsontext.Value) {
	for _, x := range get[[]jsontext.Value](raw, "edit", "documentChanges") {
		document := get[jsontext.Value](x, "textDocument")
		if document != nil && get[jsontext.Value](document, "version") == nil {
			a.fault("edit without a version, not even null, which Neovim trips over: %s", x)
		}
	}
	if a.options.NoApplyEdit {
		a.fault("workspace/applyEdit was sent to a client without it")
	}
	if a.options.NoDocumentChanges && len(p.Edit.DocumentChanges) > 0 {
		a.fault("documentChanges were sent to a client without them")
	}
	for _, x := range p.Edit.DocumentChanges {
		if a.options.NoCreate && x.TextDocument == nil {
			a.fault("a resource operation %q was sent to a client without it", x.Kind)
		}
	}
}

// checkRange finds positions that are not in the document or not at a character.
func (d *documents) checkRange(b *buffer, r protocol.Range) {
	for _, p := range []protocol.Position{r.Start, r.End} {
		again := b.doc.Position(b.doc.Offset(p, d.encoding), d.encoding)
		// A new file's text may be reported as 0:0 to 1:0, which is right in all editors.
		if again != p && (b.doc.Len() != 0 || p.Line != 1 || p.Character != 0) {
			d.fault("position %d:%d is not in %s, which has %d lines", p.Line, p.Character, b.uri, b.doc.Lines())
		}
	}
}
