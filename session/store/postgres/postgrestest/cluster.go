// Package postgrestest starts throwaway PostgreSQL clusters for tests, from the
// machine's own initdb and postgres, as another user when the test runs as root.
//
// Where AGENT_LSP_TEST_POSTGRES holds a DSN, [Database] makes its databases on
// that server instead. Where there is neither, tests are skipped and say so.
package postgrestest

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
)

// Env names the variable that holds the DSN of a server to test on.
const Env = "AGENT_LSP_TEST_POSTGRES"

const skipText = "skipped: there is no PostgreSQL to test on; install it (Debian: apt-get install postgresql) or set " + Env + " to a server's DSN"

// Cluster is a server with its data in a temporary directory, reached through a
// socket in it. Nobody but the test's user can connect.
type Cluster struct {
	// DSN reaches the database postgres as its superuser.
	DSN string

	dir      string
	bin      string
	settings []string
	owner    owner
	mu       sync.Mutex // guards cmd and exited
	cmd      *exec.Cmd
	exited   chan struct{}
}

// New makes a cluster and starts its server, which ends with the test. Settings
// are server settings, e.g. "fsync=off". The test is skipped where there is no
// PostgreSQL.
func New(tb testing.TB, settings ...string) *Cluster {
	tb.Helper()
	bin, ok := findBin()
	if !ok {
		tb.Skip(skipText)
	}
	c, err := create(tb.Context(), bin, settings)
	if err != nil {
		tb.Fatalf("make a PostgreSQL cluster: %v", err)
	}
	tb.Cleanup(func() {
		if err := c.remove(); err != nil {
			tb.Errorf("remove the PostgreSQL cluster: %v", err)
		}
	})
	return c
}

// findBin returns the directory of the newest server's programs.
func findBin() (string, bool) {
	if path, err := exec.LookPath("initdb"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			return filepath.Dir(path), true
		}
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb") // Debian's place
	if err != nil || len(found) == 0 {
		return "", false
	}
	newest := slices.MaxFunc(found, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) // 9.6 before 15
	})
	return filepath.Dir(newest), true
}

func create(ctx context.Context, bin string, settings []string) (*Cluster, error) {
	dir, err := os.MkdirTemp("", "pg") // short: a socket's path has 107 bytes at most
	if err != nil {
		return nil, err
	}
	c := &Cluster{dir: dir, bin: bin, settings: settings}
	c.DSN = "postgres:///postgres?user=test&host=" + url.QueryEscape(dir)
	if c.owner, err = takeOwner(dir); err == nil {
		initdb := c.command("initdb", "-D", c.data(), "-U", "test", "--auth=trust", "--no-sync", "-E", "UTF8", "--locale=C")
		if out, failed := initdb.CombinedOutput(); failed != nil {
			err = fmt.Errorf("initdb: %w\n%s", failed, out)
		} else {
			err = c.Start(ctx)
		}
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return c, nil
}

func (c *Cluster) data() string { return filepath.Join(c.dir, "data") }

func (c *Cluster) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(c.bin, name), args...)
	cmd.Dir = c.dir
	cmd.Env = []string{"LC_ALL=C", "TZ=UTC", "PATH=" + os.Getenv("PATH")}
	c.owner.run(cmd)
	return cmd
}

// Start starts the server and waits until it takes connections, after it was
// killed, too.
func (c *Cluster) Start(ctx context.Context) error {
	args := []string{
		"-D", c.data(), "-c", "listen_addresses=", "-c", "unix_socket_directories=" + c.dir,
		"-c", "restart_after_crash=off",
	}
	for _, s := range c.settings {
		args = append(args, "-c", s)
	}
	cmd := c.command("postgres", args...)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	ready, exited := make(chan struct{}), make(chan struct{})
	log := &tail{}
	go func() {
		defer close(exited)
		log.watch(stderr, "ready to accept connections", ready)
		_ = cmd.Wait() // how it ended is in its log
	}()
	c.mu.Lock()
	c.cmd, c.exited = cmd, exited
	c.mu.Unlock()
	select {
	case <-ready:
		return nil
	case <-exited:
		return fmt.Errorf("the server did not start:\n%s", log)
	case <-ctx.Done():
		return errors.Join(ctx.Err(), c.Kill())
	}
}

// Kill ends the server and everything that it started with SIGKILL, as a crash of
// the machine would, and waits for it.
func (c *Cluster) Kill() error { return c.end(killAll) }

// Stop ends the server in order, breaking connections off.
func (c *Cluster) Stop() error {
	return c.end(func(p *os.Process) error { return p.Signal(os.Interrupt) })
}

func (c *Cluster) end(how func(*os.Process) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cmd == nil {
		return nil
	}
	if err := how(c.cmd.Process); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	<-c.exited
	c.cmd = nil
	return nil
}

func (c *Cluster) remove() error { return errors.Join(c.Kill(), os.RemoveAll(c.dir)) }

// databases counts the databases made by this process, which names them.
var databases atomic.Int64

// Database makes an empty database on the cluster and returns its DSN.
func (c *Cluster) Database(tb testing.TB) string {
	tb.Helper()
	return makeDatabase(tb, c.DSN)
}

func makeDatabase(tb testing.TB, dsn string) string {
	tb.Helper()
	name := fmt.Sprintf("agent_lsp_test_%d_%d", os.Getpid(), databases.Add(1))
	run := func(ctx context.Context, statement string) error {
		conn, err := pgx.Connect(ctx, dsn)
		if err != nil {
			return err
		}
		_, err = conn.Exec(ctx, statement)
		return errors.Join(err, conn.Close(ctx))
	}
	if err := run(tb.Context(), "CREATE DATABASE "+name); err != nil {
		tb.Fatalf("make a test database: %v", err)
	}
	tb.Cleanup(func() {
		if err := run(context.Background(), "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			tb.Logf("drop a test database: %v", err) // its server may have been killed on purpose
		}
	})
	u, err := url.Parse(dsn)
	if err != nil {
		tb.Fatalf("%s must be a URL: %v", Env, err)
	}
	u.Path = "/" + name
	return u.String()
}

// tail keeps a server's last lines for the error when it does not start.
type tail struct {
	mu    sync.Mutex // guards lines
	lines []string
}

func (t *tail) watch(r io.Reader, mark string, seen chan<- struct{}) {
	for sc := bufio.NewScanner(r); sc.Scan(); {
		t.mu.Lock()
		t.lines = append(t.lines[max(0, len(t.lines)-50):], sc.Text())
		t.mu.Unlock()
		if seen != nil && bytes.Contains(sc.Bytes(), []byte(mark)) {
			close(seen)
			seen = nil
		}
	}
	_, _ = io.Copy(io.Discard, r) // a line that was too long must not block the server
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Join(t.lines, "\n")
}
