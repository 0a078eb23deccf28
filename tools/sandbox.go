package tools

import (
	"os"

	"github.com/agent-lsp/agent-lsp/tools/proc"
)

// confinement confines the writing of commands when the configuration wants it
// and the system can. Sockets are those of other processes that they may use.
func (e *Executor) confinement(sockets ...string) proc.Policy {
	if !e.cfg.Exec.Sandbox {
		return proc.Unconfined("the person switched the sandbox off, or the system has none")
	}
	return proc.Confined(proc.Sandbox{Writable: e.writable(), Network: true, Sockets: sockets})
}

// looking is the policy of the git that the server itself runs to look at a
// repository: it writes nothing and reaches nobody.
func looking() proc.Policy {
	if proc.SandboxSupport().Mechanism == proc.NoMechanism {
		return proc.Unconfined("the system cannot confine it, and the configuration that it gets names no program")
	}
	return proc.Confined(proc.Sandbox{Writable: lookWrites})
}

// lookWrites is what such a git may write to. Tests add a place, so that a program
// that it runs leaves a trace.
var lookWrites = []string{os.DevNull}

// writable are the places that a confined command may write below: the workspace
// and the repository that it is part of, temporary files and caches.
func (e *Executor) writable() []string {
	out := append([]string{e.ws.Dir()}, proc.Scratch(e.env())...)
	if e.outer != "" {
		out = append(out, e.outer)
	}
	return append(out, e.cfg.Exec.Writable...)
}
