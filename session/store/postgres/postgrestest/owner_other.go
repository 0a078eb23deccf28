//go:build !unix

package postgrestest

import (
	"errors"
	"os"
	"os/exec"
)

type owner struct{}

func takeOwner(string) (owner, error) {
	return owner{}, errors.New("throwaway clusters run on unix only: set " + Env + " to a server's DSN")
}

func (owner) run(*exec.Cmd) {}

func killAll(p *os.Process) error { return p.Kill() }
