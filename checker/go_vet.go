package checker

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/agent-lsp/agent-lsp/workspace"
)

// vetDiagnostic is what an analyzer of go vet says of one place. Other keys of
// the tool are ignored.
type vetDiagnostic struct {
	Posn    string `json:"posn"`
	End     string `json:"end"`
	Message string `json:"message"`
	Related []struct {
		Posn    string `json:"posn"`
		End     string `json:"end"`
		Message string `json:"message"`
	} `json:"related"`
}

// parseVet reads go vet -json: type errors as text on stderr, what the analyzers
// found as one JSON object a package on stdout. The text names files from root, as
// go vet does without -json.
func parseVet(root string, out output) report {
	r := parseGoText(output{stderr: out.stderr, code: out.code}, "go vet")
	if strings.HasPrefix(out.stderr, "vet: ") || strings.Contains(out.stderr, "\nvet: ") {
		r.partial = "go vet prints only the first type error of a package"
	}
	rest, noise := splitJSON(out.stdout)
	for _, line := range noise {
		r.add(line, nil)
	}
	dec := jsontext.NewDecoder(strings.NewReader(rest), jsontext.AllowDuplicateNames(true))
	for {
		var packages map[string]map[string]jsontext.Value
		err := json.UnmarshalDecode(dec, &packages)
		if errors.Is(err, io.EOF) {
			return r
		}
		if err != nil {
			if r.findings("") == 0 {
				r.broken = "its JSON output is cut off or damaged"
			} else {
				r.partial = "the tool's JSON output is cut off or damaged"
			}
			return r
		}
		for _, pkg := range sortedKeys(packages) {
			for _, analyzer := range sortedKeys(packages[pkg]) {
				addVet(&r, root, pkg, analyzer, packages[pkg][analyzer])
			}
		}
	}
}

func addVet(r *report, root, pkg, analyzer string, raw jsontext.Value) {
	var found []vetDiagnostic
	if err := json.Unmarshal(raw, &found); err != nil {
		// An analyzer that failed has an object with its error.
		r.add(fmt.Sprintf("%s: %s: %s", pkg, analyzer, raw), nil)
		return
	}
	for _, d := range found {
		file, at, _, ok := splitLocation(d.Posn)
		if !ok {
			r.add(d.Message, nil)
			continue
		}
		f := &Finding{
			Path: file, Range: Range{at, endOf(d.End, file, at)}, Unit: Bytes,
			Severity: Warning, Code: analyzer, Message: d.Message, Tool: "go vet",
		}
		for _, rel := range d.Related {
			if file, at, _, ok := splitLocation(rel.Posn); ok {
				f.Related = append(f.Related, Related{Path: file, Range: Range{at, endOf(rel.End, file, at)}, Message: rel.Message})
			}
		}
		shown := d.Posn
		if rel := workspace.Relative(root, file); !strings.HasPrefix(rel, "../") {
			shown = "./" + rel + strings.TrimPrefix(d.Posn, file)
		}
		r.add(fmt.Sprintf("%s: %s (%s)", strings.TrimPrefix(shown, "././"), d.Message, analyzer), f)
	}
}

// endOf reads a place that may end a range from start in file.
func endOf(posn, file string, start Position) Position {
	endFile, at, _, ok := splitLocation(posn)
	if !ok || endFile != file || at == start {
		return Position{}
	}
	return at
}

// splitJSON separates the lines before a text's first JSON object, and the
// comment lines of go vet, from the objects.
func splitJSON(text string) (rest string, noise []string) {
	var kept []string
	for line := range lines(text) {
		switch {
		case strings.HasPrefix(line, "#"):
		case len(kept) == 0 && !strings.HasPrefix(line, "{"):
			if strings.TrimSpace(line) != "" {
				noise = append(noise, line)
			}
		default:
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n"), noise
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
