package server

import (
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-lsp/agent-lsp/checker"
	"github.com/agent-lsp/agent-lsp/config"
	"github.com/agent-lsp/agent-lsp/session"
	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/agent-lsp/agent-lsp/tools"
)

// parts is what a configuration makes of the parts of a server.
type parts struct {
	Tools     tools.Config
	Checker   checker.Config
	Session   session.Settings
	Retention session.Retention
	Provider  any
	Level     slog.Level
	Store     string
	Saves     bool
	Commands  any
	Checks    any
	Confined  bool
	Caches    config.Size
}

func partsOf(t *testing.T, c *config.Config) parts {
	t.Helper()
	level, err := logLevel(c)
	if err != nil {
		t.Fatal(err)
	}
	p := parts{
		Tools: toolsConfig(nil, c, nil, nil), Checker: checkerConfig("/w", c, nil), Session: new(Server).sessionSettings(c),
		Retention: Retention(c), Provider: requestBounds(c), Level: level, Store: c.Store, Saves: c.SavesEdits,
		Commands: boxSettings(c, nil, commandsConnect(c)), Checks: boxSettings(c, nil, c.Checker.Network), Confined: c.Exec.Sandbox,
		Caches: c.Sandbox.CacheSize,
	}
	p.Checker.Env = slices.Clone(p.Checker.Env) // the same variables, in another array
	return p
}

// TestEveryKeyReachesAPartOfTheServer changes one key after the other: a key that
// changes nothing of what the parts are made of is one that is never read.
func TestEveryKeyReachesAPartOfTheServer(t *testing.T) {
	base := config.Default()
	before := partsOf(t, &base)
	n := 0
	each(reflect.ValueOf(&base).Elem(), nil, func(path []int, key string) {
		n++
		c := config.Default()
		v := reflect.ValueOf(&c).Elem()
		for _, i := range path {
			v = v.Field(i)
		}
		if !another(v) {
			t.Fatalf("%s: the test knows no other value of %s", key, v.Type())
		}
		switch key {
		case "log.level":
			v.SetString("debug")
		case "exec.network":
			v.SetString("off")
		}
		if key == "settings" {
			return // the layers themselves go by it
		}
		if reflect.DeepEqual(before, partsOf(t, &c)) {
			t.Errorf("%s changes nothing", key)
		}
	})
	if n < 20 {
		t.Errorf("%d keys", n)
	}
}

// each visits the keys of a configuration, by the fields that lead to them.
func each(v reflect.Value, path []int, visit func(path []int, key string)) {
	var walk func(v reflect.Value, path []int, name string)
	walk = func(v reflect.Value, path []int, name string) {
		for i := range v.NumField() {
			f := v.Type().Field(i)
			tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			key := strings.TrimPrefix(name+"."+tag, ".")
			p := append(slices.Clone(path), i)
			if f.Type.Kind() == reflect.Struct {
				walk(v.Field(i), p, key)
				continue
			}
			visit(p, key)
		}
	}
	walk(v, path, "")
}

// another gives a value that is not the one before.
func another(v reflect.Value) bool {
	switch x := v.Addr().Interface().(type) {
	case *string:
		*x += "-other"
	case *int:
		*x++
	case *float64:
		*x++
	case *bool:
		*x = !*x
	case *config.Size:
		*x++
	case *config.Duration:
		*x += config.Duration(time.Second)
	case *[]string:
		*x = append(*x, "other")
	case *[]int:
		*x = append(*x, 5432)
	case *[]config.Rule:
		*x = append(*x, config.Rule{Tool: "exec", Prefix: []string{"other"}})
	case *map[string]model.Profile:
		*x = map[string]model.Profile{"other": {Name: "other", Provider: "script"}}
	case *map[string][]string:
		*x = map[string][]string{"go": {"other"}}
	case *map[string]config.CheckerRoot:
		*x = map[string]config.CheckerRoot{"other": {Off: true}}
	default:
		return false
	}
	return true
}
