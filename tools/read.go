package tools

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/agent-lsp/agent-lsp/workspace"
)

// errTooBig says that a file is over the cap that it was to be read with.
var errTooBig = errors.New("the file is too big")

// readTool is the tool read.
type readTool struct{ *Executor }

type readArgs struct {
	Path   string `json:"path" about:"relative to the workspace root; . is the root"`
	Offset int    `json:"offset,omitzero" about:"first line, from 1"`
	Limit  int    `json:"limit,omitzero" about:"lines, at most 2000"`
}

func (readTool) Definition() Definition {
	return Define[readArgs]("read", "Read a text file, or list a directory. Unsaved text in the editor counts. At most 2000 lines or 64 KB a call; the result says where to go on. Free: nobody is asked.", Read)
}

func (t readTool) Decide(_ context.Context, c Call) Decision {
	op := Arguments[readArgs](c)
	d := Decision{Title: "Read " + op.Path, Detail: op.Path, Effect: Read, Path: op.Path}
	if op.Offset > 1 {
		d.Title += fmt.Sprintf(" from line %d", op.Offset)
	}
	paths := t.spellings(op.Path)
	d = t.decider().applyRules(d, subject{family: FamilyRead, paths: paths}, "")
	if d.Verdict != Deny && len(paths) > 0 && t.policy().otherName(t.ws.Root(), paths[len(paths)-1]) {
		d.Verdict, d.Reason = Deny, "it is the same file as one that a rule of the configuration keeps from being read"
	}
	return d
}

func (t readTool) Run(ctx context.Context, c Call) Outcome {
	return t.run(ctx, Arguments[readArgs](c))
}

// file is the current text of a path, from the open buffer or from disk.
type file struct {
	path   string // what edits and memory go by: the resolved path, or the open document's
	text   string
	exists bool
	open   bool
}

// find makes of a path that a model names the clean path that is meant.
func (e *Executor) find(name string) (string, error) {
	p, err := relative(e.ws.Dir(), name)
	if err != nil {
		return "", err
	}
	if _, ok := e.ws.Buffer(p); ok {
		// The editor's own spelling wins, but only for what lies inside.
		if _, err := resolve(e.ws.Root(), e.ws.Dir(), p); err != nil {
			return "", err
		}
		return p, nil
	}
	return resolve(e.ws.Root(), e.ws.Dir(), p)
}

// load answers the current text at a clean path; a path where nothing is has
// exists false. Anything but a regular file is an error.
func (e *Executor) load(p string, limit int64) (file, error) {
	f := file{path: p}
	if doc, ok := e.ws.Buffer(p); ok {
		f.text, f.open, f.exists = doc.Text, true, true
		if int64(len(f.text)) > limit {
			return f, fmt.Errorf("%w: %d bytes", errTooBig, len(f.text))
		}
		return f, nil
	}
	text, err := readFile(e.ws.Root(), p, limit)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	f.text, f.exists = text, err == nil
	return f, err
}

// Open opens a regular file below root for reading, without ever waiting for a
// device or a pipe. Errors name the file by p. The caller closes it.
func Open(root *os.Root, p string) (*os.File, error) {
	f, err := workspace.Open(root, filepath.FromSlash(p))
	return f, unreadable(p, err)
}

// readFile reads a regular file of at most limit bytes.
func readFile(root *os.Root, p string, limit int64) (string, error) {
	text, err := workspace.ReadText(root, filepath.FromSlash(p), limit)
	return text, unreadable(p, err)
}

// ReadText returns the text of a file of the workspace on the disk as the tools see
// it: that of UTF-16 with a mark as UTF-8, any other as it is.
func ReadText(root *os.Root, p string) (string, error) { return readFile(root, p, DefaultMaxFile) }

// unreadable is why a file is not read as a model is told it.
func unreadable(p string, err error) error {
	var irregular *workspace.IrregularError
	var size *workspace.SizeError
	switch {
	case errors.As(err, &irregular):
		return fmt.Errorf("%s is %s, not a file with text", p, workspace.Kind(irregular.Mode))
	case errors.As(err, &size) && size.Size > 0:
		return fmt.Errorf("%w: %d bytes", errTooBig, size.Size)
	case errors.As(err, &size):
		return fmt.Errorf("%w: more than %d bytes", errTooBig, size.Limit)
	}
	return err
}

