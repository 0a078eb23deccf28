package config

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agent-lsp/agent-lsp/session/model"
)

// decoder applies one layer's tree to a configuration. What it does not
// understand becomes a warning, and the rest still applies.
type decoder struct {
	layer   Layer
	source  string // the file, or what else the layer is called
	dir     string // where relative paths of this layer start
	camel   bool   // keys are written in camel case
	origins map[string]Origin
	warn    func(Warning)
	tools   []string  // what rules may name; nil: sixTools
	anyTool bool      // rules may name any
	allowed *[]Origin // of each rule of rules.allow; nil when nobody wants it
}

// spot is the key being decoded: path is its canonical name, shown the name as this
// layer writes it.
type spot struct {
	place
	path, shown string
}

func (s spot) child(p place, path, shown string) spot {
	if s.path != "" {
		path, shown = s.path+"."+path, s.shown+"."+shown
	}
	return spot{p, path, shown}
}

func (d *decoder) warnf(s spot, near, format string, args ...any) {
	d.warn(Warning{
		Layer: d.layer, Source: d.source, Line: s.line, Column: s.column,
		Key: s.shown, Text: fmt.Sprintf(format, args...), Near: near,
	})
}

// record stores the origin of a value. It returns true, for value to return.
func (d *decoder) record(s spot) bool {
	if s.path == "" { // of a list's item
		return true
	}
	d.origins[s.path] = Origin{Layer: d.layer, Source: d.source, Line: s.line, Column: s.column}
	return true
}

// apply sets the values of the tree in c.
func (d *decoder) apply(n *node, c *Config) {
	if n == nil || n.kind == null {
		return
	}
	if n.kind != object {
		d.warnf(spot{place: n.place}, "", "this is %s, not settings by name", n.kind)
		return
	}
	d.structure(n, reflect.ValueOf(c).Elem(), spot{})
}

// key returns a field's name in this layer.
func (d *decoder) key(f reflect.StructField) string {
	name := f.Tag.Get("json")
	if d.camel {
		name = camelCase(name)
	}
	return name
}

// camelCase returns maxRounds for max_rounds.
func camelCase(snake string) string {
	parts := strings.Split(snake, "_")
	for i, p := range parts[1:] {
		parts[i+1] = strings.ToUpper(p[:1]) + p[1:]
	}
	return strings.Join(parts, "")
}

func (d *decoder) structure(n *node, v reflect.Value, at spot) {
	fields := map[string]reflect.StructField{}
	var names []string
	for f := range v.Type().Fields() {
		if name := d.key(f); name != "-" {
			fields[name] = f
			names = append(names, name)
		}
	}
	for _, m := range n.members {
		f, ok := fields[m.key]
		here := at.child(m.place, f.Tag.Get("json"), m.key)
		switch {
		case !ok:
			here.path = ""
			d.unknown(here, m.key, names)
		case m.value.kind == null: // as if it were not there
		case f.Tag.Get("only") != "" && !d.layer.mayTrust():
			d.warnf(here, "", "only an editor's initializationOptions or the command line sets this")
		case here.path == "profile" && m.value.kind == object:
			d.inline(m.value, v, here)
		default:
			d.value(m.value, v.FieldByIndex(f.Index), here, f.Tag)
		}
	}
}

func (d *decoder) unknown(at spot, key string, names []string) {
	if strings.Contains(strings.ToLower(strings.ReplaceAll(key, "_", "")), "apikey") {
		d.warnf(at, d.name("api_key_env"), "API keys are not read from a configuration: name the environment variable that holds it")
		return
	}
	d.warnf(at, nearest(key, names), "there is no such setting")
}

// inline sets a whole profile where a name is expected.
func (d *decoder) inline(n *node, v reflect.Value, at spot) {
	c, ok := v.Addr().Interface().(*Config)
	if !ok {
		return
	}
	if d.layer == UserFile || d.layer == Workspace {
		d.warnf(at, "", "this names a profile; a profile itself stands under profiles")
		return
	}
	d.profile(n, reflect.ValueOf(&c.Profiles).Elem(), Inline, spot{at.place, "profiles." + Inline, at.shown})
	c.Profile = Inline
	d.record(at)
}

