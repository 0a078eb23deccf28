package server

import (
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/agent-lsp/agent-lsp/session"
	"github.com/go-json-experiment/json/jsontext"
)

// noEditor is the editor of an engine that is asked for nothing.
type noEditor struct{ session.Editor }

// logged is a log in memory.
type logged struct {
	mu   sync.Mutex // guards text
	text strings.Builder
}

// Write implements io.Writer.
func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// started is a server whose engine runs without a session.
func started(t *testing.T, options string) (srv *Server, log *logged) {
	t.Helper()
	for _, name := range []string{"XDG_CONFIG_HOME", "XDG_STATE_HOME"} {
		t.Setenv(name, t.TempDir())
	}
	log = new(logged)
	srv = New(log, Config{})
	t.Cleanup(srv.Close)
	if _, err := srv.Start(noEditor{}, jsontext.Value(options), []string{t.TempDir()}); err != nil {
		t.Fatal(err)
	}
	return srv, log
}

// TestTheNewestSettingsStay tells settings in several orders, and at once.
func TestTheNewestSettingsStay(t *testing.T) {
	levels := []slog.Level{slog.LevelError, slog.LevelDebug, slog.LevelWarn, slog.LevelInfo}
	at := func(n uint64) slog.Level { return levels[n%4] }
	settings := func(n uint64) jsontext.Value {
		return jsontext.Value(fmt.Sprintf(`{"log":{"level":%q}}`, strings.ToLower(at(n).String())))
	}
	for _, tt := range []struct {
		name string
		tell []uint64
		want uint64
	}{
		{"in order", []uint64{1, 2, 3}, 3},
		{"the last comes first", []uint64{3, 1, 2}, 3},
		{"one is late", []uint64{1, 4, 3}, 4},
		{"one is told twice", []uint64{1, 2, 2}, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv, log := started(t, `{"store":"memory:","settings":"user"}`)
			for _, n := range tt.tell {
				srv.Configure(n, settings(n))
			}
			if got := srv.level.Level(); got != at(tt.want) {
				t.Errorf("told %v, the level is %v, want %v\n%s", tt.tell, got, at(tt.want), log)
			}
		})
	}
	t.Run("at once, with folders", func(t *testing.T) {
		srv, _ := started(t, `{"store":"memory:","settings":"user"}`)
		var all sync.WaitGroup
		for n := range uint64(20) {
			all.Go(func() { srv.Configure(n, settings(n)) })
			all.Go(func() { srv.SetFolders([]string{t.TempDir()}) })
			all.Go(func() { srv.change(srv.reload) }) // as the watcher of files does
		}
		all.Wait()
		if got := srv.level.Level(); got != at(19) {
			t.Errorf("the level is %v: the settings with the number 19 are not in effect", got)
		}
	})
}

// TestSettingsThatDoNotFitAreLoggedOnce gives them in each of the ways.
func TestSettingsThatDoNotFitAreLoggedOnce(t *testing.T) {
	for name, tell := range map[string]func(*Server, jsontext.Value){
		"options":  func(*Server, jsontext.Value) {},
		"settings": func(srv *Server, odd jsontext.Value) { srv.Configure(1, odd) },
	} {
		t.Run(name, func(t *testing.T) {
			odd, options := `{"store":"memory:","odd_key":1}`, `{"store":"memory:"}`
			if name == "options" {
				options = odd
			}
			srv, log := started(t, options)
			tell(srv, jsontext.Value(odd))
			if n := strings.Count(log.String(), "odd_key"); n != 1 {
				t.Errorf("%d lines of the log name the key:\n%s", n, log)
			}
		})
	}
}

// TestAServerThatEndedTakesNoSettings calls what an edge may still call.
func TestAServerThatEndedTakesNoSettings(t *testing.T) {
	srv := New(new(logged), Config{})
	srv.Close()
	srv.Configure(1, jsontext.Value(`{"log":{"level":"debug"}}`))
	srv.SetFolders(nil)
	if m, err := srv.Start(noEditor{}, nil, nil); err == nil || m != nil {
		t.Errorf("an engine was made: %v, %v", m, err)
	}
	if srv.level.Level() == slog.LevelDebug {
		t.Error("settings were taken")
	}
}
