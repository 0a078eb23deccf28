package postgres

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/agent-lsp/agent-lsp/session/store/contract"
	"github.com/agent-lsp/agent-lsp/session/store/postgres/postgrestest"
	"github.com/google/uuid"
)

// TestPagesHaveAnEnd reads a transcript by pages from its start: none asks the
// server for more than its own events, but where they are so large that the rest of
// a page is left out.
func TestPagesHaveAnEnd(t *testing.T) {
	s := openTest(t, postgrestest.Database(t))
	small := contract.Payload{ContentType: "text/plain", Data: []byte("x")}
	large := contract.Payload{ContentType: "text/plain", Data: bytes.Repeat([]byte("y"), pageBytes/2)}
	for name, c := range map[string]struct {
		events []contract.Payload
		pages  []int
	}{
		"one":   {slices.Repeat([]contract.Payload{small}, 3), []int{3}},
		"full":  {slices.Repeat([]contract.Payload{small}, pageEvents), []int{pageEvents, 0}},
		"small": {slices.Repeat([]contract.Payload{small}, 2*pageEvents+5), []int{pageEvents, pageEvents, 5}},
		"large": {append(slices.Repeat([]contract.Payload{large}, 11), small, small), []int{2, largeEvents, 3}},
	} {
		t.Run(name, func(t *testing.T) {
			id := uuid.New()
			if err := s.Put(t.Context(), contract.Session{ID: id}); err != nil {
				t.Fatal(err)
			}
			if _, err := s.AppendAll(t.Context(), id, time.Now(), c.events); err != nil {
				t.Fatal(err)
			}
			r := reader{store: s, id: id, last: -1, limit: pageEvents}
			var pages []int
			for more := true; more; {
				var page []contract.Event
				var err error
				if page, more, err = r.next(t.Context()); err != nil {
					t.Fatal(err)
				}
				pages = append(pages, len(page))
			}
			if !slices.Equal(pages, c.pages) {
				t.Errorf("the pages hold %d events, want %d", pages, c.pages)
			}
		})
	}
}
