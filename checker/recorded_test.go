package checker

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "rewrite the want section of the recorded outputs")

// recordVar, when set, makes TestRecordedOutput run the tools anew and keep what
// they print. Tools that are not on PATH keep their old record.
const recordVar = "AGENT_LSP_TEST_RECORD"

// workspaceName stands for the project's directory in a record.
const workspaceName = "/w"

// record is one file of testdata/recorded: a project under in/, the command line
// in the comment, what the real tool printed, and what it should be read as.
type record struct {
	archive *txtar.Archive
	tool    string
	run     string
}

func readRecord(t *testing.T, path string) *record {
	t.Helper()
	a, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r := &record{archive: a}
	for line := range strings.SplitSeq(string(a.Comment), "\n") {
		if v, ok := strings.CutPrefix(line, "tool: "); ok {
			r.tool = v
		}
		if v, ok := strings.CutPrefix(line, "run: "); ok {
			r.run = v
		}
	}
	return r
}

func (r *record) section(name string) string {
	for _, f := range r.archive.Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	return ""
}

func (r *record) set(name, text string) {
	for i, f := range r.archive.Files {
		if f.Name == name {
			r.archive.Files[i].Data = []byte(text)
			return
		}
	}
	r.archive.Files = append(r.archive.Files, txtar.File{Name: name, Data: []byte(text)})
}

func (r *record) capture(t *testing.T) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.archive.Files {
		name, ok := strings.CutPrefix(f.Name, "in/")
		if !ok {
			continue
		}
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	words := strings.Fields(r.run)
	cmd := exec.Command(words[0], words[1:]...)
	if cmd.Err != nil {
		return
	}
	var stdout, stderr bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &stdout, &stderr
	cmd.Env = append(os.Environ(), "PWD="+dir)
	if strings.Contains(r.run, "--pretty true") {
		cmd.Env = append(cmd.Env, "FORCE_COLOR=1")
	} else {
		cmd.Env = append(cmd.Env, "NO_COLOR=1", "CARGO_TERM_COLOR=never")
	}
	_ = cmd.Run() // the exit code is part of the record
	r.set("exit", fmt.Sprintln(cmd.ProcessState.ExitCode()))
	r.set("stdout", strings.ReplaceAll(stdout.String(), dir, workspaceName))
	r.set("stderr", strings.ReplaceAll(stderr.String(), dir, workspaceName))
}

func (r *record) parse(t *testing.T) report {
	t.Helper()
	parsers := map[string]parser{
		"go":      parseGo,
		"vet":     func(out output) report { return parseVet(workspaceName, out) },
		"cargo":   parseCargo,
		"tsc":     parseTSC,
		"deno":    parseDeno,
		"pyright": func(out output) report { return parsePyright(workspaceName, out) },
	}
	parse := parsers[r.tool]
	if parse == nil {
		t.Fatalf("no parser for tool %q", r.tool)
	}
	code, err := strconv.Atoi(strings.TrimSpace(r.section("exit")))
	if err != nil {
		t.Fatal(err)
	}
	return parse(output{plain(r.section("stdout")), plain(r.section("stderr")), code})
}

// describe writes a report as the want section has it.
func describe(rep report) string {
	var b strings.Builder
	if rep.broken != "" {
		fmt.Fprintf(&b, "broken: %s\n", rep.broken)
	}
	if rep.partial != "" {
		fmt.Fprintf(&b, "partial: %s\n", rep.partial)
	}
	for _, block := range rep.blocks {
		f := block.finding
		if f == nil {
			fmt.Fprintf(&b, "text: %q\n", block.text)
			continue
		}
		fmt.Fprintf(&b, "%s:%s %s [%s] %q unit %d\n", f.Path, span(f.Range), f.Severity, f.Code, f.Message, f.Unit)
		for _, r := range f.Related {
			fmt.Fprintf(&b, "\t%s:%s %q\n", r.Path, span(r.Range), r.Message)
		}
	}
	return b.String()
}

func span(r Range) string {
	s := fmt.Sprintf("%d:%d", r.Start.Line, r.Start.Column)
	if r.End != (Position{}) {
		s += fmt.Sprintf("-%d:%d", r.End.Line, r.End.Column)
	}
	return s
}

// TestRecordedOutput reads what the real tools printed.
func TestRecordedOutput(t *testing.T) {
	paths, err := filepath.Glob("testdata/recorded/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no records: %v", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			r := readRecord(t, path)
			if os.Getenv(recordVar) != "" {
				r.capture(t)
			}
			got := describe(r.parse(t))
			if *update {
				r.set("want", got)
				if err := os.WriteFile(path, txtar.Format(r.archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(r.section("want"), got); diff != "" {
				t.Errorf("read as (-want +got):\n%s", diff)
			}
		})
	}
}
