package proc

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/go-json-experiment/json"
)

// errNoSandbox is the error for a program that cannot be confined as its Spec requires.
var errNoSandbox = errors.New("programs cannot be confined on this system; switch the sandbox off to run them unconfined")

// Sandbox says what a confined program, and all that it starts, may do. Paths are
// absolute and without links; one that does not exist is ignored. Whatever the
// members say, such a program reaches no process outside of the sandbox, gains no
// privileges, traces nobody and makes no namespaces.
type Sandbox struct {
	// Writable are directories and files at and below which writing is allowed.
	Writable []string `json:"writable"`
	// Protected are places below writable ones that are not to be changed. What one
	// changed all the same is put back when it has ended, and named in Result.PutBack.
	Protected []string `json:"protected,omitempty"`
	// Pinned are directories below writable ones that may be written and not moved
	// away, which would take what is protected in them along.
	Pinned []string `json:"pinned,omitempty"`
	// Hidden are directories and files that cannot be read.
	Hidden []string `json:"hidden,omitempty"`
	// Readable are places that stay to be seen although the sandbox has a directory
	// for temporary files of its own over them, or they lie in a hidden one.
	Readable []string `json:"readable,omitempty"`
	// Sockets are unix sockets of other processes that may be connected to.
	Sockets []string `json:"sockets,omitempty"`
	// Network allows connections to other machines and to this one.
	Network bool `json:"network,omitzero"`
	// Loopback are TCP ports of this machine's 127.0.0.1 that programs without network
	// reach at their own 127.0.0.1. Landlock has no such thing: programs make no internet
	// socket there without Network.
	Loopback []int `json:"loopback,omitempty"`
	// Temp is a directory for temporary files that all programs of a session share,
	// with the directories tmp and var in it; "" leaves them the system's.
	Temp string `json:"temp,omitempty"`
	// Aside is a directory into which goes what was found changed in a protected
	// place, before it is put back; "" drops it.
	Aside string `json:"aside,omitempty"`
	// Env are variables that programs get in place of what a Spec says.
	Env []Variable `json:"env,omitempty"`

	// Mechanism is what confines; set where a program is started.
	Mechanism Mechanism `json:"mechanism,omitempty"`
}

// Variable is one of the environment of confined programs.
type Variable struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	// Once is a path: programs with the network get the variable always, others once
	// something is there; "" gives it to all.
	Once string `json:"once,omitempty"`
}

// String describes what confines programs here and what that leaves open, or why
// nothing does.
func (s Support) String() string {
	var out string
	switch s.Mechanism {
	case Namespaces:
		out = "namespaces: commands see files, processes and a network of their own"
	case Landlock:
		out = "Landlock: commands cannot write or connect outside; protected files are put back after a command"
	default:
		out = "none: commands cannot be confined here"
	}
	if len(s.Missing) > 0 {
		out += " (" + strings.Join(s.Missing, "; ") + ")"
	}
	return out
}

// key returns a text that is equal for two sandboxes that allow the same.
func (s Sandbox) key() string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // it has nothing but strings
	}
	return string(b)
}

// base returns the part that all programs of a session share; the rest depends on which
// places are there when one starts.
func (s Sandbox) base() Sandbox {
	b := Sandbox{Writable: s.Writable, Readable: s.Readable, Sockets: s.Sockets, Network: s.Network, Temp: s.Temp, Mechanism: s.Mechanism}
	if !s.Network {
		b.Loopback = s.Loopback
	}
	return b
}

// Mechanism is a way to confine programs.
type Mechanism string

// The mechanisms, the strongest first.
const (
	// Namespaces shows programs a system of their own: files, processes, network.
	Namespaces Mechanism = "namespaces"
	// Landlock takes rights from programs in the system that all others see.
	Landlock Mechanism = "landlock"
	// NoMechanism says that programs cannot be confined.
	NoMechanism Mechanism = ""
)

// Support says how programs can be confined here.
type Support struct {
	Mechanism Mechanism
	// Whole says that files, network, sockets and processes are confined alike.
	Whole bool
	// Missing says why a stronger mechanism is not there, or what the one in force
	// does not enforce; empty when there is neither.
	Missing []string
}

// Scratch returns absolute paths that a confined program should be able to write
// besides its workspace, since hardly any runs without: temporary files and the
// harmless devices, of which terminals are none.
func Scratch() []string {
	out := []string{filepath.Clean(os.TempDir())}
	if runtime.GOOS != "windows" {
		out = append(out, "/tmp", "/var/tmp", "/dev/null", "/dev/zero", "/dev/full", "/dev/shm")
	}
	return out
}
