package config

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
)

// Layer is one of the places that settings come from; later ones win.
type Layer int

// The layers.
const (
	Defaults Layer = iota
	UserFile
	Workspace
	Client // the editor's settings
	Init   // the editor's initializationOptions
	Environment
	CommandLine
)

// String names the layer for a person.
func (l Layer) String() string {
	return [...]string{"default", "user file", "workspace file", "editor settings", "initialization options", "environment", "command line"}[l]
}

// mayTrust reports whether a layer may say that the workspace is trusted. The
// editor's settings may not: a repository can bring some along.
func (l Layer) mayTrust() bool { return l >= Init }

// Origin says where a value came from. Line and column count from 1; 0 is
// unknown.
type Origin struct {
	Layer        Layer
	Source       string // the file, variable or flag; empty for a default
	Line, Column int
}

// String returns the origin as a person reads it, e.g. /home/u/.config/agent-lsp/config.yaml:3:8.
func (o Origin) String() string {
	if o.Source == "" {
		return o.Layer.String()
	}
	return placed(o.Source, o.Line, o.Column)
}

func placed(source string, line, column int) string {
	if line == 0 {
		return source
	}
	return fmt.Sprintf("%s:%d:%d", source, line, column)
}

// compare orders origins by their place in a file.
func (o Origin) compare(p Origin, path, other string) int {
	return cmp.Or(cmp.Compare(o.Line, p.Line), cmp.Compare(o.Column, p.Column), cmp.Compare(path, other))
}

// Warning is something in a layer that was not understood or is not allowed
// there. It never contains a value that may be a secret.
type Warning struct {
	Layer        Layer
	Source       string // the file, variable, flag or message
	Line, Column int    // from 1; 0 where the source has no lines
	Key          string // as written there; empty when the source as a whole is meant
	Text         string // what is wrong, one sentence
	Near         string // what was probably meant, or empty
}

// String returns the whole warning in one line.
func (w Warning) String() string {
	s := placed(w.Source, w.Line, w.Column) + ": "
	if w.Key != "" {
		s += w.Key + ": "
	}
	s += w.Text
	if w.Near != "" {
		s += fmt.Sprintf(" (did you mean %s?)", w.Near)
	}
	return s
}

// Origin returns where the value of a key such as exec.timeout came from. A list or
// text that several layers added to names the last of them.
func (r *Result) Origin(key string) Origin {
	for path := key; ; {
		if o, ok := r.origins[path]; ok {
			return o
		}
		i := strings.LastIndexByte(path, '.')
		if i < 0 {
			return Origin{}
		}
		path = path[:i]
	}
}

// Setting is one value with its origin.
type Setting struct {
	Key    string
	Value  string // as JSON; a password in an address is left out
	Origin Origin
}

// Settings returns every value, in the order of the manual; of a profile those
// that are set.
func (r *Result) Settings() []Setting {
	var out []Setting
	r.list(reflect.ValueOf(r.Config), "", &out)
	return out
}

func (r *Result) list(v reflect.Value, prefix string, out *[]Setting) {
	for f, fv := range v.Fields() {
		name := f.Tag.Get("json")
		if name == "-" {
			continue
		}
		key := prefix + name
		switch {
		case fv.Kind() == reflect.Struct:
			r.list(fv, key+".", out)
		case fv.Kind() == reflect.Map && fv.Type().Elem().Kind() == reflect.Struct:
			names := slices.Sorted(maps.Keys(keysOf(fv)))
			for _, n := range names {
				r.list(fv.MapIndex(reflect.ValueOf(n)), key+"."+n+".", out)
			}
		case strings.HasPrefix(prefix, "profiles.") && fv.IsZero():
		case fv.Kind() == reflect.Map:
			for _, n := range slices.Sorted(maps.Keys(keysOf(fv))) {
				*out = append(*out, r.setting(key+"."+n, fv.MapIndex(reflect.ValueOf(n))))
			}
		default:
			*out = append(*out, r.setting(key, fv))
		}
	}
}

func keysOf(m reflect.Value) map[string]bool {
	keys := map[string]bool{}
	for _, k := range m.MapKeys() {
		keys[k.String()] = true
	}
	return keys
}

func (r *Result) setting(key string, v reflect.Value) Setting {
	value := v.Interface()
	if s, ok := value.(string); ok {
		value = withoutPassword(s)
	}
	text, err := json.Marshal(value, json.Deterministic(true))
	if err != nil {
		text = fmt.Appendf(nil, "%q", err)
	}
	return Setting{key, string(text), r.Origin(key)}
}

var (
	// inAddress and inKeywords are members of an address and of a list of keywords,
	// as libpq takes it, whose names say that their values are secret.
	inAddress  = regexp.MustCompile(`(?i)([?&][^=&#]*(?:` + secretNames + `)[^=&#]*=)[^&#]*`)
	inKeywords = regexp.MustCompile(`(?i)\b([a-z_]*(?:` + secretNames + `)[a-z_]*\s*=\s*)(?:'(?:[^'\\]|\\.)*'?|[^\s'][^\s]*)`)
	keywords   = regexp.MustCompile(`^\s*[a-z_]+\s*=`)
	userInfo   = regexp.MustCompile(`(?s)^([^:/?#]*://)(.*)@`)
)

const secretNames = `key|token|secret|pass|pwd|sig|auth|credential`

// withoutPassword removes the secrets of an address, or of a list of keywords.
func withoutPassword(s string) string {
	if !strings.Contains(s, "://") {
		if keywords.MatchString(s) {
			return inKeywords.ReplaceAllString(s, "${1}xxxxx")
		}
		return s
	}
	s = inAddress.ReplaceAllString(s, "${1}xxxxx")
	// An @ behind the host is not looked for: what stands before the last one may be
	// a password with any character in it.
	return userInfo.ReplaceAllStringFunc(s, func(head string) string {
		m := userInfo.FindStringSubmatch(head)
		if user, _, has := strings.Cut(m[2], ":"); has && !strings.ContainsAny(m[2], "/?# ") {
			return m[1] + user + ":xxxxx@"
		} else if !has && !strings.ContainsAny(m[2], "/?#") {
			return head
		} else if _, err := url.Parse(s); err == nil && strings.ContainsAny(m[2], "/?#") {
			return head // the @ is of the path
		}
		return m[1] + "xxxxx@"
	})
}

// MarshalJSON writes the rule as it stands in a file.
func (r Rule) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string][]string{r.Tool: r.Prefix})
}

// field returns a setting by its canonical key; settings inside of maps are not found.
func field(v reflect.Value, key string) (reflect.Value, reflect.StructField, bool) {
	name, rest, more := strings.Cut(key, ".")
	for f, fv := range v.Fields() {
		if f.Tag.Get("json") != name {
			continue
		}
		if !more {
			return fv, f, true
		}
		if fv.Kind() == reflect.Struct {
			return field(fv, rest)
		}
	}
	return reflect.Value{}, reflect.StructField{}, false
}

// keys returns the canonical keys of all settings that are not inside of maps.
func keys(t reflect.Type, prefix string) []string {
	var out []string
	for f := range t.Fields() {
		name := f.Tag.Get("json")
		if f.Type.Kind() == reflect.Struct {
			out = append(out, keys(f.Type, prefix+name+".")...)
			continue
		}
		out = append(out, prefix+name)
	}
	return out
}
