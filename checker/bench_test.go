package checker_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/agent-lsp/agent-lsp/checker"
)

// BenchmarkOverhead runs a tool by itself and through the checker in turn, and
// reports how many times as long a check takes, and the difference.
func BenchmarkOverhead(b *testing.B) {
	clean := []string{"go.mod", goMod, "a.go", "package m\n\nfunc F() int { return 1 }\n"}
	broken := []string{"go.mod", goMod, "a.go", "package m\n\nfunc F() int { return missing }\n"}
	for _, bc := range []struct {
		name  string
		files []string
		argv  []string
	}{
		{"go-clean", clean, nil},
		{"go-finding", broken, nil},
		{"true", clean, []string{"/bin/true"}},
	} {
		b.Run(bc.name, func(b *testing.B) {
			dir := b.TempDir()
			writeFiles(b, dir, bc.files...)
			cfg := checker.Config{Trusted: true, Policy: anything}
			bare := []string{"go", "build", "-o", os.DevNull, "./..."}
			if bc.argv != nil {
				bare = bc.argv
				cfg.Commands = map[string]checker.Command{checker.Go: {Argv: bc.argv}}
			}
			c := checker.New(cfg)
			defer c.Close()
			var alone, checked time.Duration
			for b.Loop() {
				began := time.Now()
				cmd := exec.Command(bare[0], bare[1:]...)
				cmd.Dir = dir
				_, _ = cmd.CombinedOutput() // a build with a finding fails
				between := time.Now()
				c.AfterEdit(b.Context(), dir, []string{"a.go"})
				alone += between.Sub(began)
				checked += time.Since(between)
			}
			b.ReportMetric(float64(checked)/float64(alone), "ratio")
			b.ReportMetric(float64((checked-alone).Microseconds())/float64(b.N)/1000, "ms-more/op")
		})
	}
}

// BenchmarkManyFindings checks with a command that prints ten thousand findings.
func BenchmarkManyFindings(b *testing.B) {
	var text strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&text, "dir/file%d.go:%d:7: undefined: name%d\n", i%100, i, i)
	}
	dir := b.TempDir()
	writeFiles(b, dir, "go.mod", goMod, "output", text.String())
	for i := range 100 { // a place is only one where a file is
		writeFiles(b, dir, fmt.Sprintf("dir/file%d.go", i), "package dir\n")
	}
	c := checker.New(checker.Config{Trusted: true, Policy: anything, Commands: map[string]checker.Command{
		checker.Go: {Argv: []string{"/bin/sh", "-c", "cat output; exit 1"}},
	}})
	defer c.Close()
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		if got := c.Check(b.Context(), dir); len(got.Findings) != 10_000 {
			b.Fatalf("%d findings: %s", len(got.Findings), got.Text)
		}
	}
}
