package editor

import (
	"fmt"
	"maps"
	"strings"
	"sync"

	"github.com/agent-lsp/agent-lsp/lsp/text"
)

// Document is one state of an open buffer. It is immutable: a change makes
// another one.
type Document struct {
	URI     string // as the client spelled it in didOpen
	Path    string // of the file, as spelled; "" where the scheme is not file
	Real    string // Path without symlinks
	Version int32
	Text    *text.Doc

	key string // text.Key of URI
	// disk is the file's text when it and the buffer were last in step: as the buffer
	// was opened, saved, or found equal. Known says that the file was read then.
	disk  string
	known bool
	// onDisk says that the file was found to have this very text: if it no longer
	// has, somebody changed or deleted it behind the buffer, which has no unsaved
	// changes.
	onDisk bool
	// lost says that a change could not be read: the text is not the client's.
	lost bool
}

// documents are the open buffers. Only notifications change them, in the order in
// which they arrive.
type documents struct {
	mu      sync.Mutex           // guards what follows
	open    map[string]*Document // by key
	byReal  map[string]string    // key by path without symlinks
	landing map[string][]*landing
	// shared is a copy of open for readers, nil after a change.
	shared Snapshot
}

// Snapshot is all open buffers at one point of the message stream, by key.
type Snapshot map[string]*Document

// Named returns the document of a URI, nil when it is not open.
func (s Snapshot) Named(uri string) *Document { return s[text.Key(uri)] }

// File returns the document of the file at an absolute path, under any spelling; nil
// when it is not open.
func (s Snapshot) File(path string) *Document {
	if x := s[text.Key(text.URI(path))]; x != nil {
		return x
	}
	real := RealPath(path)
	for _, x := range s {
		if x.Real == real {
			return x
		}
	}
	return nil
}

func newDocuments() *documents {
	return &documents{open: map[string]*Document{}, byReal: map[string]string{}, landing: map[string][]*landing{}}
}

// snapshot returns the buffers as they are now.
func (d *documents) snapshot() Snapshot {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.shared == nil {
		d.shared = maps.Clone(d.open)
	}
	return d.shared
}

// named returns the buffer of a URI, nil when it is not open.
func (d *documents) named(uri string) *Document {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.open[text.Key(uri)]
}

// opened adds a buffer, or replaces one that the client opens twice.
func (d *documents) opened(uri string, version int32, s string) *Document {
	x := &Document{URI: strings.Clone(uri), key: text.Key(uri), Version: version, Text: text.New(s)}
	if p, err := text.Path(uri); err == nil {
		x.Path, x.Real = p, RealPath(p)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.put(x)
	d.notify(x, x.Text)
	return x
}

// changed applies changes to a buffer, each against the result of the one before.
func (d *documents) changed(uri string, version int32, changes []text.Change, e text.Encoding) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	old := d.open[text.Key(uri)]
	if old == nil {
		return fmt.Errorf("change of %s, which is not open", uri)
	}
	x := *old
	x.Version, x.onDisk = version, false
	for _, c := range changes {
		x.lost = x.lost && c.Range != nil // the whole text repairs it
	}
	if len(d.watchers(old)) > 0 {
		// A client may merge an edit with what the person typed after it.
		for i := range changes {
			x.Text = x.Text.Apply(changes[i:i+1], e)
			d.notify(old, x.Text)
		}
	} else {
		x.Text = x.Text.Apply(changes, e)
	}
	d.put(&x)
	return nil
}

// lose marks a buffer as lost: a change of it could not be read.
func (d *documents) lose(uri string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if x := d.open[text.Key(uri)]; x != nil {
		y := *x
		y.lost = true
		d.put(&y)
	}
}

// closed removes a buffer.
func (d *documents) closed(uri string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	x := d.open[text.Key(uri)]
	if x == nil {
		return fmt.Errorf("close of %s, which is not open", uri)
	}
	delete(d.open, x.key)
	if d.byReal[x.Real] == x.key {
		delete(d.byReal, x.Real)
		for _, other := range d.open { // opened through another link, too
			if other.Real == x.Real && x.Real != "" {
				d.byReal[x.Real] = other.key
			}
		}
	}
	d.shared = nil
	d.nudge(x)
	return nil
}

// saved wakes those that wait for the buffer's text to reach the disk, and returns
// the buffer, nil when it is not open.
func (d *documents) saved(uri string) *Document {
	d.mu.Lock()
	defer d.mu.Unlock()
	x := d.open[text.Key(uri)]
	if x != nil {
		d.nudge(x)
	}
	return x
}

// put stores a state; the caller has locked mu.
func (d *documents) put(x *Document) {
	d.open[x.key] = x
	if x.Real != "" {
		d.byReal[x.Real] = x.key
	}
	d.shared = nil
}

// at returns the buffer of the file at an absolute path, also one that the client
// opened through another symlink.
func (d *documents) at(path string) *Document {
	key := text.Key(text.URI(path))
	d.mu.Lock()
	x := d.open[key]
	d.mu.Unlock()
	if x != nil {
		return x
	}
	real := RealPath(path)
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.open[d.byReal[real]]
}

// inStep stores the file's text when it and the buffer were in step, and whether
// that is the text of x, which the buffer may no longer have.
func (d *documents) inStep(x *Document, disk string, onDisk bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.open[x.key]
	if now == nil || now.known && now.disk == disk && now.onDisk == onDisk {
		return
	}
	y := *now
	y.disk, y.known = disk, true
	y.onDisk = onDisk && now.Text == x.Text
	d.put(&y)
}

// giveUp marks the unsaved text of x as not wanted any more: its file was deleted on
// purpose.
func (d *documents) giveUp(x *Document) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if now := d.open[x.key]; now != nil && now.Text == x.Text {
		y := *now
		y.onDisk = true
		d.put(&y)
	}
}

// landing is a watch for a text to appear in the buffer of one file.
type landing struct {
	real string
	want string
	wake chan struct{} // has one token when something happened
	// Guarded by documents.mu:
	landed bool // some state of the buffer was want
	states int  // how many states there were since the watch began
}

// watch starts a watch of the buffer of a file, open or not.
func (d *documents) watch(path, want string) *landing {
	l := &landing{real: RealPath(path), want: want, wake: make(chan struct{}, 1)}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.landing[l.real] = append(d.landing[l.real], l)
	return l
}

// unwatch ends a watch.
func (d *documents) unwatch(l *landing) {
	d.mu.Lock()
	defer d.mu.Unlock()
	rest := d.landing[l.real]
	for i := range rest {
		if rest[i] == l {
			rest = append(rest[:i:i], rest[i+1:]...)
			break
		}
	}
	if d.landing[l.real] = rest; len(rest) == 0 {
		delete(d.landing, l.real)
	}
}

// landingState returns whether the text appeared, and how many states there were.
func (d *documents) landingState(l *landing) (landed bool, states int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return l.landed, l.states
}

func (d *documents) watchers(x *Document) []*landing { return d.landing[x.Real] }

// notify reports a state to the watches of a buffer; the caller has locked mu.
func (d *documents) notify(x *Document, state *text.Doc) {
	for _, l := range d.watchers(x) {
		l.states++
		l.landed = l.landed || state.String() == l.want
	}
	d.nudge(x)
}

func (d *documents) nudge(x *Document) {
	for _, l := range d.watchers(x) {
		select {
		case l.wake <- struct{}{}:
		default:
		}
	}
}
