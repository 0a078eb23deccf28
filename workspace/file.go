package workspace

import (
	"fmt"
	"io"
	"io/fs"
	"os"
)

// ByteOrderMark begins some files of UTF-8 text. Editors show no character for it
// and keep it when they save, so that no column counts it.
const ByteOrderMark = "\ufeff"

// IrregularError says that a name leads to something else than a regular file: a
// pipe or a device of the same name might never end.
type IrregularError struct{ Mode fs.FileMode }

// Error names what is there.
func (e *IrregularError) Error() string {
	return "it is not a regular file but " + Kind(e.Mode)
}

// SizeError says that a file is larger than it may be.
type SizeError struct {
	Size  int64 // 0 when the file grew while it was read
	Limit int64 // in bytes
}

// Error names the limit.
func (e *SizeError) Error() string { return fmt.Sprintf("it is larger than %d bytes", e.Limit) }

// Open opens a regular file for reading without ever waiting for a device or a
// pipe: below root, or by its path when root is nil. Links are followed. The error
// is an IrregularError for anything else. The caller closes the file.
func Open(root *os.Root, name string) (*os.File, error) {
	stat, open := os.Stat, os.OpenFile
	if root != nil {
		stat, open = root.Stat, root.OpenFile
	}
	info, err := stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &IrregularError{Mode: info.Mode()}
	}
	f, err := open(name, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, err
	}
	// What was looked at may have been swapped for something else.
	if info, err = f.Stat(); err == nil && !info.Mode().IsRegular() {
		err = &IrregularError{Mode: info.Mode()}
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// ReadFile reads a whole regular file, opened as Open does. The error is a
// SizeError, and no part of the text is returned, when it has more than limit bytes.
func ReadFile(root *os.Root, name string, limit int64) ([]byte, error) {
	f, err := Open(root, name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > limit {
		return nil, &SizeError{Size: info.Size(), Limit: limit}
	}
	text := make([]byte, 0, info.Size()+1)
	for {
		n, err := f.Read(text[len(text):cap(text)])
		text = text[:len(text)+n]
		switch {
		case int64(len(text)) > limit:
			return nil, &SizeError{Limit: limit}
		case err == io.EOF:
			return text, nil
		case err != nil:
			return nil, err
		case len(text) == cap(text):
			text = append(text, 0)[:len(text)]
		}
	}
}

// Kind names what a file that is not a regular one is.
func Kind(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "a directory"
	case m&fs.ModeSymlink != 0:
		return "a symbolic link"
	case m&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	case m&fs.ModeDevice != 0:
		return "a device"
	}
	return "a special file"
}
