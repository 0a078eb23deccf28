package server

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/agent-lsp/agent-lsp/config"
	"github.com/agent-lsp/agent-lsp/session"
	"github.com/agent-lsp/agent-lsp/workspace"
	"github.com/go-json-experiment/json"
)

// trust is what the person said of workspaces that no setting says to trust or not.
// Yes is kept in the state directory, a file for each folder; no is for this process.
// The zero value is ready.
type trust struct {
	mu      sync.Mutex               // guards what follows
	refused map[string]bool          // by real path
	asking  map[string]chan struct{} // closed when the question was answered
}

// trusted is the content of a file of the state directory's folder "trust", whose name
// is the hash of the path.
type trusted struct {
	Path  string `json:"path"`            // real
	Below bool   `json:"below,omitempty"` // everything below it is trusted, too
}

// Trusts reports whether programs may run in a workspace folder. Where neither a
// setting nor an earlier answer says so, the person is asked, once for each folder;
// asking is called before that. Without an answer it reports false, and so it does for
// the rest of the process if the answer is not now.
func (srv *Server) Trusts(ctx context.Context, root string, asking func()) bool {
	if r := srv.settings(root); r.Origin("trusted").Layer != config.Defaults {
		return r.Config.Trusted
	}
	real := workspace.RealPath(root)
	t := &srv.trust
	for {
		t.mu.Lock()
		if t.refused[real] {
			t.mu.Unlock()
			return false
		}
		if keptTrust(real) {
			t.mu.Unlock()
			return true
		}
		other := t.asking[real]
		if other == nil {
			break
		}
		t.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return false
		}
	}
	if t.asking == nil {
		t.asking, t.refused = map[string]chan struct{}{}, map[string]bool{}
	}
	answered := make(chan struct{})
	t.asking[real] = answered
	t.mu.Unlock()
	asking()
	ok, known := srv.askTrust(ctx, real)
	t.mu.Lock()
	delete(t.asking, real)
	t.refused[real] = known && !ok
	t.mu.Unlock()
	close(answered)
	if known && !ok {
		srv.change(srv.reload) // what the workspace says counts no more
	}
	return ok
}

// distrusted reports whether the person did not trust a folder in this process.
func (t *trust) distrusted(root string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.refused) > 0 && t.refused[workspace.RealPath(root)]
}

// askTrust asks the person; known is false when the question came to no answer.
func (srv *Server) askTrust(ctx context.Context, real string) (ok, known bool) {
	srv.mu.Lock()
	editor := srv.editor
	srv.mu.Unlock()
	name := shownPath(real)
	choices := []session.Choice{{Decision: session.AllowOnce, Label: "Trust " + name}}
	parent := filepath.Dir(real)
	if mayTrustBelow(parent) {
		choices = append(choices, session.Choice{Decision: session.AllowSession, Label: "Trust everything below " + shownPath(parent)})
	}
	choices = append(choices, session.Choice{Decision: session.Deny, Label: "Not now"})
	decisions := make([]session.Decision, len(choices))
	for i, c := range choices {
		decisions[i] = c.Decision
	}
	answer := editor.Approve(ctx, session.Question{
		Plain: true, Decisions: decisions, Choices: choices, Title: "Trust " + name + "?",
		Detail: "Its commands, checks and git hooks run programs of it on this machine. The answer is remembered.",
	})
	if ctx.Err() != nil {
		return false, false
	}
	var err error
	switch answer.Decision {
	case session.AllowOnce:
		err = keepTrust(trusted{Path: real})
	case session.AllowSession:
		err = keepTrust(trusted{Path: parent, Below: true})
	default:
		return false, true
	}
	if err != nil {
		srv.log.Warn("the answer is not remembered", "err", err)
	}
	return true, true
}

// mayTrustBelow reports whether everything below a directory may be trusted with one
// answer: not the whole system, the home directory, or what everybody writes to.
func mayTrustBelow(dir string) bool {
	if home, err := os.UserHomeDir(); err == nil {
		if _, holds := workspace.Below(dir, workspace.RealPath(home)); holds {
			return false
		}
	}
	return filepath.Dir(dir) != dir && dir != workspace.RealPath(os.TempDir())
}

// shownPath spells a path below the home directory with ~.
func shownPath(path string) string {
	if home, err := os.UserHomeDir(); err == nil {
		if rel, ok := workspace.Below(workspace.RealPath(home), path); ok && rel != "." && rel != "" {
			return "~/" + filepath.ToSlash(rel)
		}
	}
	return workspace.Spelled(path)
}

// trustFile returns the file of the answer about a real path.
func trustFile(real string) (string, error) {
	dir, err := StateDir()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(real))
	return filepath.Join(dir, "trust", hex.EncodeToString(sum[:])+".json"), nil
}

// keptTrust reports whether the person trusted a real path, or everything below one
// above it.
func keptTrust(real string) bool {
	for at := real; ; at = filepath.Dir(at) {
		if t, ok := readTrust(at); ok && (at == real || t.Below) {
			return true
		}
		if at == filepath.Dir(at) {
			return false
		}
	}
}

func readTrust(real string) (t trusted, ok bool) {
	name, err := trustFile(real)
	if err != nil {
		return t, false
	}
	data, err := os.ReadFile(name)
	if err != nil || json.Unmarshal(data, &t) != nil {
		return t, false
	}
	return t, t.Path == real
}

// keepTrust keeps an answer; one for all below a path stays when the path alone is
// trusted later.
func keepTrust(t trusted) error {
	name, err := trustFile(t.Path)
	if err != nil {
		return err
	}
	if old, ok := readTrust(t.Path); ok && old.Below {
		return nil
	}
	data, err := json.Marshal(t)
	if err != nil {
		return fmt.Errorf("keep the trust in %s: %w", t.Path, err)
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return fmt.Errorf("keep the trust in %s: %w", t.Path, err)
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".new-*")
	if err != nil {
		return fmt.Errorf("keep the trust in %s: %w", t.Path, err)
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // or it was never there
		return fmt.Errorf("keep the trust in %s: %w", t.Path, err)
	}
	return nil
}

// TrustKnown reports whether it is known, without a question, whether a folder is
// trusted, by a setting of the environment or an earlier answer.
func TrustKnown(root string) bool {
	c := config.Load(config.Sources{Env: os.Environ()})
	return c.Origin("trusted").Layer != config.Defaults || TrustKept(root)
}

// TrustKept reports whether the person has answered earlier that a folder is trusted.
func TrustKept(root string) bool { return keptTrust(workspace.RealPath(root)) }
