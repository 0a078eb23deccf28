package checker

import (
	"regexp"
	"strings"
)

var (
	tscFlat   = regexp.MustCompile(`^(.+?)\((\d+),(\d+)\): (error|warning|message|suggestion) TS(\d+): (.*)$`)
	tscPretty = regexp.MustCompile(`^(.+?):(\d+):(\d+) - (error|warning|message|suggestion) TS(\d+): (.*)$`)
	tscGlobal = regexp.MustCompile(`^error TS(\d+): `)
	tscConfig = regexp.MustCompile(`(?:^|[\\/])[^\\/]*[tj]sconfig[^\\/]*\.json$`)
	tscChat   = regexp.MustCompile(`^(?:Found \d+ errors?\b|Errors  Files$|\s+\d+  \S+:\d+$)`)
)

// tscUnbuilt is the error of a project whose references have to be built first.
const tscUnbuilt = "6305"

// parseTSC reads what tsc prints, in its flat form and in its pretty one. Errors
// without a place and errors in the configuration mean that it did not check.
func parseTSC(out output) report {
	var r report
	var cannot []string
	inMessage, inCannot := false, false
	for line := range textLines(joined(out.stderr, out.stdout)) {
		m := tscFlat.FindStringSubmatch(line)
		if m == nil {
			m = tscPretty.FindStringSubmatch(line)
		}
		switch {
		case m != nil && (tscConfig.MatchString(m[1]) || m[5] == tscUnbuilt):
			cannot = append(cannot, line)
			inMessage, inCannot = false, true
		case m != nil:
			r.add(line, tscFinding(m))
			inMessage, inCannot = true, false
		case tscGlobal.MatchString(line):
			cannot = append(cannot, line)
			inMessage, inCannot = false, true
		case tscChat.MatchString(line):
			inMessage, inCannot = false, false
		case inMessage && strings.HasPrefix(line, "  "):
			r.extend(line)
		case inCannot:
			if strings.HasPrefix(line, "  ") {
				cannot = append(cannot, line)
			}
		default:
			inMessage = false
			r.frame(line)
		}
	}
	r.cannot(cannot)
	return r
}

func tscFinding(m []string) *Finding {
	severity := Error
	switch m[4] {
	case "warning":
		severity = Warning
	case "message":
		severity = Info
	case "suggestion":
		severity = Hint
	}
	return &Finding{
		Path: filePath(m[1]), Range: Range{Start: Position{number(m[2]), number(m[3])}}, Unit: UTF16,
		Severity: severity, Code: "TS" + m[5], Message: m[6], Tool: "tsc",
	}
}
