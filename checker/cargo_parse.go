package checker

import (
	"iter"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json"
)

// cargoLine is one line of cargo's JSON stream, as far as it is read here.
type cargoLine struct {
	Reason  string `json:"reason"`
	Package string `json:"package_id"`
	Target  struct {
		Name string `json:"name"`
		Src  string `json:"src_path"`
	} `json:"target"`
	Files   []string `json:"filenames"` // of an artifact
	Message *struct {
		rustMessage
		Code *struct {
			Code string `json:"code"`
		} `json:"code"`
		Children []rustMessage `json:"children"`
		Rendered *string       `json:"rendered"`
	} `json:"message"`
}

type rustMessage struct {
	Level   string     `json:"level"`
	Message string     `json:"message"`
	Spans   []rustSpan `json:"spans"`
}

// rustSpan counts columns in code points from 1 and leaves a byte order mark out.
type rustSpan struct {
	File        string  `json:"file_name"`
	LineStart   int     `json:"line_start"`
	ColumnStart int     `json:"column_start"`
	LineEnd     int     `json:"line_end"`
	ColumnEnd   int     `json:"column_end"`
	Primary     bool    `json:"is_primary"`
	Label       *string `json:"label"`
	Expansion   *struct {
		Span rustSpan `json:"span"`
	} `json:"expansion"`
}

// cargoProgress is what cargo prints on stderr while it works.
var cargoProgress = regexp.MustCompile(`^ *(?:Compiling|Checking|Finished|Updating|Downloading|Downloaded|Locking|Adding|Removing|Blocking|Fresh|Building|Documenting|Running|Ignored|Removed|Packaging|Unpacking) `)

// parseCargo reads cargo check --message-format=json. Lines of stdout that are no
// JSON objects come from build scripts and macros and are left out; what cargo
// itself has to say is on stderr.
func parseCargo(out output) report {
	var r report
	seen := make(map[string]bool)
	any := false
	for l := range cargoLines(out.stdout) {
		any = any || l.Reason != ""
		if l.Reason != "compiler-message" || l.Message == nil || l.Message.Rendered == nil {
			continue
		}
		rendered := strings.TrimRight(*l.Message.Rendered, " \t\n")
		if seen[rendered] {
			continue // a library and its test target say the same
		}
		seen[rendered] = true
		f := rustFinding(l.Message.rustMessage, l.Message.Children)
		if f != nil && l.Message.Code != nil {
			f.Code = l.Message.Code.Code
		}
		r.group = l.Package + "\x00" + l.Target.Name
		r.add(rendered, f)
	}
	r.sortGroups()
	r.group = ""
	if out.code == 0 && !any {
		r.broken = nothingOf("cargo check --message-format=json", out)
		return r
	}
	if out.code == 0 || r.findings(Error) > 0 {
		return r
	}
	// No error of the compiler explains the exit code: cargo's own word does.
	own := cargoStderr(out.stderr)
	if r.text() == "" {
		r.broken = own
		return r
	}
	if own != "" {
		r.add(own, nil)
		r.partial = "cargo ended before everything was compiled"
	}
	return r
}

// nothingOf is the reason of a tool that ended well and printed nothing that the
// tool prints which it should be.
func nothingOf(tool string, out output) string {
	said := strings.TrimSpace(joined(out.stderr, out.stdout))
	if said == "" {
		return "it ended without anything that `" + tool + "` prints"
	}
	return "it printed nothing that `" + tool + "` prints:\n" + said
}

// cargoLines yields the objects of cargo's stream.
func cargoLines(stdout string) iter.Seq[cargoLine] {
	return func(yield func(cargoLine) bool) {
		for line := range lines(stdout) {
			var l cargoLine
			line = strings.TrimSpace(line)
			if !strings.HasPrefix(line, "{") || json.Unmarshal([]byte(line), &l) != nil {
				continue
			}
			if !yield(l) {
				return
			}
		}
	}
}

// cargoStderr is cargo's stderr without its progress.
func cargoStderr(stderr string) string {
	var kept []string
	for line := range lines(stderr) {
		if !cargoProgress.MatchString(line) {
			kept = append(kept, line)
		}
	}
	return strings.TrimSpace(strings.Join(kept, "\n"))
}

// rustFinding places a message at its primary span; nil when it has none.
func rustFinding(m rustMessage, children []rustMessage) *Finding {
	severity := Error
	switch m.Level {
	case "warning":
		severity = Warning
	case "note", "failure-note":
		severity = Info
	case "help":
		severity = Hint
	}
	var f *Finding
	for _, span := range m.Spans {
		if !span.Primary {
			continue
		}
		if f != nil {
			addRelated(f, span, m.Message)
			continue
		}
		span = inProject(span)
		f = &Finding{
			Path: span.File, Range: span.place(), Unit: Runes,
			Severity: severity, Message: m.Message, Tool: "cargo check",
		}
		if span.Label != nil && *span.Label != "" {
			f.Message += "\n" + *span.Label
		}
	}
	if f == nil {
		return nil
	}
	for _, span := range m.Spans {
		if !span.Primary && span.Label != nil {
			addRelated(f, span, *span.Label)
		}
	}
	for _, child := range children {
		for _, span := range child.Spans {
			addRelated(f, span, child.Message)
		}
	}
	return f
}

func addRelated(f *Finding, span rustSpan, message string) {
	span = inProject(span)
	f.Related = append(f.Related, Related{Path: span.File, Range: span.place(), Message: message})
}

// inProject follows a span in the toolchain's or a dependency's sources, which
// are named by absolute or made-up paths, to the place of the project that
// expanded to it.
func inProject(span rustSpan) rustSpan {
	for span.Expansion != nil && (filepath.IsAbs(span.File) || strings.HasPrefix(span.File, "<") || strings.HasPrefix(span.File, "/")) {
		label := span.Label
		span = span.Expansion.Span
		if span.Label == nil {
			span.Label = label
		}
	}
	return span
}

func (s rustSpan) place() Range {
	return Range{
		Start: Position{s.LineStart, s.ColumnStart},
		End:   Position{s.LineEnd, s.ColumnEnd},
	}
}
