package config

import (
	"reflect"
	"slices"
	"strings"
)

// envPrefix is the prefix of the names of variables that are settings.
const envPrefix = "AGENT_LSP_"

// testPrefix is the prefix of variables for this project's tests.
const testPrefix = envPrefix + "TEST_"

// EnvName returns the name of the variable that sets a key, e.g. AGENT_LSP_EXEC_TIMEOUT for
// exec.timeout.
func EnvName(key string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
}

// environment reads the settings from environment variables, sorted by name. An
// empty variable sets nothing.
func environment(env []string, warn func(Warning)) []Flag {
	byName := map[string]string{}
	var names []string
	for _, key := range keys(reflect.TypeFor[Config](), "") {
		if key != "profiles" {
			byName[EnvName(key)] = key
			names = append(names, EnvName(key))
		}
	}
	var flags []Flag
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		if !strings.HasPrefix(name, envPrefix) || strings.HasPrefix(name, testPrefix) || value == "" {
			continue
		}
		key, ok := byName[name]
		if !ok {
			warn(Warning{Layer: Environment, Source: name, Text: "there is no such setting", Near: nearest(name, names)})
			continue
		}
		flags = append(flags, Flag{Name: name, Key: key, Value: value})
	}
	slices.SortFunc(flags, func(a, b Flag) int { return strings.Compare(a.Name, b.Name) })
	return flags
}

func (f Flag) decoder(s Sources, layer Layer) *decoder {
	return &decoder{layer: layer, source: f.Name, dir: s.Workspace}
}

// tree returns the flag as the tree of a file with that setting, nil when its value
// cannot be read.
func (f Flag) tree(layer Layer, warn func(Warning)) *node {
	n := &node{kind: text, text: f.Value}
	var c Config
	v, _, ok := field(reflect.ValueOf(&c).Elem(), f.Key)
	isText := ok && v.Kind() == reflect.String
	isProfile := f.Key == "profile" && strings.HasPrefix(strings.TrimSpace(f.Value), "{")
	if !isText || isProfile {
		read, err := parseYAML([]byte(f.Value))
		if err != nil {
			warn(Warning{Layer: layer, Source: f.Name, Key: f.Key, Text: "the value is not read: " + err.Error()})
			return nil
		}
		if read == nil {
			read = &node{kind: null}
		}
		n = read
		n.forgetPlaces()
	}
	parts := strings.Split(f.Key, ".")
	for _, name := range slices.Backward(parts) {
		n = &node{kind: object, members: []member{{key: name, value: n}}}
	}
	return n
}

// forgetPlaces clears the places of values that come from no file.
func (n *node) forgetPlaces() {
	n.place = place{}
	for _, item := range n.items {
		item.forgetPlaces()
	}
	for i := range n.members {
		n.members[i].place = place{}
		n.members[i].value.forgetPlaces()
	}
}
