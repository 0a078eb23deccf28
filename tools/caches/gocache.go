package caches

import (
	"bufio"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
)

// goRequest is a message of the go command, as package cmd/go/internal/cacheprog
// describes it; the body of a put follows as a JSON string of its own.
type goRequest struct {
	ID       int64
	Command  string
	ActionID []byte
	OutputID []byte
	BodySize int64
}

// goReply is the reply to one.
type goReply struct {
	ID            int64
	Err           string     `json:",omitzero"`
	KnownCommands []string   `json:",omitzero"`
	Miss          bool       `json:",omitzero"`
	OutputID      []byte     `json:",omitzero"`
	Size          int64      `json:",omitzero"`
	Time          *time.Time `json:",omitzero"`
	DiskPath      string     `json:",omitzero"`
}

// ServeGo is a GOCACHEPROG: it reads the build caches at private and at person, both in
// the form of the go command's own, and writes the private one alone. It returns when
// the go command closes it.
func ServeGo(in io.Reader, out io.Writer, person, private string) error {
	if err := os.MkdirAll(private, 0o700); err != nil {
		return err
	}
	own, err := openGoCache(private)
	if err != nil {
		return err
	}
	defer own.root.Close()
	layers := []goCache{own}
	if theirs, err := openGoCache(person); err == nil {
		defer theirs.root.Close()
		layers = append(layers, theirs)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read the build cache of the person: %w", err)
	}
	r, w := bufio.NewReaderSize(in, 1<<16), bufio.NewWriter(out)
	reply := func(m goReply) error {
		b, err := json.Marshal(m)
		if err == nil {
			_, err = w.Write(append(b, '\n'))
		}
		if err == nil {
			err = w.Flush() // what is buffered may be no whole request: there is no other time
		}
		return err
	}
	if err := reply(goReply{KnownCommands: []string{"get", "put", "close"}}); err != nil {
		return err
	}
	for {
		req, err := nextGoRequest(r)
		if errors.Is(err, io.EOF) {
			return nil // the go command was killed
		}
		if err != nil {
			return err
		}
		m := goReply{Err: "there is no command " + strconv.Quote(req.Command)}
		switch req.Command {
		case "get":
			m = lookUp(layers, req.ActionID)
		case "put":
			if m, err = own.put(req, r); err != nil {
				return err
			}
		case "close":
			return errors.Join(reply(goReply{ID: req.ID}), w.Flush())
		}
		m.ID = req.ID
		if err := reply(m); err != nil {
			return err
		}
	}
}

// nextGoRequest reads a request, without the body.
func nextGoRequest(r *bufio.Reader) (goRequest, error) {
	var req goRequest
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return req, err
		}
		if len(line) > 1 {
			return req, json.Unmarshal(line, &req)
		}
	}
}

// goCache is a directory in the form of the go command's build cache.
type goCache struct {
	dir  string
	root *os.Root
}

func openGoCache(dir string) (goCache, error) {
	root, err := os.OpenRoot(dir)
	return goCache{dir: dir, root: root}, err
}

// lookUp returns the first layer's entry of an action.
func lookUp(layers []goCache, action []byte) goReply {
	for i, c := range layers {
		if m, ok := c.get(action); ok {
			if i == 0 {
				c.touch(entryFile(action, "a"), entryFile(m.OutputID, "d"))
			}
			return m
		}
	}
	return goReply{Miss: true}
}

// entryFile is where the go command keeps an action's entry (a) or an output (d).
func entryFile(id []byte, kind string) string {
	name := hex.EncodeToString(id)
	if len(name) < 2 {
		name = "00" + name // no such id exists
	}
	return filepath.Join(name[:2], name+"-"+kind)
}

// get returns an action's entry when it and its output are there whole.
func (c goCache) get(action []byte) (goReply, bool) {
	text, err := c.root.ReadFile(entryFile(action, "a"))
	if err != nil {
		return goReply{}, false
	}
	f := strings.Fields(string(text)) // v1, action, output, size, nanoseconds
	if len(f) != 5 || f[0] != "v1" || f[1] != hex.EncodeToString(action) {
		return goReply{}, false
	}
	output, err1 := hex.DecodeString(f[2])
	size, err2 := strconv.ParseInt(f[3], 10, 64)
	nanos, err3 := strconv.ParseInt(f[4], 10, 64)
	if errors.Join(err1, err2, err3) != nil {
		return goReply{}, false
	}
	file := entryFile(output, "d")
	if info, err := c.root.Stat(file); err != nil || !info.Mode().IsRegular() || info.Size() != size {
		return goReply{}, false
	}
	at := time.Unix(0, nanos)
	return goReply{OutputID: output, Size: size, Time: &at, DiskPath: filepath.Join(c.dir, file)}, true
}

// touch marks files as used, at most once an hour: the oldest are removed first.
func (c goCache) touch(files ...string) {
	now := time.Now()
	for _, file := range files {
		if info, err := c.root.Stat(file); err == nil && now.Sub(info.ModTime()) > time.Hour {
			_ = c.root.Chtimes(file, now, now) // at worst it is removed early
		}
	}
}

// put stores an output and its action's entry. What cannot be stored is the reply's
// error; an error of its own says that the body cannot be read.
func (c goCache) put(req goRequest, r *bufio.Reader) (goReply, error) {
	body := io.Reader(strings.NewReader(""))
	var encoded *io.LimitedReader
	if req.BodySize > 0 {
		if _, err := r.ReadString('"'); err != nil {
			return goReply{}, err
		}
		encoded = &io.LimitedReader{R: r, N: (req.BodySize + 2) / 3 * 4}
		body = base64.NewDecoder(base64.StdEncoding, encoded)
	}
	file := entryFile(req.OutputID, "d")
	n, err := c.store(file, body)
	if err == nil && n != req.BodySize {
		err = fmt.Errorf("a body of %d bytes came with %d", req.BodySize, n)
	}
	if encoded != nil {
		if _, err := io.Copy(io.Discard, encoded); err != nil {
			return goReply{}, err
		}
		if _, err := r.ReadString('\n'); err != nil {
			return goReply{}, err
		}
	}
	if err == nil {
		entry := fmt.Sprintf("v1 %x %x %20d %20d\n", req.ActionID, req.OutputID, n, time.Now().UnixNano())
		_, err = c.store(entryFile(req.ActionID, "a"), strings.NewReader(entry))
	}
	if err != nil {
		return goReply{Err: "write the private build cache: " + err.Error()}, nil //nolint:nilerr // the go command reads it
	}
	return goReply{DiskPath: filepath.Join(c.dir, file)}, nil
}

// store writes a file whole or not at all.
func (c goCache) store(file string, text io.Reader) (int64, error) {
	if err := c.root.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return 0, err
	}
	part := fmt.Sprintf("%s.%d", file, os.Getpid())
	f, err := c.root.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return 0, err
	}
	n, err := io.Copy(f, text)
	if err = errors.Join(err, f.Close()); err == nil {
		err = c.root.Rename(part, file)
	}
	if err != nil {
		_ = c.root.Remove(part) // the first error says more
	}
	return n, err
}
