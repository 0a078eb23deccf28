package contract

import (
	"context"
	"iter"
	"math"
)

// PageReader returns the next page of a transcript, whose events are good until
// the call after, and whether more may follow.
type PageReader func(ctx context.Context) (page []Event, more bool, err error)

// Pages yields the events behind after, all for nil. read makes the reader of
// those behind an index, -1 for all. The reader's error ends them, and so does the
// context's between two events.
func Pages(ctx context.Context, after *uint64, read func(last int64) PageReader) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		last := int64(-1)
		if after != nil {
			if *after >= math.MaxInt64 {
				return
			}
			last = int64(*after)
		}
		next := read(last)
		for more := true; more; {
			var page []Event
			var err error
			if page, more, err = next(ctx); err != nil {
				yield(Event{}, err)
				return
			}
			for _, e := range page {
				if err := ctx.Err(); err != nil {
					yield(Event{}, err)
					return
				}
				if !yield(e, nil) {
					return
				}
			}
		}
	}
}
