package proc

import (
	"os"
	"slices"
	"strings"
)

// foreignSockets returns the unix sockets that processes of this system listen at,
// where a sandbox would show them.
func foreignSockets(s Sandbox) []string {
	table, err := os.ReadFile("/proc/net/unix")
	if err != nil {
		return nil
	}
	var out []string
	for line := range strings.Lines(string(table)) {
		at := strings.IndexByte(line, '/')
		if at < 0 || strings.IndexByte(line, '@') >= 0 && strings.IndexByte(line, '@') < at {
			continue
		}
		p := strings.TrimSuffix(line[at:], "\n")
		if replaced(s, p) && !insideAny(s.Readable, p) && !insideAny(s.Writable, p) || within("/dev", p) || slices.Contains(s.Sockets, p) || slices.Contains(out, p) {
			continue
		}
		out = append(out, p)
	}
	return out
}
