//go:build race

package wiretest

// Stride is every how many places an exhaustive test looks: the race detector
// makes each look much dearer.
const Stride = 37
