//go:build !race

package core

const hostRace = false
