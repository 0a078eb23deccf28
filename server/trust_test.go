package server

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/agent-lsp/agent-lsp/session"
	"github.com/agent-lsp/agent-lsp/workspace"
	"github.com/go-json-experiment/json/jsontext"
)

// asked is an editor that answers questions with a choice, by the start of its label.
type asked struct {
	session.Editor
	choice string

	mu    sync.Mutex // guards shown
	shown []session.Question
}

func (a *asked) Approve(ctx context.Context, q session.Question) session.Answer {
	a.mu.Lock()
	a.shown = append(a.shown, q)
	a.mu.Unlock()
	for _, c := range q.Choices {
		if a.choice != "" && strings.HasPrefix(c.Label, a.choice) {
			return session.Answer{Decision: c.Decision}
		}
	}
	if a.choice == "wait" {
		<-ctx.Done()
	}
	return session.Answer{Decision: session.Deny, Reason: "dismissed"}
}

// TestTrustIsAskedOnceAndKept goes through the answers: what is known of a folder, of
// one beside it and of one below in the same process and in the next.
func TestTrustIsAskedOnceAndKept(t *testing.T) {
	for _, tt := range []struct {
		choice        string
		options       string
		now, later    bool // of the folder
		beside, below bool // of others, later
		asks          int
	}{
		{choice: "Trust everything below", now: true, later: true, beside: true, below: true, asks: 1},
		{choice: "Trust ", now: true, later: true, asks: 1},
		{choice: "Not now", asks: 1},
		{choice: "", asks: 1},
		{choice: "Not now", options: `{"trusted":true}`, now: true},
		{choice: "Trust ", options: `{"trusted":false}`},
	} {
		t.Run(tt.choice+tt.options, func(t *testing.T) {
			t.Setenv("XDG_STATE_HOME", t.TempDir())
			work := filepath.Join(t.TempDir(), "work")
			for _, name := range []string{"shop/sub", "other"} {
				if err := os.MkdirAll(filepath.Join(work, name), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Symlink("shop", filepath.Join(work, "link")); err != nil {
				t.Skip(err)
			}
			shop := filepath.Join(work, "shop")
			srv := New(t.Output(), Config{})
			defer srv.Close()
			editor := &asked{choice: tt.choice}
			srv.editor, srv.init = editor, jsontext.Value(tt.options)
			for range 3 {
				var group sync.WaitGroup
				for _, root := range []string{shop, filepath.Join(work, "link")} { // one folder
					group.Go(func() {
						if got := srv.Trusts(t.Context(), root, func() {}); got != tt.now {
							t.Errorf("%s is trusted: %v", root, got)
						}
					})
				}
				group.Wait()
			}
			if len(editor.shown) != tt.asks {
				t.Errorf("%d questions: %+v", len(editor.shown), editor.shown)
			}
			for root, want := range map[string]bool{shop: tt.later, filepath.Join(work, "other"): tt.beside, filepath.Join(shop, "sub"): tt.below} {
				if got := TrustKnown(root); got != want {
					t.Errorf("%s is trusted later: %v", root, got)
				}
			}
			if c := srv.settings(shop).Config; c.Trusted != tt.now {
				t.Errorf("the settings say %v", c.Trusted)
			}
		})
	}
}

// TestAnUnansweredQuestionIsAskedAgain cancels the turn that a question is part of.
func TestAnUnansweredQuestionIsAskedAgain(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	srv := New(t.Output(), Config{})
	defer srv.Close()
	editor := &asked{choice: "wait"}
	srv.editor = editor
	root := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	if srv.Trusts(ctx, root, cancel) {
		t.Error("it is trusted without an answer")
	}
	editor.choice = "Trust "
	if !srv.Trusts(t.Context(), root, func() {}) || len(editor.shown) != 2 {
		t.Errorf("it is not asked again: %+v", editor.shown)
	}
}

func TestNotEverythingCanBeTrustedAtOnce(t *testing.T) {
	home := filepath.Join(workspace.RealPath(t.TempDir()), "u", "home")
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	if err := os.MkdirAll(home, 0o755); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, dir := range []string{"/", filepath.Dir(home), home, filepath.Join(home, "work"), workspace.RealPath(os.TempDir()), filepath.Join(filepath.Dir(filepath.Dir(home)), "elsewhere")} {
		if mayTrustBelow(dir) {
			got = append(got, dir)
		}
	}
	if want := []string{filepath.Join(home, "work"), filepath.Join(filepath.Dir(filepath.Dir(home)), "elsewhere")}; !slices.Equal(got, want) {
		t.Errorf("may be trusted whole: %q, want %q", got, want)
	}
	if got := shownPath(filepath.Join(home, "work", "shop")); got != "~/work/shop" {
		t.Errorf("shown as %s", got)
	}
}
