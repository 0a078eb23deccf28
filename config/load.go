package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/agent-lsp/agent-lsp/workspace"
	"github.com/go-json-experiment/json/jsontext"
)

// WorkspaceFile is the name of the file at a workspace root.
const WorkspaceFile = ".agent-lsp.yaml"

// Section is the name under which an editor keeps the settings.
const Section = "agentLsp"

// UserFilePath returns the path of the user's file, whether or not it exists.
func UserFilePath() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("find the user's configuration: %w", err)
	}
	return filepath.Join(dir, "agent-lsp", "config.yaml"), nil
}

// Sources are what a configuration is read from. Any may be empty.
type Sources struct {
	UserFile  string         // path
	Workspace string         // directory of the root
	Client    jsontext.Value // the editor's reply for Section
	Init      jsontext.Value // initializationOptions
	// Distrusted says that the person was asked whether to trust the workspace and did
	// not: what Init, Env and Flags say of that goes before.
	Distrusted bool
	Env        []string // os.Environ(): AGENT_LSP_EXEC_TIMEOUT=60s sets exec.timeout
	Flags      []Flag
	// Offered are profiles that stand ready without a setting, in the order in which
	// they are offered. Any layer may have its own of the same name.
	Offered []model.Profile
	// Tools are the names of tools that rules may have; nil are the six that every
	// agent has. Names with __ are those of other servers' tools and always fit.
	Tools []string
}

// Flag is a setting of the command line.
type Flag struct {
	Name  string // as typed, e.g. --profile
	Key   string // e.g. profile or exec.timeout
	Value string // as in a file, e.g. gpt, 60s, [go, test] or {provider: script}
}

// Result is a configuration with its history.
type Result struct {
	Config   Config
	Warnings []Warning // in the order of the layers
	// AllowedBy are the origins of the rules of Config.Rules.Allow, in their order.
	AllowedBy []Origin

	origins  map[string]Origin
	userFile string // for warnings
}

// Loader reads configurations repeatedly. For a file that no longer parses, it uses
// the content that last did: a half-saved file resets nothing. The zero
// Loader is ready; it is safe for concurrent use.
type Loader struct {
	mu   sync.Mutex // guards good
	good map[string]*node
}

// Load reads all layers. It has no error: what cannot be read is a warning, and
// there is always a configuration to work with.
func Load(s Sources) Result { return new(Loader).Load(s) }

// Load is like the function Load, but falls back on the files of earlier calls.
func (l *Loader) Load(s Sources) Result {
	r := Result{Config: Default(), origins: map[string]Origin{}, userFile: cmp.Or(s.UserFile, "your own configuration file")}
	r.Config.Trusted = !s.Distrusted
	for _, p := range s.Offered {
		r.Config.Profiles[p.Name] = p
	}
	var picks []pick
	layer := func(d *decoder, n *node) {
		d.origins, d.warn, d.tools, d.allowed = r.origins, r.warn, s.Tools, &r.AllowedBy
		delete(r.origins, "profile")
		d.apply(n, &r.Config)
		if o, ok := r.origins["profile"]; ok {
			picks = append(picks, pick{r.Config.Profile, o})
		}
	}
	if n := l.file(s.UserFile, nil, UserFile, r.warn); n != nil {
		layer(&decoder{layer: UserFile, source: s.UserFile, dir: filepath.Dir(s.UserFile)}, n)
	}
	own := clientsOwn(s)
	if s.Workspace != "" {
		if p, ok := l.workspace(s, &r, own.Trusted); ok {
			picks = append(picks, p)
		}
	}
	const settings = "workspace/configuration"
	if d, n := message(s, Client, settings), r.parse(s.Client, Client, settings); own.Settings == "user" {
		layer(d, n)
	} else if n != nil {
		d.warn, d.tools = r.warn, s.Tools
		if p, ok := r.narrowBy(d, n); ok {
			picks = append(picks, p)
		}
	}
	layer(message(s, Init, "initializationOptions"), r.parse(s.Init, Init, "initializationOptions"))
	for _, f := range environment(s.Env, r.warn) {
		layer(f.decoder(s, Environment), f.tree(Environment, r.warn))
	}
	for _, f := range s.Flags {
		layer(f.decoder(s, CommandLine), f.tree(CommandLine, r.warn))
	}
	r.choose(picks)
	r.checkFallbacks()
	return r
}

