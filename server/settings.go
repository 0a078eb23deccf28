package server

import (
	"errors"
	"log/slog"
	"maps"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/agent-lsp/agent-lsp/config"
	"github.com/agent-lsp/agent-lsp/session"
	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/agent-lsp/agent-lsp/session/model/catalogue"
	"github.com/agent-lsp/agent-lsp/tools"
	"github.com/go-json-experiment/json/jsontext"
)

// change is a change of the settings that waits for the settings' goroutine.
type change struct {
	make func()
	made chan struct{} // closed when it was made
}

// change has a change of the settings made by the settings' goroutine, after those
// that were queued before it, and waits for that. It reports false when the server
// ends first.
func (srv *Server) change(do func()) bool {
	c := change{do, make(chan struct{})}
	select {
	case srv.changes <- c:
	case <-srv.ctx.Done():
		return false
	}
	select {
	case <-c.made:
		return true
	case <-srv.ctx.Done():
		return false
	}
}

// runSettings makes the changes of the settings, one after the other, until the server
// ends: what the parts have been given is always what the last change made of the
// configuration.
func (srv *Server) runSettings() {
	for {
		select {
		case c := <-srv.changes:
			c.make()
			close(c.made)
		case <-srv.ctx.Done():
			return
		}
	}
}

// Start takes what a client said of itself as it connected, its options in the form of
// the configuration and the absolute paths of its workspace folders, and makes the
// session engine over it. It is called once, before the other changes of the settings;
// Close ends the engine.
func (srv *Server) Start(editor session.Editor, options jsontext.Value, folders []string) (*session.Manager, error) {
	var m *session.Manager
	made := srv.change(func() {
		srv.mu.Lock()
		srv.init, srv.folders = options, folders
		srv.mu.Unlock()
		srv.reload()
		m = srv.engine(editor)
	})
	if !made {
		return nil, errors.New("the server is ending")
	}
	return m, nil
}

// Configure takes the client's settings and returns when they are in effect. Number
// says how often the client told settings or that they changed: settings that come
// after newer ones are stale and left out.
func (srv *Server) Configure(number uint64, settings jsontext.Value) {
	srv.change(func() {
		if number < srv.taken {
			return
		}
		srv.taken = number
		srv.mu.Lock()
		srv.client = settings
		srv.mu.Unlock()
		srv.reload()
	})
}

// SetFolders takes the absolute paths of the workspace folders after a change, and
// returns when their settings are in effect.
func (srv *Server) SetFolders(folders []string) {
	srv.mu.Lock()
	watcher := srv.watcher
	srv.mu.Unlock()
	if watcher != nil { // not by the settings' goroutine, for which the watcher may wait
		watcher.Set(files(folders))
	}
	srv.change(func() {
		srv.mu.Lock()
		srv.folders = folders
		srv.mu.Unlock()
		srv.reload()
	})
}

// SavesEdits reports whether the settings have the client save what an edit touched.
func (srv *Server) SavesEdits() bool { return srv.saves.Load() }