// value sets one value of any type that a configuration has, and reports whether
// it did.
func (d *decoder) value(n *node, v reflect.Value, at spot, tag reflect.StructTag) bool {
	switch p := v.Addr().Interface().(type) {
	case *Duration:
		return d.duration(n, p, at, tag)
	case *Size:
		return d.size(n, p, at)
	case *[]Rule:
		return d.rules(n, p, at, tag)
	case *[]int:
		return d.integers(n, p, at, tag)
	}
	switch v.Kind() {
	case reflect.Struct:
		if !d.is(n, object, at, "settings by name") {
			return false
		}
		d.structure(n, v, at)
		return true
	case reflect.Map:
		if !d.is(n, object, at, "values by name") {
			return false
		}
		d.table(n, v, at)
		return true
	case reflect.Slice:
		return d.texts(n, v, at)
	case reflect.Bool:
		if !d.is(n, boolean, at, "true or false") {
			return false
		}
		v.SetBool(n.text == "true")
		return d.record(at)
	case reflect.Int:
		return d.integer(n, v, at, tag)
	case reflect.Float64:
		return d.number(n, v, at, tag)
	case reflect.String:
		return d.text(n, v, at, tag)
	}
	panic("config: no decoding of " + v.Type().String())
}

func (d *decoder) is(n *node, k kind, at spot, want string) bool {
	if n.kind == k {
		return true
	}
	d.warnf(at, "", "this is %s, not %s", n.kind, want)
	return false
}

func (d *decoder) text(n *node, v reflect.Value, at spot, tag reflect.StructTag) bool {
	if n.kind == list || n.kind == object {
		d.warnf(at, "", "this is %s, not a text", n.kind)
		return false
	}
	if enum := tag.Get("enum"); enum != "" || at.path == "profile" {
		if n.text == "" {
			return false // how editors send what nobody chose
		}
		if names := strings.Split(enum, ","); enum != "" && !slices.Contains(names, n.text) {
			d.warnf(at, nearest(n.text, names), "%q is not one of %s", brief(n.text), strings.Join(names, ", "))
			return false
		}
	}
	v.SetString(n.text)
	return d.record(at)
}

func (d *decoder) size(n *node, p *Size, at spot) bool {
	v, ok := parseSize(n.text)
	if n.kind != text && n.kind != number || !ok {
		d.warnf(at, "", "this is %s, not a size such as 500MB or 5GB", n.what())
		return false
	}
	*p = v
	return d.record(at)
}

func (d *decoder) duration(n *node, p *Duration, at spot, tag reflect.StructTag) bool {
	v, err := time.ParseDuration(n.text)
	if n.kind != text || err != nil {
		d.warnf(at, "", "this is %s, not a length of time such as 90s or 2m", n.what())
		return false
	}
	if least, _ := strconv.Atoi(tag.Get("min")); v < time.Duration(least) {
		d.warnf(at, "", "%s is not longer than no time at all", v)
		return false
	}
	*p = Duration(v)
	return d.record(at)
}

// what describes a node for a warning, with the value when that helps.
func (n *node) what() string {
	if n.kind == number || n.kind == text {
		return fmt.Sprintf("%q", brief(n.text))
	}
	return string(n.kind)
}

// texts sets a list of texts.
func (d *decoder) texts(n *node, v reflect.Value, at spot) bool {
	if !d.is(n, list, at, "a list of texts") {
		return false
	}
	out := []string{}
	for i, item := range n.items {
		if item.kind == list || item.kind == object || item.kind == null {
			d.warnf(at.item(item.place, i), "", "this is %s, not a text, so the whole list is left out", item.kind)
			return false
		}
		out = append(out, item.text)
	}
	v.Set(reflect.ValueOf(out))
	return d.record(at)
}

// item is the spot of a list's item, which has no origin of its own.
func (s spot) item(p place, i int) spot {
	return spot{place: p, shown: fmt.Sprintf("%s[%d]", s.shown, i)}
}

