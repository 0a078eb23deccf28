package checker

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/agent-lsp/agent-lsp/workspace"
	"github.com/reviewdog/errorformat"
)

// customPlan runs a command as a person configured it. It may read the disk only.
func customPlan(j job, cmd Command) plan {
	p := plan{argv: cmd.Argv, shown: cmd.Argv, dir: j.root, readsDisk: true, configured: true, formats: len(cmd.Formats) > 0}
	tool := filepath.Base(cmd.Argv[0])
	e := ecosystemOf(j.tc.Ecosystem)
	switch {
	case len(cmd.Formats) > 0:
		efm, err := readFormats(cmd.Formats)
		if err != nil {
			p.fail = fmt.Sprintf("the configured formats of `%s` cannot be read (%v), so %s", workspace.CommandLine(cmd.Argv), err, j.unchecked())
			return p
		}
		p.parse = func(out output) report { return parseCustom(efm, tool, cmd.Unit, out) }
	case e.parse != nil:
		p.parse, p.bom = orPlain(e.parse(j, tool), tool), e.bom
	default:
		p.parse = func(out output) report { return parsePlain(tool, out) }
	}
	return p
}

// orPlain reads an output as that of an ecosystem's own tool, and if that finds
// nothing in the form of most compilers: a person's own command may be another tool,
// or have other options.
func orPlain(own parser, tool string) parser {
	return func(out output) report {
		r := own(out)
		if r.findings("") > 0 {
			return r
		}
		other := parsePlain(tool, out)
		if other.findings("") > 0 || r.broken == "" && r.text() == "" {
			return other
		}
		return r
	}
}

// readFormats compiles patterns. The library panics on some that are none.
func readFormats(formats []string) (efm *errorformat.Errorformat, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("not an errorformat: %v", p)
		}
	}()
	return errorformat.NewErrorformat(formats)
}

// parseCustom reads an output through errorformat; the text stays whole.
func parseCustom(efm *errorformat.Errorformat, tool string, unit ColumnUnit, out output) report {
	var r report
	var text strings.Builder
	for line := range textLines(joined(out.stderr, out.stdout)) {
		text.WriteString(line)
		text.WriteByte('\n')
	}
	scan := efm.NewScanner(strings.NewReader(text.String()))
	for scan.Scan() {
		e := scan.Entry()
		shown := strings.Join(e.Lines, "\n")
		if !e.Valid || e.Filename == "" {
			if strings.TrimSpace(shown) != "" {
				r.add(shown, nil)
			}
			continue
		}
		f := &Finding{
			Path:  filePath(e.Filename),
			Range: Range{Start: Position{e.Lnum, e.Col}},
			Unit:  unit, Severity: severityOf(e.Type), Message: e.Text, Tool: tool,
		}
		if e.EndLnum > 0 && e.EndCol > 0 {
			f.Range.End = Position{e.EndLnum, e.EndCol}
		}
		if e.Nr > 0 {
			f.Code = fmt.Sprint(e.Nr)
		}
		r.add(shown, f)
	}
	return r
}

func severityOf(kind rune) Severity {
	switch kind {
	case 'w', 'W':
		return Warning
	case 'i', 'I', 'n', 'N':
		return Info
	}
	return Error
}

// parsePlain reads the form that most compilers print, file:line:column: message.
func parsePlain(tool string, out output) report {
	var r report
	for line := range textLines(joined(out.stderr, out.stdout)) {
		file, at, message, ok := splitLocation(line)
		if !ok || message == "" {
			r.add(line, nil)
			continue
		}
		f := &Finding{Path: file, Range: Range{Start: at}, Unit: Bytes, Severity: Error, Message: message, Tool: tool}
		for _, s := range []Severity{Error, Warning, Info, Hint} {
			if rest, is := strings.CutPrefix(message, string(s)+":"); is {
				f.Severity, f.Message = s, strings.TrimSpace(rest)
			}
		}
		r.add(line, f)
	}
	return r
}
