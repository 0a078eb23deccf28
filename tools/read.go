package tools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/agent-lsp/agent-lsp/workspace"
)

// errTooBig says that a file is over the cap that it was to be read with.
var errTooBig = errors.New("the file is too big")

// readTool is the tool read.
type readTool struct{ *Executor }

type readArgs struct {
	Path string `json:"path" about:"relative to the workspace root; . is the root"`
}

func (readTool) Definition() Definition {
	return Define[readArgs]("read", "Read a text file, or list a directory. Unsaved text in the editor counts.", Read)
}

func (t readTool) Decide(_ context.Context, c Call) Decision {
	op := Arguments[readArgs](c)
	d := Decision{Title: "Read " + op.Path, Detail: op.Path, Key: "read", Effect: Read}
	paths := t.spellings(op.Path)
	d = t.applyRules(d, subject{family: FamilyRead, paths: paths}, "")
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
	text, err := workspace.ReadFile(root, filepath.FromSlash(p), limit)
	return string(text), unreadable(p, err)
}

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
	p, err := t.find(name)
	if err != nil {
		return failed(err)
	}
	if info, err := t.ws.Root().Stat(filepath.FromSlash(p)); err == nil && info.IsDir() {
		return listing(t.ws, p)
	}
	f, err := t.load(p, t.cfg.MaxRead)
	switch {
	case errors.Is(err, errTooBig):
		return failf("%s is not shown: %s, over the limit of %d. Look at parts of it with a command, sed or grep for instance.", p, strings.TrimPrefix(err.Error(), errTooBig.Error()+": "), t.cfg.MaxRead)
	case err != nil:
		return failed(pathError(p, err))
	case !f.exists:
		return failf("%s does not exist%s", p, nearNames(ctx, t.ws, p))
	case strings.IndexByte(f.text, 0) >= 0:
		return failf("%s is a binary file of %d bytes (%s)", p, len(f.text), binaryKind(f.text))
	}
	hash := t.seen.store(f.path, f.text)
	shown := strings.TrimPrefix(f.text, workspace.ByteOrderMark)
	if !utf8.ValidString(shown) {
		shown = "[this file is not UTF-8: bytes that are no characters are shown as \ufffd and cannot be written that way]\n" +
			strings.ToValidUTF8(shown, string(utf8.RuneError))
	}
	return Outcome{State: Completed, Text: shown, ReadHash: hash}
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
		{"\xff\xfe", "UTF-16 text"},
		{"\xfe\xff", "UTF-16 text"},
	} {
		if strings.HasPrefix(s, k.magic) {
			return k.name
		}
	}
	return "it has NUL bytes"
}
