package core

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// hostResident is how many KiB the process keeps in memory.
func hostResident(t *testing.T) int {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip("no /proc here")
	}
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
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
