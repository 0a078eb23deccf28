package lsptest

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/agent-lsp/agent-lsp/lsp/text"
)

var (
	uuids  = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	times  = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)`)
	took   = regexp.MustCompile(`"(tookMs|took_ms|pid)":\d+`)
	digest = regexp.MustCompile(`"(digest)":"[0-9a-f]{64}"`)
)

// normaliser makes what differs between runs the same.
type normaliser struct {
	work string
	ids  map[string]string
}

func newNormaliser(work string) *normaliser { return &normaliser{work: work, ids: map[string]string{}} }

func (n *normaliser) do(s string) string {
	s = strings.ReplaceAll(s, strings.TrimPrefix(text.URI(n.work), "file://"), "$WORK")
	s = strings.ReplaceAll(s, n.work, "$WORK")
	s = times.ReplaceAllString(s, "<time>")
	s = took.ReplaceAllString(s, `"$1":0`)
	s = digest.ReplaceAllString(s, `"$1":"<digest>"`)
	return uuids.ReplaceAllStringFunc(s, func(id string) string {
		if n.ids[id] == "" {
			n.ids[id] = fmt.Sprintf("<id%d>", len(n.ids)+1)
		}
		return n.ids[id]
	})
}
