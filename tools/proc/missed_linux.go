package proc

import (
	"os"
	"strconv"
	"strings"
)

// missed returns how often what this supervisor started tried to reach another machine
// from a sandbox without network. The kernel counts it: what programs print is worded
// in many ways, and may be about something else. In a network namespace the kernel
// counts connections and datagrams that no route leads to, and datagrams to loopback
// that nobody receives, as which a request to a local name server ends; programs that
// share the namespace share its counters. Otherwise each socket that was refused counts.
func (s *supervisor) missed(box *Sandbox) int64 {
	switch {
	case box == nil || box.Network:
		return 0
	case box.Mechanism == Namespaces:
		return counted("/proc/self/net/snmp", "Ip: OutNoRoutes", "Udp: NoPorts") + counted("/proc/self/net/snmp6", "Ip6OutNoRoutes", "Udp6NoPorts")
	case s.launcher == nil:
		return 0
	}
	return s.launcher.refused.Load()
}

// counted sums counters of a file of the kernel's: of its pairs of lines, names over
// numbers behind a word for both, or of its lines with a name and a number.
func counted(file string, names ...string) int64 {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0 // a kernel without IPv6 has no such file
	}
	var sum int64
	add := func(name, number string) {
		for _, n := range names {
			if v, err := strconv.ParseInt(number, 10, 64); err == nil && n == name {
				sum += v
			}
		}
	}
	var heading []string
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		switch {
		case len(f) == 2:
			add(f[0], f[1])
		case len(heading) == len(f) && len(f) > 0 && heading[0] == f[0]:
			for i, name := range heading {
				add(f[0]+" "+name, f[i])
			}
		}
		heading = f
	}
	return sum
}
