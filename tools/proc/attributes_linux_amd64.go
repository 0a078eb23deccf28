package proc

import "golang.org/x/sys/unix"

// legacyTimes are calls for which libraries have newer ones.
var legacyTimes = []uint32{unix.SYS_UTIME, unix.SYS_UTIMES, unix.SYS_FUTIMESAT}

var legacyCalls = map[uint32]attributeCall{
	unix.SYS_CHMOD:  {at: -1, path: 0, flags: -1, perform: chmodBy(1)},
	unix.SYS_CHOWN:  {at: -1, path: 0, flags: -1, perform: chownBy(1)},
	unix.SYS_LCHOWN: {at: -1, path: 0, flags: -1, noFollow: true, perform: chownBy(1)},
}