// rules sets or adds to a list of rules. A rule that is not understood is left
// out alone: the others of the list are worth having.
func (d *decoder) rules(n *node, p *[]Rule, at spot, tag reflect.StructTag) bool {
	if !d.is(n, list, at, "a list of rules such as exec: [go, test]") {
		return false
	}
	out := []Rule{}
	for i, item := range n.items {
		here := at.item(item.place, i)
		if !d.is(item, object, here, "a rule such as exec: [go, test]") {
			continue
		}
		for _, m := range item.members {
			known := d.tools
			if known == nil {
				known = sixTools
			}
			if !d.anyTool && !slices.Contains(known, m.key) && !strings.Contains(m.key, "__") { // other servers' tools come and go
				d.warnf(here, nearest(m.key, known), "%q is not one of the tools %s", brief(m.key), strings.Join(known, ", "))
				continue
			}
			prefix := m.value
			if prefix.kind == text { // exec: rm is exec: [rm]
				prefix = &node{place: prefix.place, kind: list, items: []*node{prefix}}
			}
			rule := Rule{Tool: m.key}
			if d.texts(prefix, reflect.ValueOf(&rule.Prefix).Elem(), spot{place: m.place, shown: here.shown + "." + m.key}) {
				out = append(out, rule)
				if d.allowed != nil && at.path == "rules.allow" {
					*d.allowed = append(*d.allowed, Origin{Layer: d.layer, Source: d.source, Line: m.line, Column: m.column})
				}
			}
		}
	}
	if tag.Get("merge") == "add" {
		out = append(slices.Clone(*p), out...)
	}
	*p = out
	return d.record(at)
}

// sixTools are those that the agent's core has forms of its own for.
var sixTools = []string{"read", "write", "patch", "exec", "git", "browse"}

// table sets entries of a map; those that are not named stay.
func (d *decoder) table(n *node, v reflect.Value, at spot) {
	for _, m := range n.members {
		here := at.child(m.place, m.key, m.key)
		if m.value.kind == null {
			continue
		}
		if v.Type().Elem() == reflect.TypeFor[model.Profile]() {
			d.profile(m.value, v, m.key, here)
			continue
		}
		elem := reflect.New(v.Type().Elem()).Elem()
		if d.value(m.value, elem, here, "") {
			put(v, m.key, elem)
			d.record(here)
		}
	}
}

func put(table reflect.Value, key string, v reflect.Value) {
	if table.IsNil() {
		table.Set(reflect.MakeMap(table.Type()))
	}
	table.SetMapIndex(reflect.ValueOf(key), v)
}

// profile replaces one profile whole.
func (d *decoder) profile(n *node, profiles reflect.Value, name string, at spot) {
	if !d.is(n, object, at, "a profile") {
		return
	}
	for path := range d.origins {
		if strings.HasPrefix(path, at.path+".") {
			delete(d.origins, path)
		}
	}
	p := model.Profile{Name: name}
	d.structure(n, reflect.ValueOf(&p).Elem(), at)
	if p.Script != "" && d.dir != "" && !filepath.IsAbs(p.Script) {
		p.Script = filepath.Join(d.dir, p.Script)
	}
	if p.APIKeyEnv != "" && !isEnvName(p.APIKeyEnv) {
		// It may well be a key, so it is not repeated.
		d.warnf(at.child(at.place, "api_key_env", d.name("api_key_env")), "", "this is not the name of an environment variable")
		p.APIKeyEnv = ""
	}
	switch {
	case p.Provider == "":
		d.warnf(at, "", "the profile names no provider: script, openai or anthropic")
		return
	case p.Provider != "script" && p.Model == "":
		d.warnf(at, "", "the profile names no model")
	}
	put(profiles, name, reflect.ValueOf(p))
	d.record(at)
}

func (d *decoder) name(snake string) string {
	if d.camel {
		return camelCase(snake)
	}
	return snake
}

func isEnvName(s string) bool {
	for i, c := range s {
		letter := c == '_' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return len(s) <= 100
}

// brief bounds what a warning repeats.
func brief(s string) string {
	if r := []rune(s); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return s
}
