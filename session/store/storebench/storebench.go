// Package storebench is what the benchmarks of stores share: what they write and
// read, and how a store is held against a bare database in the same run.
package storebench

import (
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/agent-lsp/agent-lsp/session/store/contract"
	"github.com/google/uuid"
)

// Payload is a usual event.
var Payload = contract.Payload{
	ContentType: "application/json",
	Data:        []byte(`{"kind":"message","text":"` + fmt.Sprintf("%0300d", 7) + `"}`),
}

// Payloads returns n of them.
func Payloads(n int) []contract.Payload { return slices.Repeat([]contract.Payload{Payload}, n) }

// Lengths are the lengths of transcripts to append to; AGENT_LSP_TEST_SLOW=1 adds
// the longest.
func Lengths() []int {
	lengths := []int{0, 100_000}
	if os.Getenv("AGENT_LSP_TEST_SLOW") != "" {
		lengths = append(lengths, 1_000_000)
	}
	return lengths
}

// Fill appends n events to a session in large batches.
func Fill(b *testing.B, s contract.Store, id uuid.UUID, n int) {
	b.Helper()
	for ps := Payloads(10_000); n > 0; n -= len(ps) {
		ps = ps[:min(n, len(ps))]
		if _, err := s.AppendAll(b.Context(), id, time.Now(), ps); err != nil {
			b.Fatal(err)
		}
	}
}

// Against times both in turns, so that both meet the same moods of the disk, and
// compares their medians: a flush that waits for another's does not count.
func Against(b *testing.B, store, bare func() error) {
	b.Helper()
	var ours, theirs []time.Duration
	for b.Loop() {
		start := time.Now()
		err := store()
		middle := time.Now()
		bareErr := bare()
		ours, theirs = append(ours, middle.Sub(start)), append(theirs, time.Since(middle))
		if err != nil || bareErr != nil {
			b.Fatal(err, bareErr)
		}
	}
	slices.Sort(ours)
	slices.Sort(theirs)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(ours[b.N/2]), "ns/store")
	b.ReportMetric(float64(theirs[b.N/2]), "ns/bare")
	b.ReportMetric(float64(ours[b.N/2])/float64(theirs[b.N/2]), "x-bare")
}

// Transcript reads a session's n events again and again.
func Transcript(b *testing.B, s contract.Store, id uuid.UUID, n int) {
	b.Helper()
	count := 0
	for b.Loop() {
		for _, err := range s.Transcript(b.Context(), id, nil) {
			if err != nil {
				b.Fatal(err)
			}
			count++
		}
	}
	if count != n*b.N {
		b.Fatalf("read %d events of %d", count, n*b.N)
	}
	b.ReportMetric(float64(count)/b.Elapsed().Seconds(), "events/s")
}

// Records returns n sessions whose order of creation is not that of the slice.
func Records(n int) []contract.Session {
	base, title := time.Now(), "what this session is about"
	records := make([]contract.Session, n)
	for i := range records {
		records[i] = contract.Session{
			ID: uuid.New(), Subject: "operator", Harness: "claude", Title: &title,
			CreatedAt: base.Add(time.Duration(i*7919%n) * time.Second), UpdatedAt: base, Turns: 12, Commands: []string{},
		}
	}
	return records
}

// List lists a store's n sessions again and again.
func List(b *testing.B, s contract.Store, n int) {
	b.Helper()
	for b.Loop() {
		l, err := s.List(b.Context())
		if err != nil || len(l.Sessions) != n {
			b.Fatal(len(l.Sessions), err)
		}
	}
}
