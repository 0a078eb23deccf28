package core

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// hostResident is how many KiB the process keeps in memory.
func hostResident(t *testing.T) int { return hostStatus(t, "VmRSS:") }

// hostStatus is a number of the system's about the process.
func hostStatus(t *testing.T, name string) int {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip("no /proc here")
	}
	_, rest, _ := strings.Cut(string(status), name)
	n, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestHostASmallSessionIsSmall says what 24 sessions with a short conversation
// cost, in pages of the process and on the heap of Go.
func TestHostASmallSessionIsSmall(t *testing.T) {
	if hostRace {
		t.Skip("not under the race detector")
	}
	const many = 24
	c := hostOpen(t)
	hostConverse(t, hostNew(t, c), 1, "warm")
	heap := func() int {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc >> 10)
	}
	heapBefore, before := heap(), hostResident(t)
	for range many {
		s := hostNew(t, c)
		for turn := range uint64(5) {
			hostConverse(t, s, turn+1, "a short text")
		}
	}
	onHeap, resident := (heap()-heapBefore)/many, (hostResident(t)-before)/many
	t.Logf("a session: %d KiB resident, of these %d KiB on the heap", resident, onHeap)
	if resident > 10<<10 || onHeap > 2<<10 {
		t.Errorf("a small session keeps %d KiB resident, %d KiB on the heap", resident, onHeap)
	}
}

// TestHostEndedSessionsGiveTheirAddressesBack looks at the address space after many
// sessions, each of which reserved 64 MiB.
func TestHostEndedSessionsGiveTheirAddressesBack(t *testing.T) {
	if hostRace {
		t.Skip("not under the race detector")
	}
	const many, reserved = 32, 64 << 10 // KiB
	c := hostOpen(t)
	before := hostStatus(t, "VmSize:")
	for range many {
		s := hostNew(t, c)
		if err := s.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.inst = nil // as the test's cleanup still has the session
	}
	after := 0
	for range 200 { // cleanups run some time after a collection
		runtime.GC()
		runtime.Gosched()
		if after = hostStatus(t, "VmSize:"); after-before < many*reserved/2 {
			return
		}
	}
	t.Errorf("%d ended sessions keep %d MiB of addresses", many, (after-before)>>10)
}
