// Command schemagen writes what is derived from the configuration's types: the
// JSON Schemas of the file and of an editor's settings, and the table of keys in
// the manual. It runs in the directory of package config.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"

	"github.com/agent-lsp/agent-lsp/config"
	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

func main() {
	if err := run("."); err != nil {
		fmt.Fprintln(os.Stderr, "schemagen:", err)
		os.Exit(1)
	}
}

func run(dir string) error {
	files, err := generate(dir)
	if err != nil {
		return err
	}
	for path, data := range files {
		if err := os.WriteFile(path, data, 0o644); err != nil {
			return fmt.Errorf("write what was generated: %w", err)
		}
	}
	return nil
}

// generate returns the derived files by path. dir is the one of package config.
func generate(dir string) (map[string][]byte, error) {
	g := generator{comments: map[string]string{}}
	for _, path := range []string{
		filepath.Join(dir, "config.go"),
		filepath.Join(dir, "..", "session", "model", "model.go"),
	} {
		if err := g.readComments(path); err != nil {
			return nil, err
		}
	}
	file, err := g.document("Configuration of agent-lsp")
	if err != nil {
		return nil, err
	}
	g.client = true
	client, err := g.document("Settings of agent-lsp in an editor")
	if err != nil {
		return nil, err
	}
	manual := filepath.Join(dir, "..", "docs", "configuration.md")
	page, err := os.ReadFile(manual)
	if err != nil {
		return nil, fmt.Errorf("read manual: %w", err)
	}
	page, err = g.fill(page)
	if err != nil {
		return nil, err
	}
	return map[string][]byte{
		filepath.Join(dir, "schema.json"):        file,
		filepath.Join(dir, "schema.client.json"): client,
		manual:                                   page,
	}, nil
}

type generator struct {
	comments map[string]string // by Type.Field
	client   bool              // camel case, and what only an editor may set
}

// readComments collects the comments of all fields in a file.
func (g *generator) readComments(path string) error {
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
	if err != nil {
		return fmt.Errorf("read comments: %w", err)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		t, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		s, ok := t.Type.(*ast.StructType)
		if !ok {
			return false
		}
		for _, field := range s.Fields.List {
			for _, name := range field.Names {
				g.comments[t.Name.Name+"."+name.Name] = strings.Join(strings.Fields(field.Doc.Text()), " ")
			}
		}
		return false
	})
	return nil
}

// about returns a field's comment without the Go name that it begins with.
func (g *generator) about(t reflect.Type, f reflect.StructField) (string, error) {
	text := g.comments[t.Name()+"."+f.Name]
	if text == "" {
		return "", fmt.Errorf("%s.%s has no comment to describe it", t.Name(), f.Name)
	}
	words := strings.TrimPrefix(text, f.Name+" ")
	for _, verb := range []string{"is ", "are "} {
		words = strings.TrimPrefix(words, verb)
	}
	return strings.ToUpper(words[:1]) + words[1:], nil
}

func (g *generator) document(title string) ([]byte, error) {
	c := config.Default()
	s, err := g.object(reflect.ValueOf(c))
	if err != nil {
		return nil, err
	}
	s["$schema"] = "http://json-schema.org/draft-07/schema#"
	s["title"] = title
	out, err := json.Marshal(s, json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		return nil, fmt.Errorf("encode schema: %w", err)
	}
	return append(out, '\n'), nil
}

// object returns the schema of a struct, with the values of v as defaults.
func (g *generator) object(v reflect.Value) (map[string]any, error) {
	properties := map[string]any{}
	for f, fv := range v.Fields() {
		name := f.Tag.Get("json")
		if name == "-" || f.Tag.Get("only") != "" && !g.client {
			continue
		}
		s, err := g.value(f, fv)
		if err != nil {
			return nil, err
		}
		if s["description"], err = g.about(v.Type(), f); err != nil {
			return nil, err
		}
		properties[g.name(name)] = s
	}
	return map[string]any{"type": "object", "properties": properties, "additionalProperties": false}, nil
}

func (g *generator) name(snake string) string {
	if !g.client {
		return snake
	}
	parts := strings.Split(snake, "_")
	for i, p := range parts[1:] {
		parts[i+1] = strings.ToUpper(p[:1]) + p[1:]
	}
	return strings.Join(parts, "")
}

func (g *generator) value(f reflect.StructField, v reflect.Value) (map[string]any, error) {
	s, err := g.typed(v)
	if err != nil {
		return nil, err
	}
	if enum := f.Tag.Get("enum"); enum != "" {
		s["enum"] = strings.Split(enum, ",")
	}
	if least, err := strconv.Atoi(f.Tag.Get("min")); err == nil && v.Kind() == reflect.Int {
		s["minimum"] = least
	}
	if _, ok := v.Interface().([]int); ok {
		least, err := strconv.Atoi(f.Tag.Get("min"))
		most, err2 := strconv.Atoi(f.Tag.Get("max"))
		if err := errors.Join(err, err2); err != nil {
			return nil, fmt.Errorf("the bounds of %s: %w", f.Name, err)
		}
		s["items"] = map[string]any{"type": "integer", "minimum": least, "maximum": most}
	}
	if scalar := v.Kind() == reflect.Bool || v.Kind() == reflect.Int || v.Kind() == reflect.Float64; scalar || v.Kind() != reflect.Struct && !v.IsZero() {
		s["default"] = v.Interface()
	}
	if f.Tag.Get("json") == "profile" && g.client {
		whole, err := g.object(reflect.ValueOf(model.Profile{}))
		if err != nil {
			return nil, err
		}
		s = map[string]any{"anyOf": []any{map[string]any{"type": "string"}, whole}, "default": v.Interface()}
	}
	return s, nil
}

