package lsp

import (
	"context"

	"github.com/agent-lsp/agent-lsp/lsp/editor"
	"go.lsp.dev/protocol"
)

// editing is the client as package editor calls it.
type editing struct{ *Server }

var _ editor.Client = editing{}

// Features implements editor.Client.
func (c editing) Features() editor.Features { return c.client.Features }

// SavesEdits implements editor.Client.
func (c editing) SavesEdits() bool {
	return c.client.savesEdits || c.config.Host.SavesEdits()
}

// ApplyEdit implements editor.Client.
func (c editing) ApplyEdit(ctx context.Context, p *protocol.ApplyWorkspaceEditParams) (applied bool, reason string, err error) {
	var result struct {
		Applied       bool   `json:"applied"`
		FailureReason string `json:"failureReason"`
	}
	err = c.call(ctx, protocol.MethodWorkspaceApplyEdit, p, &result)
	return result.Applied, result.FailureReason, err
}

// Gone implements editor.Client.
func (c editing) Gone() <-chan struct{} { return c.ctx.Done() }

// Spawn implements editor.Client.
func (c editing) Spawn(name string, job func()) bool { return c.spawn(name, job) }
