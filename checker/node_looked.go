package checker

import (
	"path/filepath"
	"strings"
)

// tscLooked is the files that a run of tsc read.
type tscLooked struct{ files fileSet }

// parse reads the check and takes the list of files out, which tsc prints behind
// what it found, a path on each line.
func (l tscLooked) parse(out output) report {
	var kept strings.Builder
	for line := range lines(out.stdout) {
		if path := filepath.FromSlash(line); filepath.IsAbs(path) && !tscFlat.MatchString(line) && !tscPretty.MatchString(line) {
			l.files[filepath.Clean(path)] = true
			continue
		}
		kept.WriteString(line)
		kept.WriteByte('\n')
	}
	out.stdout = kept.String()
	r := parseTSC(out)
	if r.findings("") == 0 && r.broken == "" && (out.code != 0 || len(l.files) == 0) {
		r.broken = nothingOf("tsc --listFiles", out)
	}
	return r
}
