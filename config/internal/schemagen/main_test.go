package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/config"
	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
)

const dir = "../.."

func TestWhatIsDerivedIsCurrent(t *testing.T) {
	files, err := generate(dir)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range files {
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(string(want), string(bytes.ReplaceAll(got, []byte("\r\n"), []byte("\n")))); d != "" {
			t.Errorf("%s is not current, run go generate ./config: %s", filepath.Base(path), d)
		}
	}
}

// schema is what the test reads of one.
type schema struct {
	Properties map[string]schema `json:"properties"`
	Additional any               `json:"additionalProperties"`
	Default    any               `json:"default"`
}

// keys lists the settings of a schema with their defaults, as the manual does.
func keys(t *testing.T, s schema, prefix string, out map[string]string) {
	t.Helper()
	for name, p := range s.Properties {
		key := prefix + name
		if p.Properties != nil {
			keys(t, p, key+".", out)
			continue
		}
		out[key] = ""
		if _, long := p.Default.(string); p.Default != nil && (!long || key != "prelude") {
			text, err := json.Marshal(p.Default, json.Deterministic(true))
			if err != nil {
				t.Fatal(err)
			}
			out[key] = strings.Trim(string(text), `"`)
		}
		if p.Additional == nil {
			continue
		}
		raw, err := json.Marshal(p.Additional)
		if err != nil {
			t.Fatal(err)
		}
		var elem schema
		if json.Unmarshal(raw, &elem) == nil {
			keys(t, elem, key+".*.", out)
		}
	}
}

func TestTheManualSaysWhatTheSchemaSays(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(dir, "schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	var s schema
	if err := json.Unmarshal(data, &s); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"trusted": "true", "settings": "workspace", "saves_edits": "false"} // no file sets these
	keys(t, s, "", want)
	page, err := os.ReadFile(filepath.Join(dir, "..", "docs", "configuration.md"))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z_.*]+)` \\| [^|]+ \\| ([^|]*) \\| ([^|]+) \\|\r?$").FindAllStringSubmatch(string(page), -1) {
		def := strings.Trim(row[2], "`")
		if def == "see below" {
			def = ""
		}
		got[row[1]] = def
	}
	delete(want, "profiles") // whose default is a table in one and rows in the other
	delete(got, "profiles")
	if d := cmp.Diff(want, got); d != "" || len(got) < 30 {
		t.Error(d)
	}
	if !strings.Contains(strings.ReplaceAll(string(page), "\r\n", "\n"), "```\n"+config.Prelude+"\n```\n") {
		t.Error("the manual shows another prelude than the default one")
	}
}

// The examples of the manual are read without a warning.
func TestTheManualsExampleIsRead(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(dir, "..", "docs", "configuration.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```yaml")
	example, _, ok := strings.Cut(rest, "```")
	if !ok {
		t.Fatal("the manual has no example")
	}
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(example), 0o600); err != nil {
		t.Fatal(err)
	}
	r := config.Load(config.Sources{UserFile: path})
	if len(r.Warnings) > 0 || r.Config.Profile != "gpt" || len(r.Config.Rules.Allow) != 2 {
		t.Error(fmt.Sprint(r.Warnings), r.Config)
	}
}

func TestEditorsAreOfferedCamelCase(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(dir, "schema.client.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"savesEdits"`, `"maxRounds"`, `"trusted"`, `"apiKeyEnv"`} {
		if !bytes.Contains(data, []byte(want)) {
			t.Errorf("no %s", want)
		}
	}
	if bytes.Contains(data, []byte(`"max_rounds"`)) {
		t.Error("a key of the file's spelling")
	}
}
