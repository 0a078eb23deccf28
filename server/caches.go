package server

import (
	"github.com/agent-lsp/agent-lsp/tools/caches"
)

// CachesDir is the directory of the private caches of commands and checks, "" when the
// system has no place for the server's own files.
func CachesDir() string { return cachesBelow(statePlaces()) }

// trimCaches removes, in the background, private caches that do not fit into limit
// bytes. Those that are in use are the last to go.
func (srv *Server) trimCaches(limit int64) {
	base := CachesDir()
	if base == "" {
		return
	}
	srv.jobs.Go(func() {
		gone, err := caches.Trim(srv.ctx, base, limit)
		if err != nil && srv.ctx.Err() == nil {
			srv.log.Warn("trim the private caches", "err", err)
		}
		if len(gone) > 0 {
			srv.log.Info("private caches removed that are over sandbox.cache_size", "count", len(gone))
		}
	})
}
