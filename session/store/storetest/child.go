package storetest

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agent-lsp/agent-lsp/session/store"
	"github.com/google/uuid"
)

// childEnv asks a process that runs a test binary to be a child: "what dsn id n".
const childEnv = "AGENT_LSP_STORETEST_CHILD"

// Appends is how many appends [Processes] is to make: the full count in slow runs.
func Appends() int {
	if Slow() {
		return 10_000
	}
	return 2000
}

// Slow reports whether AGENT_LSP_TEST_SLOW asks for the full counts of long tests.
func Slow() bool { return os.Getenv("AGENT_LSP_TEST_SLOW") != "" }

// Child must be the first call in the TestMain of a package that uses [Processes]
// or [Kills]. In a child that they started it appends and exits; else it returns.
func Child() {
	ask, ok := os.LookupEnv(childEnv)
	if !ok {
		return
	}
	if err := child(ask); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func child(ask string) error {
	part := strings.SplitN(ask, " ", 4)
	id, err := uuid.Parse(part[1])
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(part[2])
	if err != nil {
		return err
	}
	ctx := context.Background()
	s, err := store.Open(ctx, part[3])
	if err != nil {
		return err
	}
	if _, err := fmt.Println("ready"); err != nil {
		return err
	}
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		return err
	}
	if part[0] == "crash" {
		return appendForever(ctx, s, id)
	}
	return errors.Join(appendTogether(ctx, s, id, n), s.Close())
}

// appendTogether appends n events from each of four goroutines, from half of them
// in batches, and prints the index of each.
func appendTogether(ctx context.Context, s store.Store, id uuid.UUID, n int) error {
	const appenders, batch = 4, 5
	failures := make([]error, appenders)
	var wg sync.WaitGroup
	for a := range appenders {
		wg.Go(func() {
			for left := n; left > 0 && failures[a] == nil; {
				ps := []store.Payload{JSON("together")}
				if a%2 == 0 {
					ps = slices.Repeat(ps, min(batch, left))
				}
				failures[a] = appendAndPrint(ctx, s, id, ps)
				left -= len(ps)
			}
		})
	}
	wg.Wait()
	return errors.Join(failures...)
}

func appendAndPrint(ctx context.Context, s store.Store, id uuid.UUID, ps []store.Payload) error {
	var first uint64
	var err error
	if len(ps) == 1 {
		first, err = s.Append(ctx, id, time.Now(), ps[0])
	} else {
		first, err = s.AppendAll(ctx, id, time.Now(), ps)
	}
	for i := range ps {
		if err == nil {
			_, err = fmt.Println(first + uint64(i))
		}
	}
	return err
}

// appendForever appends single events and batches of three by turns and prints
// each index that was acknowledged, until it is killed or the store fails.
func appendForever(ctx context.Context, s store.Store, id uuid.UUID) error {
	for i := 0; ; i++ {
		index, err := s.Append(ctx, id, time.Now(), sealed(i, "one"))
		if err == nil {
			_, err = fmt.Println(index)
		}
		if err != nil {
			return err
		}
		first, err := s.AppendAll(ctx, id, time.Now(), []store.Payload{sealed(i, "a"), sealed(i, "b"), sealed(i, "c")})
		if err == nil && first != index+1 {
			err = fmt.Errorf("a batch of the only appender began at %d after index %d", first, index)
		}
		if err == nil {
			_, err = fmt.Println(first + 2)
		}
		if err != nil {
			return err
		}
	}
}

// sealed is a payload that shows whether a byte of it is missing: place, sum and
// a body whose length varies over several database pages.
func sealed(i int, place string) store.Payload {
	body := strings.Repeat("body\n", i*37%3000)
	return store.Payload{
		ContentType: "text/plain",
		Data:        fmt.Appendf(nil, "%s %x %s", place, sha256.Sum256([]byte(body)), body),
	}
}

// unseal returns a payload's place.
func unseal(p store.Payload) (place string, err error) {
	part := strings.SplitN(string(p.Data), " ", 3)
	if len(part) != 3 || part[1] != fmt.Sprintf("%x", sha256.Sum256([]byte(part[2]))) {
		return "", fmt.Errorf("an event of %d bytes is torn", len(p.Data))
	}
	return part[0], nil
}

// process is a running child.
type process struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *bufio.Reader
	stderr *strings.Builder
}

// spawn starts a child and waits until it has opened the store.
func spawn(t *testing.T, what, dsn string, id uuid.UUID, n int) *process {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{cmd: exec.CommandContext(t.Context(), exe), stderr: &strings.Builder{}}
	p.cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %s %d %s", childEnv, what, id, n, dsn))
	p.cmd.Stderr = p.stderr
	out, err := p.cmd.StdoutPipe()
	if err == nil {
		p.stdin, err = p.cmd.StdinPipe()
	}
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	p.stdout = bufio.NewReader(out)
	if line, err := p.stdout.ReadString('\n'); line != "ready\n" {
		t.Fatalf("a child did not open the store: %v, %v\n%s", err, p.cmd.Wait(), p.stderr)
	}
	return p
}

func (p *process) begin(t *testing.T) {
	t.Helper()
	if _, err := io.WriteString(p.stdin, "go\n"); err != nil {
		t.Fatal(err)
	}
}

// next returns the next index that the child printed; ok is false at its end. A
// line that the child was killed within is no answer.
func (p *process) next(t *testing.T) (index uint64, ok bool) {
	t.Helper()
	line, err := p.stdout.ReadString('\n')
	if err != nil {
		return 0, false
	}
	index, err = strconv.ParseUint(strings.TrimSpace(line), 10, 64)
	if err != nil {
		t.Fatalf("a child printed %q", line)
	}
	return index, true
}
