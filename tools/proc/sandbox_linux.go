package proc

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// The rights that a confined program is given below a writable directory, and to
// a writable file. All of them are taken from it elsewhere.
const (
	fileRights landlock.AccessFSSet = ll.AccessFSWriteFile | ll.AccessFSTruncate
	dirRights  landlock.AccessFSSet = fileRights | ll.AccessFSRemoveDir | ll.AccessFSRemoveFile | ll.AccessFSMakeChar |
		ll.AccessFSMakeDir | ll.AccessFSMakeReg | ll.AccessFSMakeSock | ll.AccessFSMakeFifo | ll.AccessFSMakeBlock |
		ll.AccessFSMakeSym | ll.AccessFSRefer
)

// The versions of the kernel's interface that matter.
const (
	abiRefer       = 2 // moving a file between directories can be allowed; hardly a build works without
	abiTruncate    = 3
	abiTCP         = 4
	abiScopes      = 6 // signals and abstract sockets
	abiResolveUnix = 9 // sockets in the file system
)

// landlockVersion returns the version of the kernel's Landlock, 0 without any.
func landlockVersion() int {
	v, err := ll.LandlockGetABIVersion()
	if err != nil {
		return 0
	}
	return v
}

// SandboxSupport reports how programs can be confined here. The first call tries it,
// which takes some milliseconds.
var SandboxSupport = sync.OnceValue(func() Support {
	if !mainCalled.Load() {
		return Support{Missing: []string{"this program is not set up to run others confined"}}
	}
	err := tryHouse()
	if err == nil {
		return Support{Mechanism: Namespaces, Whole: true}
	}
	s := Support{Missing: []string{"no namespaces: " + err.Error()}}
	switch v := landlockVersion(); {
	case v < abiRefer:
		s.Missing = append(s.Missing, fmt.Sprintf("the kernel's Landlock has version %d, where 0 is none; at least %d is needed", v, abiRefer))
		return s
	case v < abiScopes:
		s.Missing = append(s.Missing, "a command can signal your other programs: the kernel's Landlock is too old to keep it from that")
	}
	s.Mechanism = Landlock
	s.Whole = len(s.Missing) == 1 // but namespaces nothing is missing
	return s
})

// restrictThread takes from this thread, and from what it starts, rights that
// Landlock knows: with that mechanism all over files and, offline, TCP; inside of
// namespaces what those leave open.
func restrictThread(s Sandbox, abi int) error {
	var c landlock.Config
	var rules []landlock.Rule
	if abi >= abiScopes {
		c.Scoped = ll.ScopeAbstractUnixSocket | ll.ScopeSignal
	}
	if s.Mechanism == Landlock {
		if abi < abiRefer {
			return errNoSandbox
		}
		var err error
		if rules, err = pathRules(s, abi, &c); err != nil {
			return err
		}
		if abi >= abiTCP && !s.Network {
			c.HandledAccessNet = ll.AccessNetBindTCP | ll.AccessNetConnectTCP
		}
	}
	if abi >= abiResolveUnix {
		c.HandledAccessFS |= ll.AccessFSResolveUnix
		for _, p := range s.Sockets {
			rules = append(rules, landlock.PathAccess(ll.AccessFSResolveUnix, p).IgnoreIfMissing())
		}
	}
	fd, flags, err := c.NewRulesetFD(rules...)
	if err != nil {
		return fmt.Errorf("confine: %w", err)
	}
	if fd < 0 {
		return nil
	}
	defer unix.Close(fd) //nolint:errcheck // it is in force or not
	if err := ll.LandlockRestrictSelf(fd, flags); err != nil {
		return fmt.Errorf("confine: %w", err)
	}
	return nil
}

// pathRules returns rules that allow writing below writable places, and reading all but what is
// hidden.
func pathRules(s Sandbox, abi int, c *landlock.Config) ([]landlock.Rule, error) {
	rights := dirRights
	if abi < abiTruncate {
		rights &^= ll.AccessFSTruncate
	}
	c.HandledAccessFS = rights
	var rules []landlock.Rule
	for _, p := range s.Writable {
		info, err := os.Stat(p)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("confine: %w", err)
		}
		r := rights
		if !info.IsDir() {
			r &= fileRights
		}
		rules = append(rules, landlock.PathAccess(r, p).IgnoreIfMissing())
	}
	if len(s.Hidden) == 0 {
		return rules, nil
	}
	c.HandledAccessFS |= ll.AccessFSReadFile
	for _, p := range besides("/", s.Hidden) {
		rules = append(rules, landlock.PathAccess(ll.AccessFSReadFile, p).IgnoreIfMissing())
	}
	for _, p := range append(s.Readable, s.Writable...) {
		if insideAny(s.Hidden, p) {
			rules = append(rules, landlock.PathAccess(ll.AccessFSReadFile, p).IgnoreIfMissing())
		}
	}
	return rules, nil
}

func insideAny(dirs []string, p string) bool {
	for _, d := range dirs {
		if within(d, p) {
			return true
		}
	}
	return false
}

// besides returns paths that together cover dir without the hidden ones: Landlock
// gives rights to whole trees and takes none back inside.
func besides(dir string, hidden []string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // what cannot be listed cannot be opened up
	}
	var out []string
	for _, e := range entries {
		p := filepath.Join(dir, e.Name())
		if e.Type()&fs.ModeSymlink != 0 {
			continue // the rule would be about where it leads to
		}
		above := false
		for _, h := range hidden {
			above = above || within(p, h) || within(h, p)
		}
		switch {
		case insideAny(hidden, p):
		case !above:
			out = append(out, p)
		case e.IsDir():
			out = append(out, besides(p, hidden)...)
		}
	}
	return out
}
