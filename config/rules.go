package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/agent-lsp/agent-lsp/workspace"
)

// String spells the rule as it stands in a file: exec: [go, test].
func (r Rule) String() string { return r.Tool + ": " + workspace.YAMLList(r.Prefix) }

func (r Rule) equal(o Rule) bool { return r.Tool == o.Tool && slices.Equal(r.Prefix, o.Prefix) }

// AddRule adds a rule to rules.allow of a person's file, which is made when there is
// none. Everything else in it stays byte for byte: comments, order, blanks. A rule that
// is there already is not added again. It fails, and changes nothing, where it cannot
// see where the rule belongs; the error says what to write by hand.
func AddRule(path string, r Rule) error {
	return rewrite(path, "add", r, func(text string, have []Rule) (string, []Rule, error) {
		if slices.ContainsFunc(have, r.equal) {
			return text, have, nil
		}
		after, err := withRule(text, r)
		return after, append(slices.Clone(have), r), err
	})
}

// RemoveRule takes a rule out of rules.allow of a person's file in the same way. It
// fails for a rule that is not there.
func RemoveRule(path string, r Rule) error {
	return rewrite(path, "remove", r, func(text string, have []Rule) (string, []Rule, error) {
		i := slices.IndexFunc(have, r.equal)
		if i < 0 {
			return "", nil, fmt.Errorf("rules.allow has no %s", r)
		}
		after, err := withoutRule(text, r)
		return after, slices.Delete(slices.Clone(have), i, i+1), err
	})
}

// rewrite changes the text of a person's file and compares what it then says with what
// it is meant to say.
func rewrite(path, verb string, r Rule, change func(text string, have []Rule) (string, []Rule, error)) error {
	fail := func(err error) error {
		return fmt.Errorf("%s the rule %s in %s: %w; change rules.allow there by hand", verb, r, path, err)
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fail(err)
	}
	before, err := settingsIn(data)
	if err != nil {
		return fail(err)
	}
	text, want, err := change(string(data), before.Rules.Allow)
	if err != nil {
		return fail(err)
	}
	if text == string(data) {
		return nil
	}
	after, err := settingsIn([]byte(text))
	if err != nil {
		return fail(err)
	}
	have := after.Rules.Allow
	before.Rules.Allow, after.Rules.Allow = nil, nil
	if !reflect.DeepEqual(before, after) || !sameRules(have, want) {
		return fail(errors.New("it is written in a way in which the place of a rule is not clear"))
	}
	if err := replace(path, []byte(text)); err != nil {
		return fail(err)
	}
	return nil
}

func settingsIn(data []byte) (Config, error) {
	var c Config
	n, err := parseYAML(data)
	if err == nil {
		d := &decoder{layer: UserFile, origins: map[string]Origin{}, warn: func(Warning) {}, anyTool: true}
		d.apply(n, &c)
	}
	return c, err
}

func sameRules(a, b []Rule) bool {
	text := func(rules []Rule) []string {
		out := make([]string, len(rules))
		for i, r := range rules {
			out[i] = r.String()
		}
		slices.Sort(out)
		return out
	}
	return slices.Equal(text(a), text(b))
}

// replace writes a file anew in one step, with the rights that it had.
func replace(path string, data []byte) error {
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".config-*.yaml")
	if err != nil {
		return err
	}
	_, err = bytes.NewReader(data).WriteTo(f)
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
