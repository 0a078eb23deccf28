package wire

import (
	"io"
	"sync"
)

// Pipe is a pipe inside of the process. Unlike io.Pipe it buffers what is written
// until it is read, without a limit, so that two peers which both write before
// they read do not deadlock: it is for peers that trust each other. Closing the
// writer gives the reader io.EOF after the rest; closing the reader gives the
// writer io.ErrClosedPipe.
func Pipe() (io.ReadCloser, io.WriteCloser) {
	p := &pipe{}
	p.cond.L = &p.mu
	return (*pipeReader)(p), (*pipeWriter)(p)
}

type pipe struct {
	mu                      sync.Mutex
	cond                    sync.Cond // data came or an end was closed
	data                    []byte
	at                      int // data[:at] was read
	writeClosed, readClosed bool
}

type (
	pipeReader pipe
	pipeWriter pipe
)

func (r *pipeReader) Read(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.at == len(r.data) && !r.writeClosed && !r.readClosed {
		r.cond.Wait()
	}
	switch {
	case r.readClosed:
		return 0, io.ErrClosedPipe
	case r.at == len(r.data):
		return 0, io.EOF
	}
	n := copy(b, r.data[r.at:])
	if r.at += n; r.at == len(r.data) {
		r.at = 0
		if r.data = r.data[:0]; cap(r.data) > keptBuffer {
			r.data = nil
		}
	}
	return n, nil
}

func (r *pipeReader) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.readClosed, r.data, r.at = true, nil, 0
	r.cond.Broadcast()
	return nil
}

func (w *pipeWriter) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.readClosed || w.writeClosed {
		return 0, io.ErrClosedPipe
	}
	w.data = append(w.data, b...)
	w.cond.Broadcast()
	return len(b), nil
}

func (w *pipeWriter) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.writeClosed = true
	w.cond.Broadcast()
	return nil
}
