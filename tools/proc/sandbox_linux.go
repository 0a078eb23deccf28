package proc

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
)

// The rights that a confined program is given below a writable directory, and to
// a writable file. All of them are taken from it elsewhere; reading and running
// is free everywhere.
const (
	fileRights landlock.AccessFSSet = ll.AccessFSWriteFile | ll.AccessFSTruncate
	dirRights  landlock.AccessFSSet = fileRights | ll.AccessFSRemoveDir | ll.AccessFSRemoveFile | ll.AccessFSMakeChar |
		ll.AccessFSMakeDir | ll.AccessFSMakeReg | ll.AccessFSMakeSock | ll.AccessFSMakeFifo | ll.AccessFSMakeBlock |
		ll.AccessFSMakeSym | ll.AccessFSRefer
)

// minLandlock is the first version of the kernel's interface under which moving
// a file between directories can be allowed; without that hardly a build works.
const minLandlock = 2

// SandboxSupport says whether programs can be confined here: nil when they can,
// else why not.
func SandboxSupport() error {
	v, err := ll.LandlockGetABIVersion()
	switch {
	case err != nil:
		return fmt.Errorf("the kernel has no Landlock or it is switched off: %w", err)
	case v < minLandlock:
		return fmt.Errorf("the kernel's Landlock has version %d, at least %d is needed", v, minLandlock)
	case !armed.Load():
		return errors.New("the program is not set up for it")
	}
	return nil
}

// confine takes from this process, for good, the right to write elsewhere.
func confine(s Sandbox) error {
	v, err := ll.LandlockGetABIVersion()
	if err != nil || v < minLandlock {
		return errNoSandbox
	}
	rights := dirRights
	if v < 3 {
		rights &^= ll.AccessFSTruncate // not known before the third version
	}
	var rules []landlock.Rule
	for _, p := range s.Writable {
		info, err := os.Stat(p)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
			continue
		}
		if err != nil {
			return fmt.Errorf("confine: %w", err)
		}
		r := rights
		if !info.IsDir() {
			r &= fileRights
		}
		rules = append(rules, landlock.PathAccess(r, p).IgnoreIfMissing())
	}
	cfg := landlock.Config{HandledAccessFS: rights}
	if s.Offline && v >= 4 {
		cfg.HandledAccessNet = ll.AccessNetBindTCP | ll.AccessNetConnectTCP
	}
	if s.Offline && v >= 6 {
		cfg.Scoped = ll.ScopeAbstractUnixSocket | ll.ScopeSignal
	}
	if err := cfg.Restrict(rules...); err != nil {
		return fmt.Errorf("confine: %w", err)
	}
	return nil
}
