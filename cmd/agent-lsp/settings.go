package main

import (
	"log/slog"
	"maps"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agent-lsp/agent-lsp/config"
	"github.com/agent-lsp/agent-lsp/lsp"
	"github.com/agent-lsp/agent-lsp/session"
	"github.com/agent-lsp/agent-lsp/tools"
	"github.com/go-json-experiment/json/jsontext"
)

// initialize takes what the client said of itself.
func (a *app) initialize(init lsp.Initialization) []string {
	a.mu.Lock()
	a.init, a.folders = init.Options, init.Folders
	a.mu.Unlock()
	return a.reload()
}

// configure takes the client's settings.
func (a *app) configure(settings jsontext.Value) []string {
	a.mu.Lock()
	a.client = settings
	a.mu.Unlock()
	return a.reload()
}

// setFolders takes the workspace folders after a change.
func (a *app) setFolders(folders []string) {
	a.mu.Lock()
	a.folders = folders
	watcher := a.watcher
	a.mu.Unlock()
	if watcher != nil {
		watcher.Set(a.files())
	}
	for _, text := range a.reload() {
		a.log.Warn(text)
	}
}

// tools makes the executor of a session and keeps its policy at what is
// configured.
func (a *app) tools(ws tools.Workspace) (session.Tools, error) {
	c := a.settings(ws.Dir()).Config
	box, err := a.boxes.box(ws.Dir(), &c, withoutKeys(&c), a.state(), commandsConnect(&c))
	if err != nil {
		return nil, err
	}
	x, err := newTools(ws, &c, a.state(), box)
	if err != nil {
		return nil, err
	}
	e := &executor{root: ws.Dir(), Executor: x, app: a}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.executors == nil {
		a.executors = map[*executor]bool{}
	}
	a.executors[e] = true
	return e, nil
}

// executor is one session's, with its root.
type executor struct {
	root string
	*tools.Executor
	app *app
}

// Close takes the executor off those whose policy follows the configuration.
func (e *executor) Close() error {
	e.app.mu.Lock()
	defer e.app.mu.Unlock()
	delete(e.app.executors, e)
	return nil
}

// state are the server's own places, which no edit may touch.
func (a *app) state() []string {
	var out []string
	if path, err := config.UserFilePath(); err == nil {
		out = append(out, filepath.Dir(path))
	}
	if dsn, err := a.defaultStore(); err == nil {
		if path, ok := strings.CutPrefix(dsn, "sqlite:"); ok {
			out = append(out, filepath.Dir(path))
		}
	}
	return out
}

// watchFiles reloads the configuration when its files change.
func (a *app) watchFiles() {
	w, err := config.Watch(config.Watching{
		Files: a.files(),
		Changed: func() {
			for _, text := range a.reload() {
				a.log.Warn(text)
			}
		},
		Failed: func(err error) { a.log.Warn("changes of the configuration's files may not be noticed", "err", err) },
	})
	if err != nil {
		a.log.Warn("changes of the configuration's files are not noticed", "err", err)
		return
	}
	a.mu.Lock()
	a.watcher = w
	a.mu.Unlock()
}

// files are those that the configuration is read from.
func (a *app) files() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	var out []string
	if path, err := config.UserFilePath(); err == nil {
		out = append(out, path)
	}
	for _, root := range a.folders {
		out = append(out, filepath.Join(root, config.WorkspaceFile))
	}
	return out
}

// settings reads the configuration for one workspace folder, or without one.
func (a *app) settings(root string) config.Result {
	a.mu.Lock()
	src := config.Sources{
		Workspace: root, Client: a.client, Init: a.init, Env: os.Environ(), Flags: a.flags.settings, Tools: toolNames(),
	}
	a.mu.Unlock()
	var err error
	if src.UserFile, err = config.UserFilePath(); err != nil {
		a.log.Warn("no user configuration", "err", err)
	}
	return a.loader.Load(src)
}

// toolNames are the tools that every session has.
func toolNames() []string {
	var names []string
	for _, d := range tools.Builtin() {
		names = append(names, d.Name)
	}
	return names
}

// reload hands the configuration to the parts that run and answers its warnings.
func (a *app) reload() []string {
	a.mu.Lock()
	folders, manager, executors := a.folders, a.manager, slices.Collect(maps.Keys(a.executors))
	a.mu.Unlock()
	if len(folders) == 0 {
		folders = []string{""}
	}
	var warnings []string
	seen := map[string]bool{}
	for _, root := range folders {
		r := a.settings(root)
		for _, w := range r.Warnings {
			if text := w.String(); !seen[text] {
				seen[text] = true
				warnings = append(warnings, text)
			}
		}
		a.checks.configure(root, &r.Config)
		for _, x := range executors {
			if x.root != root {
				continue
			}
			if err := x.SetPolicy(policy(&r.Config)); err != nil {
				warnings = append(warnings, err.Error())
			}
		}
	}
	first := a.settings(folders[0])
	if level, err := logLevel(&first.Config); err == nil {
		a.level.Set(level)
	}
	a.saves.Store(first.Config.SavesEdits)
	if manager != nil {
		manager.Configure(a.engineSettings())
	}
	return warnings
}

// profileGiven says that the profile was named for this process: it goes before
// the one that the person picked last.
func profileGiven(r *config.Result) bool { return r.Origin("profile").Layer >= config.Init }

// engineSettings are the engine's part of the configuration, of each folder.
func (a *app) engineSettings() session.Settings {
	a.mu.Lock()
	folders := slices.Clone(a.folders)
	a.mu.Unlock()
	of := func(root string) session.Settings {
		r := a.settings(root)
		s := a.sessionSettings(&r.Config)
		s.ProfileGiven = profileGiven(&r)
		return s
	}
	if len(folders) == 0 {
		return of("")
	}
	s := of(folders[0])
	s.Roots = map[string]session.Settings{}
	for _, root := range folders[1:] {
		s.Roots[root] = of(root)
	}
	return s
}

// sessionSettings are the engine's part of a configuration.
func (a *app) sessionSettings(c *config.Config) session.Settings {
	s := session.Settings{
		Profile: c.Profile, Profiles: c.Profiles, Prelude: c.Prelude, MaxRounds: c.Turn.MaxRounds,
		RequestTimeout: time.Duration(c.Request.Timeout), Subject: "operator",
	}
	if u, err := user.Current(); err == nil {
		s.Subject = u.Username
	}
	return s
}

// logLevel is the least severe kind of line that a configuration wants written.
func logLevel(c *config.Config) (level slog.Level, err error) {
	return level, level.UnmarshalText([]byte(c.Log.Level))
}