func (t readTool) run(ctx context.Context, op readArgs) Outcome {
	name := op.Path
	if name == "" {
		name = "."
	}
	if op.Offset < 0 || op.Limit < 0 {
		return failf("not read: offset counts lines from 1 and limit is a number of lines; they are %d and %d", op.Offset, op.Limit)
	}
	p, err := t.find(name)
	if err != nil {
		return failed(err)
	}
	if info, err := t.ws.Root().Stat(filepath.FromSlash(p)); err == nil && info.IsDir() {
		return t.directory(p, op)
	}
	f, err := t.load(p, t.cfg.MaxRead)
	switch {
	case errors.Is(err, errTooBig) && !f.open:
		return t.long(p, op)
	case err != nil && !errors.Is(err, errTooBig):
		return failed(pathError(p, err))
	case !f.exists:
		return failf("%s does not exist%s", p, nearNames(ctx, t.ws, p))
	}
	shown := strings.TrimPrefix(f.text, workspace.ByteOrderMark)
	pg, err := t.page(strings.NewReader(shown), op)
	if errors.Is(err, errBinary) {
		return failf("%s is a binary file of %d bytes (%s)", p, len(f.text), binaryKind(f.text))
	}
	out := pageOutcome(p, pg, "lines")
	if out.State == Completed && t.seen.shown(f.path, f.text, pg) {
		out.ReadHash = hashText(f.text)
	}
	return out
}

// long reads a part of a file that is too long to be in memory.
func (t readTool) long(p string, op readArgs) Outcome {
	f, err := Open(t.ws.Root(), p)
	if err != nil {
		return failed(pathError(p, err))
	}
	defer f.Close() //nolint:errcheck // only read
	head := make([]byte, 64)
	n, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return failed(pathError(p, err))
	}
	var pg page
	text, err := workspace.NewReader(f)
	if err == nil {
		pg, err = t.page(text, op)
	}
	switch {
	case errors.Is(err, errBinary):
		return failf("%s is a binary file (%s)", p, binaryKind(string(head[:n])))
	case err != nil:
		return failed(pathError(p, err))
	}
	return pageOutcome(p, pg, "lines")
}

// page reads the part of a text that a call is for.
func (t readTool) page(r io.Reader, op readArgs) (page, error) {
	limit := pageLines
	if op.Limit > 0 {
		limit = min(op.Limit, pageLines)
	}
	return readPage(r, max(op.Offset, 1), limit, t.room(pageBytes))
}

// pageOutcome is the outcome of a read that found this page.
func pageOutcome(p string, pg page, what string) Outcome {
	if pg.from > 1 && pg.from > pg.total {
		return failf("%s has %s: offset %d is behind its end", p, thousands(pg.total)+" "+what, pg.from)
	}
	text := shownText(string(pg.text))
	if text != "" && strings.TrimSpace(text) == "" {
		// A text of blanks looks like no text at all, and is shown as such.
		text = strings.TrimSuffix(text, "\n") + "\n[nothing but blanks: " + quoted(text) + "]"
	}
	if note := pg.note(what); note != "" {
		text = strings.TrimSuffix(text, "\n") + "\n" + note
	}
	return Outcome{State: Completed, Text: text}
}

// binaryKind names the kind of a file by its first bytes.
func binaryKind(s string) string {
	for _, k := range []struct{ magic, name string }{
		{"\x7fELF", "an ELF program"},
		{"MZ", "a Windows program"},
		{"\x89PNG", "a PNG image"},
		{"\xff\xd8\xff", "a JPEG image"},
		{"GIF8", "a GIF image"},
		{"%PDF", "a PDF document"},
		{"PK\x03\x04", "a ZIP archive"},
		{"\x1f\x8b", "gzip data"},
		{"\x00asm", "a WebAssembly module"},
		{"SQLite format 3", "an SQLite database"},
		{"\xca\xfe\xba\xbe", "a Mach-O or Java class file"},
		{"\xcf\xfa\xed\xfe", "a Mach-O program"},
		{"\xff\xfe\x00\x00", "UTF-32 text"},
		{"\xff\xfe", "damaged UTF-16 text"},
		{"\xfe\xff", "damaged UTF-16 text"},
	} {
		if strings.HasPrefix(s, k.magic) {
			return k.name
		}
	}
	return "it has NUL bytes"
}
