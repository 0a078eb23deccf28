package checker

import (
	"regexp"
	"strings"
)

var (
	rustHead = regexp.MustCompile(`^(error|warning)(?:\[(\w+)\])?: (.*)$`)
	rustAt   = regexp.MustCompile(`^ *--> (.+?):(\d+):(\d+)$`)
)

// parseCargoAny reads a configured cargo, which may or may not print JSON.
func parseCargoAny(out output) report {
	for range cargoLines(out.stdout) {
		return parseCargo(out)
	}
	return parseRustText(out)
}

// parseRustText reads what rustc prints for people: a headline, the place behind an
// arrow, and the source until an empty line.
func parseRustText(out output) report {
	var r report
	open := false
	for line := range textLines(joined(out.stderr, out.stdout)) {
		head, at := rustHead.FindStringSubmatch(line), rustAt.FindStringSubmatch(line)
		switch {
		case strings.TrimSpace(line) == "":
			open = false
		case cargoProgress.MatchString(line):
		case head != nil:
			r.add(line, nil)
			open = true
		case !open:
			r.add(line, nil)
		default:
			r.join(line, false)
			if last := &r.blocks[len(r.blocks)-1]; at != nil && last.finding == nil {
				last.finding = rustTextFinding(last.text, at)
			}
		}
	}
	return r
}

func rustTextFinding(text string, at []string) *Finding {
	line, _, _ := strings.Cut(text, "\n")
	head := rustHead.FindStringSubmatch(line)
	severity := Error
	if head[1] == "warning" {
		severity = Warning
	}
	return &Finding{
		Path: at[1], Range: Range{Start: Position{number(at[2]), number(at[3])}}, Unit: Runes,
		Severity: severity, Code: head[2], Message: head[3], Tool: "cargo check",
	}
}
