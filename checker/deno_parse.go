package checker

import (
	"regexp"
	"strings"
)

var (
	denoHead   = regexp.MustCompile(`^(?:error: )?TS(\d+) \[(\w+)\]: (.*)$`)
	denoError  = regexp.MustCompile(`^error: (.*)$`)
	denoAt     = regexp.MustCompile(`^( +)at (file://.+?):(\d+):(\d+)$`)
	denoCaret  = regexp.MustCompile(`^\s*(?:\|\s*)?[~^]+\s*$`)
	denoGutter = regexp.MustCompile(`^\s*\d*\s*\|`)
	denoChat   = regexp.MustCompile(`^(?:Check |Download |Initialize |Found \d+ errors?\.|error: Type checking failed\.|Stack backtrace:|\s+\d+: <unknown>)`)
)

// maxDenoLines bounds the lines of one finding.
const maxDenoLines = 1000

// denoBlock is a finding of deno in the making.
type denoBlock struct {
	code, severity string
	text           []string // as printed
	body           []string // of the part being read: message lines and code frame
	finding        *Finding
}

// parseDeno reads what deno check prints: a headline, more of the message, a code
// frame, the place, and the same again indented for related places.
func parseDeno(out output) report {
	var r report
	var cannot []string
	var b *denoBlock
	end := func() {
		if b == nil {
			return
		}
		if b.finding == nil && b.code == "" {
			cannot = append(cannot, strings.TrimSpace(strings.Join(b.text, "\n")))
		} else {
			r.add(strings.TrimRight(strings.Join(b.text, "\n"), "\n "), b.finding)
		}
		b = nil
	}
	for line := range textLines(joined(out.stderr, out.stdout)) {
		switch head := denoHead.FindStringSubmatch(line); {
		case denoChat.MatchString(line):
			end()
		case head != nil:
			end()
			b = &denoBlock{code: "TS" + head[1], severity: head[2], text: []string{line}, body: []string{head[3]}}
		case denoError.MatchString(line):
			end()
			b = &denoBlock{text: []string{line}, body: []string{denoError.FindStringSubmatch(line)[1]}}
		case b != nil && len(b.text) >= maxDenoLines:
			r.cut++
		case b != nil:
			b.line(line)
		case strings.TrimSpace(line) != "":
			r.add(line, nil)
			if strings.Contains(line, "No matching files found") {
				cannot = append(cannot, line)
			}
		}
	}
	end()
	if r.findings("") == 0 && len(cannot) > 0 {
		r.broken = strings.Join(cannot, "\n")
	} else if len(cannot) > 0 {
		r.add(strings.Join(cannot, "\n"), nil)
	}
	return r
}

func (b *denoBlock) line(line string) {
	b.text = append(b.text, line)
	at := denoAt.FindStringSubmatch(line)
	if at == nil {
		b.body = append(b.body, line)
		return
	}
	place := Range{Start: Position{number(at[3]), number(at[4])}}
	message := denoMessage(b.body)
	b.body = nil
	if b.finding != nil {
		b.finding.Related = append(b.finding.Related, Related{Path: filePath(at[2]), Range: place, Message: message})
		return
	}
	severity := Error
	if strings.HasPrefix(b.severity, "WARN") {
		severity = Warning
	}
	b.finding = &Finding{
		Path: filePath(at[2]), Range: place, Unit: UTF16,
		Severity: severity, Code: b.code, Message: message, Tool: "deno check",
	}
}

// denoMessage is the part's lines without the code frame at their end.
func denoMessage(body []string) string {
	if n := len(body); n >= 2 && denoCaret.MatchString(body[n-1]) {
		body = body[:n-2]
	}
	var kept []string
	for _, line := range body {
		line = strings.TrimSpace(line)
		if line != "" && !denoGutter.MatchString(line) {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}
