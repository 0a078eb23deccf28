//go:build unix

package postgrestest

import (
	"errors"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// owner is who runs the server, which refuses to run as root.
type owner struct{ credential *syscall.Credential }

// takeOwner gives dir to whom the server will run as.
func takeOwner(dir string) (owner, error) {
	if os.Geteuid() != 0 {
		return owner{}, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.ParseUint(u.Uid, 10, 32)
		if err != nil {
			return owner{}, err
		}
		gid, err := strconv.ParseUint(u.Gid, 10, 32)
		if err != nil {
			return owner{}, err
		}
		return owner{&syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, os.Chown(dir, int(uid), int(gid))
	}
	return owner{}, errors.New("root cannot run a server, and there is no user postgres or nobody")
}

func (o owner) run(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: o.credential, Setpgid: true}
	endWithParent(cmd.SysProcAttr)
}

func killGroup(p *os.Process) error {
	err := syscall.Kill(-p.Pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		return nil
	}
	return err
}
