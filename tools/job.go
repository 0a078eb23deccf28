package tools

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/agent-lsp/agent-lsp/core/abi"
	"github.com/agent-lsp/agent-lsp/tools/proc"
	"github.com/agent-lsp/agent-lsp/workspace"
)

const (
	jobName   = "job"
	jobMost   = 8         // that run at a time
	jobOutput = 256 << 10 // bytes that nobody has looked at, at most
)

// jobTool is the tool job.
type jobTool struct{ *Executor }

type jobArgs struct {
	ID     int    `json:"id" about:"as exec gave it"`
	Action string `json:"action" about:"output: what is new; wait: until it ends; stop: end it"`
}

func (jobTool) Definition() Definition {
	return Define[jobArgs](jobName, "Look at, wait for or stop what exec started in the background. Free: nobody is asked.", Read)
}

func (t jobTool) Decide(_ context.Context, c Call) Decision {
	op := Arguments[jobArgs](c)
	title := map[string]string{"wait": "Wait for", "stop": "Stop"}[op.Action]
	if title == "" {
		title = "Look at"
	}
	line := ""
	if j := t.jobs.get(op.ID); j != nil {
		line = ": " + j.line
	}
	return Decision{Title: clip(fmt.Sprintf("%s job %d%s", title, op.ID, line)), Effect: Read}
}

func (t jobTool) Run(ctx context.Context, c Call) Outcome {
	op := Arguments[jobArgs](c)
	j := t.jobs.get(op.ID)
	if j == nil {
		return failf("there is no job %d; %s", op.ID, t.jobs.names())
	}
	switch op.Action {
	case "output":
	case "wait":
		limit := time.NewTimer(t.cfg.Exec.Timeout)
		defer limit.Stop()
		select {
		case <-j.done:
		case <-limit.C:
		case <-ctx.Done():
			return cancelled()
		}
	case "stop":
		j.stop()
		<-j.done
	default:
		return failf("the action is %s: it is output, wait or stop", quoted(op.Action))
	}
	return Outcome{State: Completed, Text: j.look(t.cfg.Exec.Output)}
}

// jobs are the programs that run in the background of one session.
type jobs struct {
	mu     sync.Mutex // guards what follows
	all    []*job     // by their ids, from 1
	closed bool
}

// job is one program in the background.
type job struct {
	id   int
	line string // the command
	stop context.CancelFunc
	done chan struct{} // closed when result and err are final

	result proc.Result
	err    error

	mu      sync.Mutex // guards what follows
	fresh   []byte     // output since the last look
	dropped int64      // bytes of it that are not kept
	shown   bool       // its end was shown
}

// Write takes output of the program, of both of its streams as it comes.
func (j *job) Write(b []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.fresh = append(j.fresh, b...)
	if over := len(j.fresh) - jobOutput; over > 0 {
		j.dropped += int64(over)
		j.fresh = append([]byte(nil), j.fresh[over:]...)
	}
	return len(b), nil
}

// look returns how the job is and what it printed since the last look, at most keep
// characters of it.
func (j *job) look(keep int) string {
	ended := !j.running()
	j.mu.Lock()
	defer j.mu.Unlock()
	head := fmt.Sprintf("job %d runs", j.id)
	if ended {
		head = fmt.Sprintf("job %d ended: %s", j.id, j.end())
	}
	text := joinCut("", plainText(j.fresh), 0, keep)
	if j.dropped > 0 {
		text = fmt.Sprintf("[%s bytes before this are not kept]\n%s", thousands(int(j.dropped)), text)
	}
	switch {
	case strings.TrimSpace(text) != "":
		head += "\n" + strings.TrimRight(text, "\n")
	case ended && j.shown:
		head += "\n[no output since the last look]"
	default:
		head += "\n[no new output]"
	}
	j.fresh, j.dropped, j.shown = nil, 0, ended
	return head
}

func (j *job) running() bool {
	select {
	case <-j.done:
		return false
	default:
		return true
	}
}

// end says how the program ended, once it has.
func (j *job) end() string {
	switch r := j.result; {
	case j.err != nil:
		return j.err.Error()
	case r.Cancelled:
		return "it was stopped"
	case r.NotFound:
		return "no such program was found"
	case r.Signal != "":
		return "killed by " + r.Signal
	default:
		return fmt.Sprintf("exit code %d", r.Code)
	}
}

// start runs a program in the background. Its context is the session's, not the
// call's: a turn that is canceled does not end it.
func (s *jobs) start(spec proc.Spec) (*job, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	running := 0
	for _, j := range s.all {
		if j.running() {
			running++
		}
	}
	switch {
	case s.closed:
		return nil, fmt.Errorf("the session has ended")
	case running >= jobMost:
		return nil, fmt.Errorf("%d jobs run already: stop one first", running)
	}
	ctx, stop := context.WithCancel(context.Background())
	j := &job{id: len(s.all) + 1, line: workspace.CommandLine(spec.Argv), stop: stop, done: make(chan struct{})}
	spec.Live, spec.Timeout = j, 0
	spec.KeepHead, spec.KeepTail = 1, 1 // it is kept here
	s.all = append(s.all, j)
	go func() {
		defer close(j.done)
		defer stop()
		j.result, j.err = proc.Run(ctx, spec)
	}()
	return j, nil
}

func (s *jobs) get(id int) *job {
	s.mu.Lock()
	defer s.mu.Unlock()
	if id < 1 || id > len(s.all) {
		return nil
	}
	return s.all[id-1]
}

// names says which jobs there are.
func (s *jobs) names() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.all) == 0 {
		return "nothing was started in the background"
	}
	return fmt.Sprintf("there are 1 to %d", len(s.all))
}

// close ends all jobs and waits until they have ended.
func (s *jobs) close() {
	s.mu.Lock()
	s.closed = true
	all := slices.Clone(s.all)
	s.mu.Unlock()
	for _, j := range all {
		j.stop()
	}
	for _, j := range all {
		<-j.done
	}
}

// Job is a program that runs in the background.
type Job struct {
	ID      int    `json:"id"`
	Command string `json:"command"`
}

// Jobs returns what runs in the background, in order.
func (e *Executor) Jobs() []Job {
	e.jobs.mu.Lock()
	defer e.jobs.mu.Unlock()
	out := []Job{}
	for _, j := range e.jobs.all {
		if j.running() {
			out = append(out, Job{j.id, j.line})
		}
	}
	return out
}

// Close ends what runs in the background.
func (e *Executor) Close() error {
	e.jobs.close()
	return nil
}

var (
	jobBegan = regexp.MustCompile(`^started in the background as job (\d+)`)
	jobEnded = regexp.MustCompile(`^job (\d+) ended: `)
)

// JobOf returns which job the result of a call began or ended, with its command when
// it began. It returns 0 for any other.
func JobOf(op abi.Call, result string) (id int, command string, ended bool) {
	if op.Tool == nil {
		return 0, "", false
	}
	switch op.Tool.Name {
	case "exec":
		if m := jobBegan.FindStringSubmatch(result); m != nil {
			id, _ = strconv.Atoi(m[1])
			return id, workspace.CommandLine(Arguments[execArgs](Call{Name: "exec", Arguments: op.Tool.Arguments}).Argv), false
		}
	case jobName:
		if m := jobEnded.FindStringSubmatch(result); m != nil {
			id, _ = strconv.Atoi(m[1])
			return id, "", true
		}
	}
	return 0, "", false
}
