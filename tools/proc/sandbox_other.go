//go:build !linux

package proc

// SandboxSupport reports how programs can be confined here.
func SandboxSupport() Support {
	return Support{Missing: []string{"programs cannot be confined on this system so far"}}
}
