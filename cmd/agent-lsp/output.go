package main

import (
	"io"
	"sync"
)

// output is standard output. It keeps the first error of a write, so that a
// command whose output was lost, on a full disk say, does not end as a success.
type output struct {
	w io.Writer

	mu  sync.Mutex // guards err
	err error
}

// Write writes p.
func (o *output) Write(p []byte) (int, error) {
	n, err := o.w.Write(p)
	if err != nil {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.err == nil {
			o.err = err
		}
	}
	return n, err
}

// lost answers the first error of a write.
func (o *output) lost() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}
