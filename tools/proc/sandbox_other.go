//go:build !linux

package proc

// SandboxSupport says whether programs can be confined here: nil when they can,
// else why not.
func SandboxSupport() error { return errNoSandbox }
