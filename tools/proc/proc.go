// Package proc starts, bounds and ends programs: it is the one place of the
// module that runs any. A program runs in a session and process group of its
// own, with the null device as its input, for a bounded time, with bounded
// output kept in bounded memory; when it ends, by itself or not, everything that
// it started ends too. It knows nothing of workspaces, policies or models.
package proc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// The defaults of a Spec.
const (
	DefaultGrace = 500 * time.Millisecond
	DefaultKeep  = 256 << 10
)

// drain is how long output may still come after the program itself ended, from
// what it left in the background. It is never waited out when the pipes close.
var drain = 200 * time.Millisecond // a variable for tests

// killWait bounds how long a killed program may take to end, which is only long when
// the kernel is stuck in it.
const killWait = 5 * time.Second

// Spec says what to run.
type Spec struct {
	// Argv is the program and its arguments; no shell sees them. A program named
	// with a separator is looked up below Dir, another one on Env's PATH.
	Argv []string
	// Dir is the absolute path of the working directory.
	Dir string
	// Env is the whole environment; nil means what Environment passes of the
	// server's own.
	Env []string
	// Timeout bounds the whole run; zero means no limit, a negative one has
	// already passed: nothing is started and the result is TimedOut.
	Timeout time.Duration
	// Grace is the time between requesting the group to end and killing it; zero means
	// DefaultGrace, a negative one kills at once.
	Grace time.Duration
	// KeepHead and KeepTail are how many bytes of each stream are kept from its
	// start and from its end; zero means DefaultKeep. What lies between is dropped
	// and counted, so that memory stays flat whatever a program prints.
	KeepHead, KeepTail int
	// Live gets what both streams print, as it comes; nil for nobody. It is called
	// from two goroutines and must not block for long: the program waits for it.
	Live io.Writer
	// Policy says what the program may do; the zero value is refused.
	Policy Policy

	guard *guard // of the sandbox's protected places
}

// Result is how a run ended. At most one of NotFound, TimedOut and Cancelled is
// set; none is for a program that ended by itself.
type Result struct {
	// Path is the file that was run, empty when NotFound.
	Path string
	// Code is the exit code, -1 when a signal ended the program or it never ran.
	Code int
	// Signal names what ended the program, e.g. "SIGKILL", and is empty for an exit.
	Signal string
	// NotFound says that no such program is on the PATH (or at the path named), so
	// nothing was started.
	NotFound bool
	// TimedOut says that the time was up, Cancelled that the context was done
	// before: the group was ended, and the streams have what it printed until then.
	TimedOut, Cancelled bool
	// LeftRunning says that the program ended by itself and left others running; they
	// were ended.
	LeftRunning bool
	// Offline says that the program, or something that it started, tried to reach
	// another machine from a sandbox without network, as the kernel counted.
	Offline bool
	// PutBack are the protected places that were found changed when all had ended,
	// and that look as before again.
	PutBack []string
	// Stdout and Stderr are what was printed.
	Stdout, Stderr Output
}

// OK reports whether the program ran, ended by itself and exited with 0.
func (r Result) OK() bool {
	return !r.NotFound && !r.TimedOut && !r.Cancelled && r.Signal == "" && r.Code == 0
}

// Run runs a program to its end and returns how it ended. What a program does,
// not being found included, is a Result; an error means that it could not be
// started for another reason (no argv, no such directory, no permission). Run
// returns within Timeout+Grace and about a second, and on a done ctx within
// Grace and about a second; nothing that the program started is left by then,
// which on systems other than Linux excludes what left its process group.
func Run(ctx context.Context, spec Spec) (Result, error) {
	none := Result{Code: -1}
	if len(spec.Argv) == 0 || spec.Argv[0] == "" {
		return none, errors.New("run: no program is named")
	}
	if spec.Policy.IsZero() {
		return none, fmt.Errorf("run %s: %w", spec.Argv[0], errNoPolicy)
	}
	if !filepath.IsAbs(spec.Dir) {
		return none, fmt.Errorf("run %s: the directory %q is not absolute", spec.Argv[0], spec.Dir)
	}
	if info, err := os.Stat(spec.Dir); err != nil {
		return none, fmt.Errorf("run %s: %w", spec.Argv[0], err)
	} else if !info.IsDir() {
		return none, fmt.Errorf("run %s: %s is not a directory", spec.Argv[0], spec.Dir)
	}
	spec = withDefaults(spec)
	if r, over := expired(ctx, spec); over {
		return r, nil
	}
	path, err := Look(spec.Argv[0], spec.Dir, spec.Env)
	if errors.Is(err, fs.ErrNotExist) {
		return Result{Code: -1, NotFound: true}, nil
	}
	if err != nil {
		return none, fmt.Errorf("run %s: %w", spec.Argv[0], err)
	}
	if spec, err = confined(spec); err != nil {
		return none, fmt.Errorf("run %s: %w", spec.Argv[0], err)
	}
	r, err := run(ctx, path, spec)
	r.Path = path
	if spec.guard != nil {
		var kept error
		r.PutBack, kept = spec.guard.restore()
		err = errors.Join(err, kept)
	}
	if err != nil {
		return r, fmt.Errorf("run %s: %w", spec.Argv[0], err)
	}
	return r, nil
}

