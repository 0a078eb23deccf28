package tools

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/agent-lsp/agent-lsp/core/abi"
	"github.com/agent-lsp/agent-lsp/tools/proc"
	"github.com/agent-lsp/agent-lsp/workspace"
	"github.com/go-json-experiment/json"
)

// noNetwork is what the model reads of a command that failed for want of a network.
const noNetwork = "[no network in the sandbox]"

// unreachable is what programs print when they reach no other machine. Sockets that
// were refused, as Landlock has it, give permission errors.
var unreachable = regexp.MustCompile(`(?i)could ?n.t resolve|could not resolve|cannot resolve|unable to resolve|name resolution|no such host|lookup [^ ]+ on |unknown ?host|host lookup|` +
	`name or service not known|nodename nor servname|failed to lookup|dns error|nxdomain|EAI_|ENOTFOUND|ENETUNREACH|EHOSTUNREACH|getaddrinfo|` +
	`network is unreachable|no route to host|network request|network (is )?(unavailable|down)|failed to connect|could ?n.t connect|could not connect|cannot connect|unable to connect|` +
	`from versions: none|os error 101|errno 101|error sending request|network failure|network error|connection error|connectionerror|socketexception|socketerror|failed to open tcp|fetch failed|` +
	`permission ?denied|permissionerror|operation not permitted|\bEACCES\b|\bEPERM\b`)

// refusedHere is what programs print when nobody listens at a port. Without network
// that is one of their own loopback.
var refusedHere = regexp.MustCompile(`(?i)connection ?refused|ECONNREFUSED`)

const onlyOwnLoopback = "[loopback in the sandbox is the commands' own: a port of this machine is there once exec.loopback in the person's settings names it]"

// wasOffline reports whether a program failed because it reached no other machine: the
// kernel counted that it tried, and what it printed says so, or it printed nothing.
// Either alone is too little: many a program looks for its updates on the side, and
// many a test prints such a message.
func wasOffline(r proc.Result) bool {
	if r.OK() || r.Cancelled || r.NotFound || !r.Offline {
		return false
	}
	silent := len(bytes.TrimSpace(r.Stdout.Bytes())) == 0 && len(bytes.TrimSpace(r.Stderr.Bytes())) == 0
	return silent || prints(r, unreachable)
}

// offlineText explains the failure of a program without network to the model.
func (e *Executor) offlineText(r proc.Result) string {
	switch {
	case r.OK():
		return ""
	case wasOffline(r) && !e.cfg.Exec.AskNetwork:
		return "\n" + noNetwork + " [exec.network in the person's settings is off]"
	case wasOffline(r) && e.mechanism() == proc.Landlock:
		return "\n" + noNetwork + " [a socket needs network permission here, to its own processes, too]"
	case wasOffline(r):
		return "\n" + noNetwork
	case prints(r, refusedHere):
		return "\n" + onlyOwnLoopback
	}
	return ""
}

// mechanism is what confines commands.
func (e *Executor) mechanism() proc.Mechanism {
	return cmp.Or(e.cfg.Exec.Sandbox.Mechanism, proc.SandboxSupport().Mechanism)
}

// Again is a call that the sandbox stopped, as it would run with what it lacked. Policy
// decides about Op as about any call; what a person reads is here.
type Again struct {
	Op            Op
	Title, Detail string
	// Yes, Always and No are the answers: to run it again, to do so from the start from
	// now on, and to leave it as it is.
	Yes, Always, No string

	began string // how the first run ended, and what it changed
}

// withNetwork returns a command that was stopped as it runs with network.
func withNetwork(op execArgs, first Outcome) *Again {
	op.Network = true
	arguments, err := json.Marshal(op)
	if err != nil {
		panic(err) // its members are strings
	}
	began, _, _ := strings.Cut(first.Text, "\n")
	began += touchedText(first.Touched)
	return &Again{
		Op:     Op{Tool: &abi.Use{Name: "exec", Arguments: string(arguments)}},
		Title:  "`" + clip(workspace.CommandLine(op.Argv)) + "` was stopped: no network",
		Detail: workspace.CommandLine(op.Argv) + "\nin " + op.dir() + "\nwithout network: " + began + "\n\nAlways: " + lastingCommand(op.Argv, op.dir()).Words + ", with network from the start, until this session ends.",
		Yes:    "Run again with network", Always: "Always for " + clip(lastingCommand(op.Argv, op.dir()).short()) + " here", No: "Keep offline",
		began: began,
	}
}

// Twice returns the outcome of a call that was run again, which tells of both runs.
func (a *Again) Twice(first, second Outcome) Outcome {
	second.Text += "\n[it ran twice; the first time, without network: " + a.began + "]"
	second.Touched = slices.Compact(slices.Sorted(slices.Values(slices.Concat(first.Touched, second.Touched))))
	return second
}

// Kept returns the outcome of a call that is not run again, for a reason.
func (a *Again) Kept(first Outcome, reason string) Outcome {
	first.Text += fmt.Sprintf("\n[not run again with network: %s]", reason)
	return first
}