// scalar is the schema of a text in a list: other scalars are read as written.
var scalar = map[string]any{"type": []string{"string", "number", "boolean"}}

func (g *generator) typed(v reflect.Value) (map[string]any, error) {
	switch v.Interface().(type) {
	case config.Duration:
		return map[string]any{"type": "string", "pattern": `^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$`}, nil
	case config.Size:
		return map[string]any{"type": []string{"string", "integer"}, "pattern": `^[0-9]+(\.[0-9]+)? ?([KMGkmg]?[Bb])?$`}, nil
	case []config.Rule:
		match := map[string]any{"anyOf": []any{map[string]any{"type": "string"}, map[string]any{"type": "array", "items": scalar}}}
		return map[string]any{"type": "array", "items": map[string]any{
			"type": "object", "additionalProperties": match, "minProperties": 1,
		}}, nil
	}
	switch v.Kind() {
	case reflect.Struct:
		return g.object(v)
	case reflect.Map:
		elem, err := g.typed(reflect.Zero(v.Type().Elem()))
		return map[string]any{"type": "object", "additionalProperties": elem}, err
	case reflect.Slice:
		return map[string]any{"type": "array", "items": scalar}, nil
	case reflect.String:
		return map[string]any{"type": "string"}, nil
	case reflect.Bool:
		return map[string]any{"type": "boolean"}, nil
	case reflect.Int:
		return map[string]any{"type": "integer"}, nil
	case reflect.Float64:
		return map[string]any{"type": "number", "minimum": 0}, nil
	}
	return nil, fmt.Errorf("no schema for %s", v.Type())
}

const (
	tableBegin = "<!-- keys: written by go generate ./config -->\n"
	tableEnd   = "<!-- end of keys -->\n"
)

// fill writes the table of keys into the manual.
func (g *generator) fill(page []byte) ([]byte, error) {
	before, rest, ok := bytes.Cut(page, []byte(tableBegin))
	_, after, ok2 := bytes.Cut(rest, []byte(tableEnd))
	if !ok || !ok2 {
		return nil, fmt.Errorf("the manual lacks the marks of the table: %q and %q", tableBegin, tableEnd)
	}
	var out bytes.Buffer
	out.Write(before)
	out.WriteString(tableBegin)
	out.WriteString("| key | value | default | meaning |\n|---|---|---|---|\n")
	if err := g.rows(&out, reflect.ValueOf(config.Default()), ""); err != nil {
		return nil, err
	}
	out.WriteString(tableEnd)
	out.Write(after)
	return out.Bytes(), nil
}

func (g *generator) rows(out *bytes.Buffer, v reflect.Value, prefix string) error {
	for f, fv := range v.Fields() {
		name := f.Tag.Get("json")
		if name == "-" {
			continue
		}
		key := prefix + name
		if fv.Kind() == reflect.Struct {
			if err := g.rows(out, fv, key+"."); err != nil {
				return err
			}
			continue
		}
		about, err := g.about(v.Type(), f)
		if err != nil {
			return err
		}
		def, err := defaultOf(key, fv)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "| `%s` | %s | %s | %s |\n", key, kindOf(f, fv), def, about)
		if fv.Kind() == reflect.Map && fv.Type().Elem().Kind() == reflect.Struct {
			if err := g.rows(out, reflect.Zero(fv.Type().Elem()), key+".*."); err != nil {
				return err
			}
		}
	}
	return nil
}

func defaultOf(key string, v reflect.Value) (string, error) {
	switch {
	case key == "prelude":
		return "see below", nil
	case v.IsZero() && v.Kind() != reflect.Bool && v.Kind() != reflect.Int && v.Kind() != reflect.Float64:
		return "", nil
	}
	text, err := json.Marshal(v.Interface(), json.Deterministic(true), json.OmitZeroStructFields(true))
	if err != nil {
		return "", fmt.Errorf("encode default of %s: %w", key, err)
	}
	return "`" + strings.Trim(string(text), `"`) + "`", nil
}

func kindOf(f reflect.StructField, v reflect.Value) string {
	if enum := f.Tag.Get("enum"); enum != "" {
		return "`" + strings.ReplaceAll(enum, ",", "`, `") + "`"
	}
	switch v.Interface().(type) {
	case config.Duration:
		return "time"
	case config.Size:
		return "size"
	case []config.Rule:
		return "rules"
	}
	switch v.Kind() {
	case reflect.Map:
		return "by name"
	case reflect.Slice:
		return "list"
	case reflect.Bool:
		return "`true`, `false`"
	case reflect.Int, reflect.Float64:
		return "number"
	}
	return "text"
}
