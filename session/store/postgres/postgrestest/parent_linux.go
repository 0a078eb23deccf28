package postgrestest

import "syscall"

// endWithParent ends the server when the test is killed and cannot.
func endWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGQUIT }
