//go:build linux && !amd64

package proc

// There are no such calls here.
var (
	legacyTimes []uint32
	legacyCalls map[uint32]attributeCall
)
