package lsp

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agent-lsp/agent-lsp/lsp/lsptest"
	"github.com/go-json-experiment/json/jsontext"
)

// TestACommandRunsUnderTheSettingsThatWereToldBefore holds the settings up while
// they are taken: at the start, when they are pushed, and when they are asked for
// again because they changed.
func TestACommandRunsUnderTheSettingsThatWereToldBefore(t *testing.T) {
	for _, tt := range []struct {
		name    string
		options lsptest.Options
		held    string // the settings that are held up
		tell    func(*rig)
	}{
		{"at the start", lsptest.Options{}, `{"at":0}`, func(*rig) {}},
		{"pushed", lsptest.Options{NoConfiguration: true, NoRegistration: true}, `{"at":1}`, func(r *rig) { r.Set("agentLsp", `{"at":1}`) }},
		{"asked for again", lsptest.Options{}, `{"at":1}`, func(r *rig) {
			if _, err := r.Command("agent.profiles", nil); err != nil { // under the first ones
				r.t.Fatal(err)
			}
			r.Set("agentLsp", `{"at":1}`)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			gate := make(chan struct{})
			dir := t.TempDir()
			tt.options.Folders = []string{dir}
			tt.options.Settings = map[string]jsontext.Value{"agentLsp": jsontext.Value(`{"at":0}`)}
			r := attach(t, tt.options, dir, func(c *Config) {
				c.Limits.Landing = time.Minute
				c.Host.(*fakeHost).configure = func(_ uint64, settings jsontext.Value) {
					if string(settings) == tt.held {
						<-gate
					}
				}
			})
			r.Initialize()
			tt.tell(r)
			made := r.GoCommand("agent.session.new", nil)
			r.Barrier() // whoever does not wait has had its turn
			if calls := strings.Join(r.engine.asked(), "; "); calls != "" {
				t.Errorf("before the settings were taken the engine was asked: %s", calls)
			}
			close(gate)
			if _, err := made.Wait(); err != nil {
				t.Fatal(err)
			}
			if calls := strings.Join(r.engine.asked(), "; "); calls == "" {
				t.Error("the command was not run")
			}
		})
	}
}

// TestSettingsAreTakenInTheirOrder changes them faster than they are taken.
func TestSettingsAreTakenInTheirOrder(t *testing.T) {
	for _, pull := range []bool{true, false} {
		var taken []int
		dir := t.TempDir()
		r := startWith(t, lsptest.Options{Folders: []string{dir}, NoConfiguration: !pull, NoRegistration: !pull}, dir, func(c *Config) {
			var mu sync.Mutex // guards taken and last
			var last uint64
			c.Host.(*fakeHost).configure = func(number uint64, settings jsontext.Value) {
				mu.Lock()
				defer mu.Unlock()
				if number < last { // as a host does
					return
				}
				last = number
				n, err := strconv.Atoi(string(settings))
				if err != nil {
					t.Error(err)
				}
				taken = append(taken, n)
			}
		})
		const changes = 300
		for i := range changes {
			r.Set("agentLsp", i)
		}
		if _, err := r.Command("agent.session.new", nil); err != nil { // waits for them all
			t.Fatal(err)
		}
		if !slices.IsSorted(taken) || len(taken) == 0 || taken[len(taken)-1] != changes-1 {
			t.Errorf("pulled %v: taken as %v", pull, taken)
		}
	}
}
