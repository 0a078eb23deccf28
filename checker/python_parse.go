package checker

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/agent-lsp/agent-lsp/workspace"
)

type pyrightReport struct {
	Diagnostics *[]pyrightDiagnostic `json:"generalDiagnostics"`
	Summary     struct {
		Files int `json:"filesAnalyzed"`
	} `json:"summary"`
}

type pyrightDiagnostic struct {
	File     string `json:"file"`
	Severity string `json:"severity"`
	Message  string `json:"message"`
	Rule     string `json:"rule"`
	Range    *struct {
		Start, End pyrightPosition
	} `json:"range"`
}

// pyrightPosition is 0-based, unlike the one in pyright's text.
type pyrightPosition struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

func (p pyrightPosition) position() Position { return Position{p.Line + 1, p.Character + 1} }

// parsePyright reads pyright --outputjson, behind whatever is printed before the
// JSON; where there is none, as from a configured command, pyright's text.
func parsePyright(root string, out output) report {
	start := jsonStart(out.stdout)
	if start < 0 {
		return parsePyrightText(out)
	}
	var r report
	var p pyrightReport
	dec := jsontext.NewDecoder(strings.NewReader(out.stdout[start:]))
	if err := json.UnmarshalDecode(dec, &p, json.MatchCaseInsensitiveNames(true)); err != nil || p.Diagnostics == nil {
		r.broken = "its JSON output is cut off or damaged"
		return r
	}
	for _, d := range *p.Diagnostics {
		addPyright(&r, root, d)
	}
	own := strings.TrimSpace(out.stderr)
	switch {
	case r.findings("") > 0 && out.code > 1 && own != "":
		r.add(own, nil)
	case r.findings("") > 0:
	case out.code > 1:
		r.broken = fmt.Sprintf("it exited with %d", out.code)
		if own != "" {
			r.broken = own
		}
	case p.Summary.Files == 0:
		r.broken = "it found no source files"
		if own != "" {
			r.broken += "\n" + own
		}
	}
	return r
}

// jsonStart is where a line begins with an object, -1 when none does.
func jsonStart(text string) int {
	if strings.HasPrefix(text, "{") {
		return 0
	}
	if at := strings.Index(text, "\n{"); at >= 0 {
		return at + 1
	}
	return -1
}

func addPyright(r *report, root string, d pyrightDiagnostic) {
	message := strings.ReplaceAll(d.Message, "\u00a0", " ")
	severity := pyrightSeverity(d.Severity)
	shown := d.File
	if rel := workspace.Relative(root, d.File); !strings.HasPrefix(rel, "../") {
		shown = rel
	}
	f := &Finding{Path: d.File, Unit: UTF16, Severity: severity, Code: d.Rule, Message: message, Tool: "pyright"}
	if d.Range != nil {
		f.Range.Start = d.Range.Start.position()
		if d.Range.End != d.Range.Start {
			f.Range.End = d.Range.End.position()
		}
		shown += fmt.Sprintf(":%d:%d", f.Range.Start.Line, f.Range.Start.Column)
	}
	text := fmt.Sprintf("%s - %s: %s", shown, d.Severity, strings.ReplaceAll(message, "\n", "\n  "))
	if d.Rule != "" {
		text += " (" + d.Rule + ")"
	}
	r.add(text, f)
}

func pyrightSeverity(word string) Severity {
	switch word {
	case "warning":
		return Warning
	case "information":
		return Info
	}
	return Error
}

var (
	pyrightLine = regexp.MustCompile(`^\s*(.+?):(\d+):(\d+) - (error|warning|information): (.*?)(?: \((report\w+)\))?$`)
	pyrightRule = regexp.MustCompile(`^(.*) \((report\w+)\)$`)
	pyrightChat = regexp.MustCompile(`^(?:\d+ errors?, \d+ warnings?, \d+ informations?|0 errors|No configuration file found\.|Found \d+ source files?|Searching for source files|pyright \d|Assuming Python |WARNING: there is a new pyright)`)
)

// parsePyrightText reads pyright's own text, whose continuation lines are indented
// with no-break spaces.
func parsePyrightText(out output) report {
	var r report
	for line := range textLines(joined(out.stderr, out.stdout)) {
		line = strings.ReplaceAll(line, "\u00a0", " ")
		m := pyrightLine.FindStringSubmatch(line)
		switch {
		case pyrightChat.MatchString(strings.TrimSpace(line)):
		case m != nil:
			r.add(strings.TrimSpace(line), &Finding{
				Path: m[1], Range: Range{Start: Position{number(m[2]), number(m[3])}}, Unit: UTF16,
				Severity: pyrightSeverity(m[4]), Code: m[6], Message: m[5], Tool: "pyright",
			})
		case strings.HasPrefix(line, "    ") && len(r.blocks) > 0:
			r.extend(line)
			if f := r.blocks[len(r.blocks)-1].finding; f != nil && f.Code == "" {
				if m := pyrightRule.FindStringSubmatch(f.Message[strings.LastIndex(f.Message, "\n")+1:]); m != nil {
					f.Code = m[2]
					f.Message = strings.TrimSuffix(f.Message, " ("+m[2]+")")
				}
			}
		case strings.HasSuffix(line, ".py") && !strings.HasPrefix(line, " "):
			// The header of a file's findings.
		case strings.TrimSpace(line) != "":
			r.add(line, nil)
		}
	}
	return r
}
