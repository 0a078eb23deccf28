// Package editor has the documents that a client has open and its workspace folders,
// and applies edits to them: to the buffer of an open document, through the client,
// and to the file. It uses the client through a small interface and knows no session
// and no command.
//
// documents.go has the buffers, view.go the text of a buffer and its file together,
// apply.go how an edit reaches a buffer, disk.go how it reaches the disk.
package editor

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/agent-lsp/agent-lsp/lsp/text"
	"github.com/agent-lsp/agent-lsp/tools"
	"go.lsp.dev/protocol"
)

// Client is the editor that shows the documents.
type Client interface {
	// Features are what it declared, once it was initialized.
	Features() Features
	// SavesEdits reports whether it saves the files of an edit before it replies.
	SavesEdits() bool
	// ApplyEdit sends it an edit and returns its reply. The error is
	// ErrGone when the connection has ended.
	ApplyEdit(ctx context.Context, p *protocol.ApplyWorkspaceEditParams) (applied bool, reason string, err error)
	// Gone is closed when the connection has ended.
	Gone() <-chan struct{}
	// Spawn runs a job that ends with the connection.
	Spawn(name string, job func()) bool
}

// Features are the capabilities that a client declared. Others are not used.
type Features struct {
	Encoding        text.Encoding // of columns
	ApplyEdit       bool          // supports workspace/applyEdit
	DocumentChanges bool          // with versions and resource operations
	Create          bool          // among them the creation of files
	Remove          bool          // and their deletion
	Several         bool          // says that it checks the version of each document of an edit
	EditMetadata    bool
}

// Limits are the longest waits. A zero member has its default.
type Limits struct {
	// Answer is how long a client may take to reply to workspace/applyEdit: it may
	// ask the person first. 20 s by default.
	Answer time.Duration
	// Landing is how long after the reply the edit's text may take to appear in
	// the document. 5 s by default.
	Landing time.Duration
	// Settle is how long a document that has neither the text before nor the text
	// after the edit must stay unchanged before it counts as another text, and how long
	// a text may still land after a refusal. 400 ms by default.
	Settle time.Duration
	// Save is how long a client that saves its edits, and a person whose editor
	// does not, have before the server checks who writes the file. 200 ms by default.
	Save time.Duration
	// Poll is the time between two reads of a file. 20 ms by default.
	Poll time.Duration
}

// WithDefaults fills the zero members.
func (l Limits) WithDefaults() Limits {
	for _, x := range []struct {
		at    *time.Duration
		value time.Duration
	}{
		{&l.Answer, 20 * time.Second},
		{&l.Landing, 5 * time.Second},
		{&l.Settle, 400 * time.Millisecond},
		{&l.Save, 200 * time.Millisecond},
		{&l.Poll, 20 * time.Millisecond},
	} {
		if *x.at == 0 {
			*x.at = x.value
		}
	}
	return l
}

// ErrGone is the error of a request to the client whose connection ended before the
// reply.
var ErrGone = errors.New("the editor is gone")

// Editor is the documents and folders of one client. Make it with New. It is safe
// for concurrent use; the client's notifications about documents must be passed on by one
// goroutine, in the order in which they came.
type Editor struct {
	Folders Folders

	client Client
	limits Limits
	log    *slog.Logger
	docs   *documents
	locks  locks // of files, by their real path
}

// New returns an editor without documents and folders.
func New(client Client, limits Limits, log *slog.Logger) *Editor {
	ed := &Editor{client: client, limits: limits.WithDefaults(), log: log, docs: newDocuments()}
	ed.Folders.editor = ed
	return ed
}

// Snapshot returns the open documents as they are now.
func (ed *Editor) Snapshot() Snapshot { return ed.docs.snapshot() }

// At returns the open document of the file at an absolute path, also one that the
// client opened through a symlink; nil when there is none.
func (ed *Editor) At(path string) *Document { return ed.docs.at(path) }

// Read returns the text on the disk of a file that is in a workspace folder.
func (ed *Editor) Read(path string) (string, bool) {
	f, name := ed.Folders.Holding(path)
	if f == nil {
		return "", false
	}
	w, err := f.workspace()
	if err != nil {
		return "", false
	}
	disk, err := w.disk.read(name)
	return disk, err == nil
}

// Workspace returns the folder as the tools see it.
func (x *Folder) Workspace() (tools.Workspace, error) {
	w, err := x.workspace()
	if err != nil {
		return nil, err // a nil *workspace must not become an interface
	}
	return w, nil
}

// Unsaved returns the texts of the open documents with unsaved changes that keep
// accepts, by absolute path.
func (ed *Editor) Unsaved(keep func(x *Document, f *Folder) bool) map[string]string {
	out := map[string]string{}
	for _, d := range ed.Snapshot() {
		if d.Path == "" {
			continue
		}
		f, name := ed.Folders.Holding(d.Path)
		if f == nil || !keep(d, f) {
			continue
		}
		if w, err := f.workspace(); err == nil && !w.diskHolds(name, d) && !d.onDisk {
			out[w.abs(name)] = d.Text.String()
		}
	}
	return out
}

// disconnected reports whether the connection has ended.
func (ed *Editor) disconnected() bool {
	select {
	case <-ed.client.Gone():
		return true
	default:
		return false
	}
}

// awaitDone waits until a context is canceled, after the connection has ended, when
// its owner is about to do that. An edit that the client can no longer reply to must
// not count as refused: the turn would continue without its person instead of being
// suspended.
func awaitDone(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}