func message(s Sources, layer Layer, source string) *decoder {
	return &decoder{layer: layer, source: source, dir: s.Workspace, camel: true}
}

func (r *Result) warn(w Warning) { r.Warnings = append(r.Warnings, w) }

// parse reads an editor's message. Some clients put the section's name around
// it, and settings of the editor's own plugin stand among ours.
func (r *Result) parse(data jsontext.Value, layer Layer, source string) *node {
	n, err := parseJSON(data)
	if err != nil {
		r.warn(Warning{Layer: layer, Source: source, Text: "this is not read: " + err.Error()})
		return nil
	}
	if n == nil || n.kind != object {
		return n
	}
	if len(n.members) == 1 && n.members[0].key == Section {
		if n = n.members[0].value; n.kind != object {
			return n
		}
	}
	n.members = slices.DeleteFunc(n.members, func(m member) bool { return m.key == "server" || m.key == "trace" })
	return n
}

// pick is a layer's choice of a profile.
type pick struct {
	name   string
	origin Origin
}

// choose selects the last choice for which there is a profile.
func (r *Result) choose(picks []pick) {
	r.Config.Profile = Default().Profile
	delete(r.origins, "profile")
	names := r.Config.ProfileNames()
	for _, p := range picks {
		if _, ok := r.Config.Profiles[p.name]; ok {
			r.Config.Profile = p.name
			r.origins["profile"] = p.origin
			continue
		}
		of := "there is no profile %q; there are %s"
		if p.origin.Layer == Workspace {
			of = "the workspace chooses the profile %q, which is none of yours: they are %s"
		}
		r.warn(Warning{
			Layer: p.origin.Layer, Source: p.origin.Source, Line: p.origin.Line, Column: p.origin.Column, Key: "profile",
			Text: fmt.Sprintf(of, brief(p.name), strings.Join(names, ", ")), Near: nearest(p.name, names),
		})
	}
	if _, ok := r.Config.Profiles[r.Config.Profile]; !ok {
		r.Config.Profile = names[0] // the demonstration cannot be taken away, so there is one
	}
}

// checkFallbacks warns of fallbacks to profiles that do not exist.
func (r *Result) checkFallbacks() {
	names := r.Config.ProfileNames()
	for _, name := range names {
		p := r.Config.Profiles[name]
		for _, f := range p.Fallback {
			what := fmt.Sprintf("%q, which is no profile", brief(f))
			near := nearest(f, names)
			if _, ok := r.Config.Profiles[f]; ok {
				if f != name {
					continue
				}
				what, near = "itself", ""
			}
			key := "profiles." + name + ".fallback"
			o := r.Origin(key)
			r.warn(Warning{
				Layer: o.Layer, Source: o.Source, Line: o.Line, Column: o.Column, Key: key,
				Text: fmt.Sprintf("the profile %q falls back to %s", name, what), Near: near,
			})
		}
	}
}

// most is how large a file may be.
const most = 256 << 10

// file reads a file's tree: below root when there is one. It returns nil when there
// is no such file or nothing in it.
func (l *Loader) file(path string, root *os.Root, layer Layer, warn func(Warning)) *node {
	if path == "" {
		return nil
	}
	complain := func(p place, text string) {
		warn(Warning{Layer: layer, Source: path, Line: p.line, Column: p.column, Text: text})
	}
	name := path
	if root != nil {
		name = filepath.Base(path)
	}
	data, err := workspace.ReadFile(root, name, most)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.good == nil {
		l.good = map[string]*node{}
	}
	if errors.Is(err, fs.ErrNotExist) {
		delete(l.good, path)
		return nil
	}
	kept := "; none of it applies"
	if l.good[path] != nil {
		kept = "; it applies as it was before"
	}
	if err != nil {
		complain(place{}, "the file is not read: "+err.Error()+kept)
		return l.good[path]
	}
	n, err := parseYAML(data)
	if err != nil {
		var syntax *syntaxError
		p := place{}
		if errors.As(err, &syntax) {
			p = syntax.place
		}
		complain(p, err.Error()+kept)
		return l.good[path]
	}
	l.good[path] = n
	return n
}

