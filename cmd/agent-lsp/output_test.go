package main

import (
	"errors"
	"strings"
	"testing"
)

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestLostOutputIsNoSuccess(t *testing.T) {
	for _, args := range [][]string{{"version"}, {"--help"}, {"doctor", "-C", t.TempDir()}} {
		var stderr strings.Builder
		code := run(args, stdio{in: strings.NewReader(""), out: fullDisk{}, err: &stderr})
		if code != exitError || !strings.Contains(stderr.String(), "write to standard output: no space left") {
			t.Errorf("%v exits %d and says %q", args, code, &stderr)
		}
	}
}
