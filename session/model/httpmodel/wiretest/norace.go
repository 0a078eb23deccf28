//go:build !race

package wiretest

// Stride is every how many places an exhaustive test looks.
const Stride = 1
