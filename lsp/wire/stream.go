package wire

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"go.lsp.dev/jsonrpc2"
)

// The limits of a stream.
const (
	keptBuffer  = 1 << 20  // a bigger buffer is released after its message
	firstBuffer = 64 << 10 // of a body that has not arrived yet, whatever length it claims
	maxHeader   = 16 << 10 // bytes of one frame's header
	maxQueued   = 32 << 20 // bytes that wait for a client which does not read
	writeChunk  = 1 << 20  // under one deadline

	closeLimit = 100 * time.Millisecond // for closing both ends
)

// stream frames messages over a pair of pipes. It has only the library's public
// methods: with its raw frame methods the library would reply to batches.
//
// What is written is queued and sent by a goroutine of the stream, so that a
// client which does not read for a while blocks neither the reader nor the jobs that
// send to it.
type stream struct {
	in       io.ReadCloser
	out      io.WriteCloser
	log      *slog.Logger
	max      int
	patience time.Duration

	// onEnd is called with the error that ended reading or writing. Reading then
	// waits for shut, because the library sends no replies once a read has failed.
	onEnd    func(error)
	closed   chan struct{}
	shutOnce sync.Once
	written  chan struct{} // closed when the sender has ended

	reader *bufio.Reader
	body   []byte // the read buffer, which decoded requests borrow

	mu      sync.Mutex // guards what follows
	cond    sync.Cond  // the queue changed, or will not change any more
	scratch []byte     // one encoded message
	queue   []byte     // frames to be sent
	broken  error      // nothing is accepted any more
	last    bool       // nothing is queued after this
}

// newStream starts the sending goroutine, which ends with shut.
func newStream(in io.ReadCloser, out io.WriteCloser, limit int, patience time.Duration, log *slog.Logger, onEnd func(error)) *stream {
	s := &stream{
		in: in, out: out, log: log, max: limit, patience: patience, onEnd: onEnd,
		closed: make(chan struct{}), written: make(chan struct{}),
		reader: bufio.NewReaderSize(in, 32<<10),
	}
	s.cond.L = &s.mu
	go s.sendQueue()
	return s
}

// Read returns the next message that can be decoded, and sends errors for those
// before it that cannot.
func (s *stream) Read(context.Context) (jsonrpc2.Message, int64, error) {
	for {
		m, n, err := s.read()
		if err != nil {
			s.onEnd(err)
			<-s.closed
			return nil, n, err
		}
		if m != nil {
			return m, n, nil
		}
	}
}

// read returns nil for a frame that was refused.
func (s *stream) read() (jsonrpc2.Message, int64, error) {
	length, err := s.readHeader()
	if err != nil {
		return nil, 0, err
	}
	if length > int64(s.max) {
		s.refuse(jsonrpc2.InvalidRequest, fmt.Sprintf("message of %d bytes is over the limit of %d", length, s.max))
		if _, err := io.CopyN(io.Discard, s.reader, length); err != nil {
			return nil, 0, cut(err)
		}
		return nil, length, nil
	}
	body, err := s.readBody(int(length))
	if err != nil {
		return nil, 0, err
	}
	body = bytes.TrimLeft(bytes.TrimPrefix(body, []byte("\ufeff")), " \t\r\n")
	if len(body) == 0 {
		return nil, length, nil
	}
	if body[0] == '[' {
		s.refuse(jsonrpc2.InvalidRequest, "batches are not part of the language server protocol: send one message a frame")
		return nil, length, nil
	}
	// The library's scanner finds where members end and does not look into them.
	if !jsontext.Value(body).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) {
		s.refuse(jsonrpc2.ParseError, "message is not valid JSON")
		return nil, length, nil
	}
	m, err := jsonrpc2.DecodeMessage(body)
	if err == nil {
		return m, length, nil
	}
	if errors.Is(err, jsonrpc2.ErrInvalidRequest) {
		s.refuse(jsonrpc2.InvalidRequest, "message is neither a request, a notification nor a response of JSON-RPC 2.0")
	} else {
		s.refuse(jsonrpc2.ParseError, "message is not one JSON object")
	}
	return nil, length, nil
}

// readHeader reads up to the blank line and returns the body's length. Line feeds
// alone, blank lines before a header and unknown fields are tolerated.
func (s *stream) readHeader() (length int64, err error) {
	length = -1
	size := 0
	for {
		line, err := s.reader.ReadSlice('\n')
		size += len(line)
		if errors.Is(err, io.EOF) && size > 0 {
			return 0, io.ErrUnexpectedEOF
		}
		if errors.Is(err, bufio.ErrBufferFull) || size > maxHeader {
			return 0, fmt.Errorf("%w: longer than %d bytes", ErrHeader, maxHeader)
		}
		if err != nil {
			return 0, err
		}
		text := strings.TrimSpace(string(line))
		if text == "" {
			if length >= 0 {
				return length, nil
			}
			if size == len(line) {
				size = 0
				continue
			}
			return 0, fmt.Errorf("%w: no Content-Length", ErrHeader)
		}
		name, value, ok := strings.Cut(text, ":")
		if !ok {
			return 0, fmt.Errorf("%w: %.40q is no field", ErrHeader, text)
		}
		if strings.EqualFold(strings.TrimSpace(name), "Content-Length") {
			length, err = strconv.ParseInt(strings.TrimSpace(value), 10, 64)
			if err != nil || length < 0 {
				return 0, fmt.Errorf("%w: Content-Length is %.40q", ErrHeader, value)
			}
		}
	}
}

