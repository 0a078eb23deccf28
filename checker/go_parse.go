package checker

import (
	"regexp"
	"strings"
)

// goChatter is what the go command prints while it works, whatever it finds; that it
// cannot write a note into a module cache that is read-only, too.
var goChatter = regexp.MustCompile(`^go: (?:downloading|finding|extracting|found|added|upgraded|downgraded) |^go: writing stat cache: `)

// goCannot begins the lines by which the go command says that it did not get as
// far as compiling: a bad go.mod or go.work, a module it cannot load.
var goCannot = regexp.MustCompile(`^(?:go: |go\.mod:|go\.work:|pattern |flag provided|usage: go |no Go files|warning: "\./\.\.\." matched no packages)`)

// goManifest is a finding in a file that the go command itself reads.
var goManifest = regexp.MustCompile(`(?:^|[\\/])go\.(?:mod|work|sum)$`)

// parseGo reads the text of go build and go vet. Lines below a finding that are
// indented belong to it; lines that begin with # name a package.
func parseGo(out output) report { return parseGoText(out, "go build") }

func parseGoText(out output, tool string) report {
	var r report
	var cannot []string
	for line := range textLines(joined(out.stderr, out.stdout)) {
		switch {
		case strings.TrimSpace(line) == "", goChatter.MatchString(line):
			continue
		case strings.HasPrefix(line, "#"):
			if !strings.HasPrefix(line, "# [") { // go vet names the package once more
				r.group = line
			}
			r.add(line, nil)
			continue
		case (line[0] == '\t' || line[0] == ' ') && len(cannot) > 0 && len(r.blocks) == 0:
			cannot = append(cannot, line)
			continue
		case line[0] == '\t' || line[0] == ' ':
			r.extend(line)
			continue
		case goCannot.MatchString(line):
			cannot = append(cannot, line)
			continue
		}
		file, at, message, ok := splitLocation(strings.TrimPrefix(line, "vet: "))
		switch {
		case strings.HasSuffix(line, "too many errors"):
			r.add(line, nil)
			r.partial = "the go command prints only the first 10 errors of a package"
		case !ok || message == "":
			r.add(line, nil)
		case goManifest.MatchString(file):
			cannot = append(cannot, line)
		default:
			r.add(line, &Finding{
				Path: file, Range: Range{Start: at}, Unit: Bytes,
				Severity: Error, Message: message, Tool: tool,
			})
		}
	}
	r.sortGroups()
	r.cannot(cannot)
	return r
}

// joined puts the first text before the second; each keeps its lines.
func joined(first, second string) string {
	switch {
	case strings.TrimSpace(first) == "":
		return second
	case strings.TrimSpace(second) == "":
		return first
	}
	return strings.TrimRight(first, "\n") + "\n" + second
}
