package tools

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/agent-lsp/agent-lsp/core/abi"
)

// inBackground is a call that starts a shell script in the background.
func inBackground(t *testing.T, script string) abi.Call {
	return toolOp(t, "exec", execArgs{Argv: []string{"sh", "-c", script}, Background: true})
}

// lookFor looks at a job until what it printed contains a text.
func (w *world) lookFor(id int, text string) string {
	w.t.Helper()
	var all string
	for late := time.Now().Add(time.Minute); !strings.Contains(all, text); {
		if time.Now().After(late) {
			w.t.Fatalf("no %q in\n%s", text, all)
		}
		out := w.run(toolOp(w.t, jobName, jobArgs{id, "output"}))
		if all += out.Text; out.State != Completed || strings.Contains(all, "ended") && !strings.Contains(all, text) {
			w.t.Fatalf("no %q in\n%s", text, all)
		}
		runtime.Gosched()
	}
	return all
}

func TestAJobRunsOnAndIsLookedAt(t *testing.T) {
	posix(t)
	w := newWorld(t, nil)
	t.Cleanup(func() { _ = w.Close() })
	want(t, w.run(toolOp(t, jobName, jobArgs{1, "output"})), Failed, "there is no job 1; nothing was started in the background")
	ctx, cancel := context.WithCancel(t.Context())
	start := inBackground(t, "echo one; echo first; while ! test -e go; do sleep 0.01; done; echo two >&2; exit 3")
	out := w.Run(ctx, start, "")
	want(t, out, Completed, "started in the background as job 1: ")
	cancel() // what the call's turn ends with
	if id, command, ended := JobOf(start, out.Text); id != 1 || !strings.HasPrefix(command, "sh -c ") || ended {
		t.Errorf("job %d, %s, %v", id, command, ended)
	}
	if text := w.lookFor(1, "first"); !strings.Contains(text, "job 1 runs") || strings.Contains(text, "two") {
		t.Error(text)
	}
	want(t, w.run(toolOp(t, jobName, jobArgs{1, "output"})), Completed, "job 1 runs\n[no new output]")
	if jobs := w.Jobs(); len(jobs) != 1 || jobs[0].ID != 1 {
		t.Errorf("jobs: %+v", jobs)
	}
	w.put("go", "")
	wait := toolOp(t, jobName, jobArgs{1, "wait"})
	end := w.run(wait)
	want(t, end, Completed, "job 1 ended: exit code 3\ntwo")
	if strings.Contains(end.Text, "one") {
		t.Errorf("old output is shown again: %s", end.Text)
	}
	if id, _, ended := JobOf(wait, end.Text); id != 1 || !ended {
		t.Errorf("the end of job 1 is %d, %v", id, ended)
	}
	want(t, w.run(wait), Completed, "job 1 ended: exit code 3\n[no output since the last look]")
	if jobs := w.Jobs(); len(jobs) != 0 {
		t.Errorf("jobs: %+v", jobs)
	}
	want(t, w.run(toolOp(t, jobName, jobArgs{1, "look"})), Failed, `the action is "look": it is output, wait or stop`)
	want(t, w.run(toolOp(t, jobName, jobArgs{7, "stop"})), Failed, "there is no job 7; there are 1 to 1")
	want(t, w.run(toolOp(t, "exec", execArgs{Argv: []string{"no-such-program"}, Background: true})), Failed, "no-such-program was not found")
}

// TestAJobIsEndedWithItsChildren stops a job, and closes the session's tools: the
// program's child has ended when that returns.
func TestAJobIsEndedWithItsChildren(t *testing.T) {
	posix(t)
	for name, end := range map[string]func(w *world){
		"stop": func(w *world) {
			want(w.t, w.run(toolOp(w.t, jobName, jobArgs{1, "stop"})), Completed, "job 1 ended: it was stopped")
		},
		"close": func(w *world) {
			if err := w.Close(); err != nil {
				w.t.Error(err)
			}
			want(w.t, w.run(inBackground(w.t, "true")), Failed, "the session has ended")
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, nil)
			t.Cleanup(func() { _ = w.Close() })
			w.run(inBackground(t, "(trap '' TERM; while :; do echo beat >>beats; sleep 0.01; done) & echo ready; wait"))
			w.lookFor(1, "ready")
			end(w)
			_ = os.Remove(filepath.Join(w.dir, "beats"))
			want(t, w.run(execOp("sh", "-c", "sleep 0.2; ! test -e beats")), Completed)
		})
	}
}

func TestJobsAreBounded(t *testing.T) {
	posix(t)
	w := newWorld(t, nil)
	t.Cleanup(func() { _ = w.Close() })
	w.run(inBackground(t, "head -c 1000000 /dev/zero | tr '\\0' x; echo end"))
	loud := w.run(toolOp(t, jobName, jobArgs{1, "wait"})).Text
	if len(loud) > DefaultOutput+200 || !strings.Contains(loud, "[737,860 bytes before this are not kept]") || !strings.Contains(loud, "xend") {
		t.Errorf("%d bytes are shown: %s", len(loud), clip(loud))
	}
	w.run(inBackground(t, "sleep 1000"))
	for i := 3; i <= jobMost+1; i++ {
		want(t, w.run(inBackground(t, "sleep 1000")), Completed, fmt.Sprintf("as job %d", i))
	}
	want(t, w.run(inBackground(t, "sleep 1000")), Failed, "8 jobs run already: stop one first")
	w.run(toolOp(t, jobName, jobArgs{2, "stop"}))
	want(t, w.run(inBackground(t, "sleep 1000")), Completed, "as job 10")
}

func TestTheTimeoutOfACommand(t *testing.T) {
	posix(t)
	w := newWorld(t, nil)
	want(t, w.run(toolOp(t, "exec", execArgs{Argv: []string{"sleep", "1000"}, Timeout: 1})), Failed, "timed out: it did not end within 1s")
	want(t, w.run(toolOp(t, "exec", execArgs{Argv: []string{"true"}, Timeout: 600})), Completed)
	for _, seconds := range []int{-1, 601, 1 << 62} {
		want(t, w.run(toolOp(t, "exec", execArgs{Argv: []string{"true"}, Timeout: seconds})), Failed, "at most 600 are given")
	}
}