// readBody reads n bytes into the buffer, which grows as they arrive.
func (s *stream) readBody(n int) ([]byte, error) {
	if cap(s.body) > keptBuffer {
		s.body = nil
	}
	if cap(s.body) < min(n, firstBuffer) {
		s.body = make([]byte, min(n, firstBuffer))
	}
	buf := s.body[:0]
	for len(buf) < n {
		if len(buf) == cap(buf) {
			grown := make([]byte, len(buf), min(n, 2*cap(buf)))
			copy(grown, buf)
			buf = grown
		}
		k := min(n, cap(buf))
		if _, err := io.ReadFull(s.reader, buf[len(buf):k]); err != nil {
			return nil, cut(err)
		}
		buf = buf[:k]
	}
	s.body = buf
	return buf, nil
}

// cut says that the end of input came in the middle of a frame.
func cut(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// refuse sends an error reply to a message whose id is not known.
func (s *stream) refuse(code jsonrpc2.Code, text string) {
	s.log.Warn("message refused", "why", text)
	_, _ = s.Write(context.Background(), jsonrpc2.NewResponse(jsonrpc2.ID{}, nil, jsonrpc2.NewError(code, text)))
}

// Write queues one message. It waits only while the queue is full.
func (s *stream) Write(_ context.Context, m jsonrpc2.Message) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.queue) >= maxQueued && s.broken == nil {
		s.cond.Wait()
	}
	if s.broken != nil {
		return 0, s.broken
	}
	s.scratch = jsonrpc2.AppendMessage(s.scratch[:0], m)
	if !utf8.Valid(s.scratch) { // an error may quote bytes of the input
		s.scratch = bytes.ToValidUTF8(s.scratch, []byte("\ufffd"))
	}
	before := len(s.queue)
	s.queue = append(s.queue, "Content-Length: "...)
	s.queue = strconv.AppendInt(s.queue, int64(len(s.scratch)), 10)
	s.queue = append(s.queue, "\r\n\r\n"...)
	s.queue = append(s.queue, s.scratch...)
	if cap(s.scratch) > keptBuffer {
		s.scratch = nil
	}
	s.cond.Broadcast()
	return int64(len(s.queue) - before), nil
}

// sendQueue sends what is queued until an error or the end. A frame may have been
// sent in part when it fails, so nothing is accepted after that.
func (s *stream) sendQueue() {
	defer close(s.written)
	var sending []byte
	for {
		s.mu.Lock()
		for len(s.queue) == 0 && !s.last {
			s.cond.Wait()
		}
		if len(s.queue) == 0 {
			s.mu.Unlock()
			return
		}
		sending, s.queue = s.queue, sending[:0]
		s.cond.Broadcast()
		s.mu.Unlock()
		if err := s.send(sending); err != nil {
			s.mu.Lock()
			s.broken = fmt.Errorf("write to the client: %w", err)
			s.queue = nil
			s.cond.Broadcast()
			s.mu.Unlock()
			s.onEnd(s.broken)
			return
		}
		if cap(sending) > keptBuffer {
			sending = nil
		}
	}
}

// send writes in pieces, so that a slow reader of a big message does not count as
// a dead one. Where there are no deadlines, closing the output ends a write.
func (s *stream) send(frames []byte) error {
	d, _ := s.out.(interface{ SetWriteDeadline(time.Time) error })
	for len(frames) > 0 {
		if d != nil {
			_ = d.SetWriteDeadline(time.Now().Add(s.patience))
		}
		n, err := s.out.Write(frames[:min(len(frames), writeChunk)])
		if err != nil {
			return err
		}
		frames = frames[n:]
	}
	return nil
}

// Close is for the library, which calls it when it has given up on the
// connection. The server decides when it ends.
func (s *stream) Close() error {
	s.onEnd(io.ErrClosedPipe)
	return nil
}

// shut sends what is queued, for at most limit, closes both ends and ends a waiting
// Read.
func (s *stream) shut(limit time.Duration) {
	s.shutOnce.Do(func() {
		s.mu.Lock()
		s.last = true
		if s.broken == nil {
			s.broken = io.ErrClosedPipe
		}
		s.cond.Broadcast()
		s.mu.Unlock()
		t := time.NewTimer(limit)
		defer t.Stop()
		select {
		case <-s.written:
		case <-t.C:
			s.log.Warn("the client did not read the last messages")
		}
		close(s.closed)
		ends := make(chan struct{})
		go func() {
			defer close(ends)
			_ = s.out.Close()
			_ = s.in.Close()
		}()
		t.Reset(closeLimit)
		select {
		case <-ends:
		case <-t.C: // some systems close a file only after the read that waits on it
		}
	})
}