// tools makes the executor of a session and keeps its policy at what is
// configured.
func (srv *Server) tools(ws tools.Workspace) (session.Tools, error) {
	c := srv.settings(ws.Dir()).Config
	box, err := srv.boxes.box(ws.Dir(), &c, withoutKeys(&c), srv.state(), commandsConnect(&c))
	if err != nil {
		return nil, err
	}
	x, err := newTools(ws, &c, srv.state(), box)
	if err != nil {
		return nil, err
	}
	e := &executor{root: ws.Dir(), Executor: x, srv: srv}
	srv.mu.Lock()
	if srv.executors == nil {
		srv.executors = map[*executor]bool{}
	}
	srv.executors[e] = true
	srv.mu.Unlock()
	// A reload between the first look and here did not reach the executor.
	c = srv.settings(ws.Dir()).Config
	if err := e.SetPolicy(policy(&c)); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

// executor is one session's, with its root.
type executor struct {
	root string
	*tools.Executor
	srv *Server
}

// Close takes the executor off those whose policy follows the configuration, and ends
// what runs in its background.
func (e *executor) Close() error {
	e.srv.mu.Lock()
	delete(e.srv.executors, e)
	e.srv.mu.Unlock()
	return e.Executor.Close()
}

// state are the server's own places, which no edit may touch.
func (srv *Server) state() []string { return statePlaces() }

func statePlaces() []string {
	var out []string
	if path, err := config.UserFilePath(); err == nil {
		out = append(out, filepath.Dir(path))
	}
	if dir, err := StateDir(); err == nil {
		out = append(out, dir)
	}
	return out
}

// watchFiles reloads the configuration when its files change.
func (srv *Server) watchFiles() {
	srv.mu.Lock()
	folders := srv.folders
	srv.mu.Unlock()
	w, err := config.Watch(config.Watching{
		Files:   files(folders),
		Changed: func() { srv.change(srv.reload) },
		Failed:  func(err error) { srv.log.Warn("changes of the configuration's files may not be noticed", "err", err) },
	})
	if err != nil {
		srv.log.Warn("changes of the configuration's files are not noticed", "err", err)
		return
	}
	srv.mu.Lock()
	srv.watcher = w
	srv.mu.Unlock()
}

// files are those that the configuration of workspace folders is read from.
func files(folders []string) []string {
	var out []string
	if path, err := config.UserFilePath(); err == nil {
		out = append(out, path)
	}
	for _, root := range folders {
		out = append(out, filepath.Join(root, config.WorkspaceFile))
	}
	return out
}

// settings reads the configuration for one workspace folder, or without one.
func (srv *Server) settings(root string) config.Result {
	srv.mu.Lock()
	src := config.Sources{Workspace: root, Client: srv.client, Init: srv.init}
	srv.mu.Unlock()
	src.Distrusted = srv.trust.distrusted(root)
	return load(&srv.loader, src, srv.log)
}

// Settings reads the configuration for one workspace folder, or without one when root
// is "", as it is for a program that has no client. It logs what is in its way.
func Settings(root string, log *slog.Logger) config.Result {
	return load(new(config.Loader), config.Sources{Workspace: root}, log)
}

// load adds to the sources what every configuration is read from.
func load(l *config.Loader, src config.Sources, log *slog.Logger) config.Result {
	src.Env, src.Tools, src.Offered = os.Environ(), toolNames(), offered()
	var err error
	if src.UserFile, err = config.UserFilePath(); err != nil {
		log.Warn("no user configuration", "err", err)
	}
	return l.Load(src)
}

// offered are the profiles of the providers whose key is in the environment.
var offered = sync.OnceValue(func() []model.Profile { return catalogue.Offered(os.Environ()) })

// toolNames are the tools that every session has.
func toolNames() []string {
	var names []string
	for _, d := range tools.Builtin() {
		names = append(names, d.Name)
	}
	return names
}

// reload hands the configuration to the parts that run and then logs its warnings, those
// of the reload before left out: whoever reads one finds the settings in effect. Only the settings' goroutine
// calls it.
func (srv *Server) reload() {
	srv.mu.Lock()
	folders, manager, executors := srv.folders, srv.manager, slices.Collect(maps.Keys(srv.executors))
	srv.mu.Unlock()
	if len(folders) == 0 {
		folders = []string{""}
	}
	var warnings []string
	for _, root := range folders {
		r := srv.settings(root)
		for _, w := range r.Warnings {
			if text := w.String(); !slices.Contains(warnings, text) {
				warnings = append(warnings, text)
			}
		}
		srv.checks.configure(root, &r.Config)
		for _, x := range executors {
			if x.root != root {
				continue
			}
			if err := x.SetPolicy(policy(&r.Config)); err != nil {
				warnings = append(warnings, err.Error())
			}
		}
	}
	first := srv.settings(folders[0])
	if level, err := logLevel(&first.Config); err == nil {
		srv.level.Set(level)
	}
	srv.saves.Store(first.Config.SavesEdits)
	if manager != nil {
		manager.Configure(srv.engineSettings())
	}
	for _, text := range warnings {
		if !slices.Contains(srv.warned, text) {
			srv.log.Warn(text)
		}
	}
	srv.warned = warnings
}

// profileGiven says that the profile was named for this process: it goes before
// the one that the person picked last.
func profileGiven(r *config.Result) bool { return r.Origin("profile").Layer >= config.Init }

// offers names the profiles that the first prompt offers: those of the environment's
// keys, when the person configured none.
func offers(r *config.Result) (out []string) {
	for name, p := range r.Config.Profiles {
		if p.Provider != "script" && r.Origin("profiles."+name).Layer != config.Defaults {
			return nil
		}
	}
	if r.Origin("profile").Layer != config.Defaults {
		return nil
	}
	for _, p := range offered() {
		out = append(out, p.Name)
	}
	return out
}

// engineSettings are the engine's part of the configuration, of each folder.
func (srv *Server) engineSettings() session.Settings {
	srv.mu.Lock()
	folders := slices.Clone(srv.folders)
	srv.mu.Unlock()
	of := func(root string) session.Settings {
		r := srv.settings(root)
		s := srv.sessionSettings(&r.Config)
		s.ProfileGiven = profileGiven(&r)
		if !srv.config.NoOffers {
			s.Offered = offers(&r)
		}
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
func (srv *Server) sessionSettings(c *config.Config) session.Settings {
	profiles := maps.Clone(c.Profiles)
	for name, p := range profiles {
		catalogue.Complete(&p)
		profiles[name] = p
	}
	s := session.Settings{
		Profile: c.Profile, Profiles: profiles, Complete: catalogue.Complete, Models: catalogue.Models, Prelude: c.Prelude, Untrusted: !c.Trusted, MaxRounds: c.Turn.MaxRounds,
		RequestTimeout: time.Duration(c.Request.Timeout), Subject: "operator",
		TurnCost: c.Limits.TurnCost, SessionCost: c.Limits.SessionCost,
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