// workspace applies the root's own file, which can only narrow, if the workspace is
// trusted.
func (l *Loader) workspace(s Sources, r *Result, trusted bool) (p pick, picked bool) {
	path := filepath.Join(s.Workspace, WorkspaceFile)
	root, err := os.OpenRoot(s.Workspace)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			r.warn(Warning{Layer: Workspace, Source: path, Text: "the file is not read: " + err.Error()})
		}
		return pick{}, false
	}
	defer root.Close()
	if !trusted {
		if _, err := root.Lstat(WorkspaceFile); err == nil {
			r.warn(Warning{Layer: Workspace, Source: path, Text: "the file is not read: the workspace is not trusted"})
		}
		return pick{}, false
	}
	n := l.file(path, root, Workspace, r.warn)
	if n == nil {
		return pick{}, false
	}
	return r.narrowBy(&decoder{layer: Workspace, source: path, warn: r.warn, tools: s.Tools}, n)
}

// narrowBy applies what a layer of a workspace may say.
func (r *Result) narrowBy(d *decoder, n *node) (p pick, picked bool) {
	wish := Config{}
	d.origins = map[string]Origin{}
	d.apply(n, &wish)
	return r.narrow(&wish, d.origins)
}

// clientsOwn returns what the layers say that may tell whether the workspace is
// trusted and whose the editor's settings are.
func clientsOwn(s Sources) Config {
	c := Default()
	c.Trusted = !s.Distrusted
	quiet := Result{Config: c, origins: map[string]Origin{}}
	for _, layer := range []struct {
		d *decoder
		n *node
	}{{message(s, Init, ""), quiet.parse(s.Init, Init, "")}} {
		layer.d.origins, layer.d.warn = quiet.origins, quiet.warn
		layer.d.apply(layer.n, &c)
	}
	for _, f := range append(environment(s.Env, quiet.warn), s.Flags...) {
		d := f.decoder(s, CommandLine)
		d.origins, d.warn = quiet.origins, quiet.warn
		d.apply(f.tree(CommandLine, quiet.warn), &c)
	}
	return c
}

// narrow applies those settings of a workspace that allow the agent no more than
// the person does.
func (r *Result) narrow(wish *Config, origins map[string]Origin) (p pick, picked bool) {
	paths := make([]string, 0, len(origins))
	for path := range origins {
		paths = append(paths, path)
	}
	slices.SortFunc(paths, func(a, b string) int { return origins[a].compare(origins[b], a, b) })
	c := &r.Config
	const theirs = "a workspace may not set this: it belongs into your own configuration"
	refused := "\x00"
	for _, path := range paths {
		if strings.HasPrefix(path, refused+".") {
			continue // one warning is enough for a whole profile
		}
		o := origins[path]
		refuse := func(format string, args ...any) {
			refused = path
			r.warn(Warning{Layer: o.Layer, Source: o.Source, Line: o.Line, Column: o.Column, Key: path, Text: fmt.Sprintf(format, args...)})
		}
		switch path {
		case "profile":
			p, picked = pick{wish.Profile, o}, true
			continue
		case "prelude":
			c.Prelude = strings.TrimSpace(c.Prelude + "\n\n" + wish.Prelude)
		case "rules.deny":
			c.Rules.Deny = append(slices.Clone(c.Rules.Deny), wish.Rules.Deny...)
		case "checker.off":
			off := append(slices.Clone(c.Checker.Off), wish.Checker.Off...)
			slices.Sort(off)
			c.Checker.Off = slices.Compact(off)
		case "checker.enabled":
			if wish.Checker.Enabled && !c.Checker.Enabled {
				refuse("a workspace can switch the checker off, not on")
				continue
			}
			c.Checker.Enabled = wish.Checker.Enabled
		default:
			if _, f, ok := field(reflect.ValueOf(c).Elem(), path); !ok || f.Tag.Get("limit") != "lower" {
				if o.Layer == Client {
					refuse("not used: a repository can bring settings of an editor along; move it to %s or to initializationOptions, or have initializationOptions say {\"settings\": \"user\"}", r.userFile)
				} else {
					refuse(theirs)
				}
				continue
			}
			if !r.lower(path, wish, refuse) {
				continue
			}
		}
		r.origins[path] = o
	}
	return p, picked
}

// lower applies a limit that is lower.
func (r *Result) lower(path string, wish *Config, refuse func(string, ...any)) bool {
	v, _, _ := field(reflect.ValueOf(&r.Config).Elem(), path)
	w, _, _ := field(reflect.ValueOf(wish).Elem(), path)
	if w.Int() > v.Int() {
		refuse("a workspace can only lower this limit, which is %v", v.Interface())
		return false
	}
	v.SetInt(w.Int())
	return true
}