func withDefaults(s Spec) Spec {
	if s.Env == nil {
		s.Env = Environment(os.Environ(), nil, nil)
	}
	if s.Grace == 0 {
		s.Grace = DefaultGrace
	}
	if s.KeepHead <= 0 {
		s.KeepHead = DefaultKeep
	}
	if s.KeepTail <= 0 {
		s.KeepTail = DefaultKeep
	}
	return s
}

// expired returns the result of a run whose time was up before it began, and whether
// it was.
func expired(ctx context.Context, s Spec) (Result, bool) {
	switch {
	case s.Timeout < 0 || errors.Is(ctx.Err(), context.DeadlineExceeded):
		return Result{Code: -1, TimedOut: true}, true
	case ctx.Err() != nil:
		return Result{Code: -1, Cancelled: true}, true
	}
	return Result{}, false
}

// exit is how a process ended, as its platform reports it.
type exit struct {
	code   int
	signal string
	// offline says that something of it tried to reach another machine, and could not.
	offline bool
	// left says that something of it was still running when it was killed; where that
	// cannot be known it is true.
	left bool
}

// child is a started program with its group.
type child interface {
	// done is closed when the program itself has ended; what it started may still
	// run.
	done() <-chan struct{}
	// alone waits, at most for this long, for what the program started to end as well,
	// and reports whether it has; true where that is not known.
	alone(within time.Duration) bool
	// terminate requests the group to end.
	terminate()
	// destroy kills the program and everything that it started, waits until the
	// system has no record of them (bounded), releases the child's resources and
	// returns how the program ended.
	destroy() (exit, error)
}

// run starts the program at path and waits for its end.
func run(ctx context.Context, path string, spec Spec) (Result, error) {
	r := Result{Code: -1}
	out, err := newPump(spec)
	if err != nil {
		return r, err
	}
	errs, err := newPump(spec)
	if err != nil {
		out.abort()
		return r, err
	}
	c, err := start(path, spec, out.w, errs.w)
	out.start()
	errs.start()
	if err != nil {
		out.finish(0)
		errs.finish(0)
		return r, err
	}
	var timeout <-chan time.Time
	if spec.Timeout > 0 {
		t := time.NewTimer(spec.Timeout)
		defer t.Stop()
		timeout = t.C
	}
	ended := false
	select {
	case <-c.done():
		ended = true
	case <-timeout:
		r.TimedOut = true
	case <-ctx.Done():
		r.TimedOut = errors.Is(ctx.Err(), context.DeadlineExceeded)
		r.Cancelled = !r.TimedOut
	}
	if !ended && spec.Grace > 0 {
		c.terminate()
		grace := time.NewTimer(spec.Grace)
		select {
		case <-c.done():
		case <-grace.C:
		}
		grace.Stop()
	}
	if ended {
		r.LeftRunning = !awaitBoth(out, errs, drain) || !c.alone(drain)
	}
	e, err := c.destroy()
	r.Offline = e.offline
	r.LeftRunning = r.LeftRunning && e.left // on a busy machine the time alone says nothing
	if ended && err == nil {
		r.Code, r.Signal = e.code, e.signal
	}
	r.Stdout = out.finish(drain)
	r.Stderr = errs.finish(drain)
	return r, err
}
