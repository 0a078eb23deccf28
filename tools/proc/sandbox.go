package proc

import "errors"

// errNoSandbox refuses to run a program unconfined that was to be confined.
var errNoSandbox = errors.New("programs cannot be confined on this system; switch the sandbox off to run them unconfined")
