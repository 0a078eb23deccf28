package lsp

import (
	"context"
	"maps"
	"runtime"

	"github.com/agent-lsp/agent-lsp/session"
)

// status returns the state of server, client and engine: {}. It contains no secret
// and no text of a document.
func (s commands) status(ctx context.Context, a *arguments) (any, error) {
	if err := a.done(); err != nil {
		return nil, err
	}
	versions := map[string]string{"agent-lsp": s.config.Version, "go": runtime.Version(), "os": runtime.GOOS + "/" + runtime.GOARCH}
	maps.Copy(versions, s.config.Versions)
	out := struct {
		Versions         map[string]string `json:"versions"`
		Sandbox          string            `json:"sandbox,omitempty"` // what confines commands
		Client           string            `json:"client"`
		PositionEncoding string            `json:"positionEncoding"`
		Roots            []string          `json:"roots"`
		OpenDocuments    int               `json:"openDocuments"`
		Engine           string            `json:"engine"` // "starting", "ready", or why there is none
		session.Status   `json:",inline"`
	}{
		Versions: versions, Client: s.client.title(), PositionEncoding: s.client.Encoding.String(), Roots: s.editor.Folders.Dirs(),
		OpenDocuments: len(s.editor.Snapshot()), Engine: "starting",
	}
	if s.config.Sandbox != nil {
		out.Sandbox = s.config.Sandbox()
	}
	select {
	case <-s.started:
		out.Engine = "ready"
		if s.failed != nil {
			out.Engine = s.failed.Error()
		}
	default: // a status bar must not wait
	}
	if out.Engine == "ready" {
		out.Status = s.engine.Status()
		out.Sessions = s.visible(out.Sessions)
	}
	return out, nil
}
