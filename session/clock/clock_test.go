package clock

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// each runs a test on both clocks; the real one inside a bubble, whose time
// starts at epoch too.
func each(t *testing.T, f func(t *testing.T, c Clock)) {
	t.Run("real", func(t *testing.T) { synctest.Test(t, func(t *testing.T) { f(t, Real{}) }) })
	t.Run("virtual", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { f(t, NewVirtual(epoch)) })
	})
}

// check sleeps under limits nested from the outermost in, and compares the
// error and how far the clock went.
func check(t *testing.T, limits []time.Duration, d time.Duration, want error, after time.Duration) {
	t.Helper()
	each(t, func(t *testing.T, c Clock) {
		ctx := t.Context()
		for _, limit := range limits {
			var cancel context.CancelFunc
			ctx, cancel = c.WithTimeout(ctx, limit)
			defer cancel()
			// What stands between may be any context.
			ctx, cancel = context.WithCancel(context.WithValue(ctx, t, nil))
			defer cancel()
		}
		err := c.Sleep(ctx, d)
		if !errors.Is(err, want) || c.Now().Sub(epoch) != after {
			t.Errorf("slept until %s: %v; want %s: %v", c.Now().Sub(epoch), err, after, want)
		}
		if !errors.Is(ctx.Err(), want) || !errors.Is(context.Cause(ctx), want) {
			t.Errorf("context: %v because %v, want %v", ctx.Err(), context.Cause(ctx), want)
		}
		select {
		case <-ctx.Done():
			if want == nil {
				t.Error("the context ended")
			}
		default:
			if want != nil {
				t.Error("the context goes on")
			}
		}
	})
}

func TestSleep(t *testing.T) {
	late := context.DeadlineExceeded
	for name, tt := range map[string]struct {
		limits []time.Duration
		d      time.Duration
		want   error
		after  time.Duration
	}{
		"unbounded":             {nil, 30 * time.Second, nil, 30 * time.Second},
		"nothing":               {nil, 0, nil, 0},
		"a negative wait":       {nil, -time.Second, nil, 0},
		"within the limit":      {[]time.Duration{5}, 4, nil, 4},
		"at the limit":          {[]time.Duration{5}, 5, late, 5},
		"past the limit":        {[]time.Duration{5}, 6, late, 5},
		"forever under a limit": {[]time.Duration{5}, Forever, late, 5},
		"inner is earlier":      {[]time.Duration{9, 5}, 7, late, 5},
		"outer is earlier":      {[]time.Duration{5, 9}, 7, late, 5},
		"the same":              {[]time.Duration{5, 5}, 7, late, 5},
		"the middle is first":   {[]time.Duration{9, 3, 7}, Forever, late, 3},
		"no time at all":        {[]time.Duration{0}, 1, late, 0},
		"a negative limit":      {[]time.Duration{-1}, 1, late, 0},
		"past an hour of limit": {[]time.Duration{time.Hour}, 2 * time.Hour, late, time.Hour},
	} {
		t.Run(name, func(t *testing.T) { check(t, tt.limits, tt.d, tt.want, tt.after) })
	}
}

func TestAnInnerLimitLeavesTheOuterOneRunning(t *testing.T) {
	each(t, func(t *testing.T, c Clock) {
		outer, cancel := c.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		inner, cancelInner := c.WithTimeout(outer, 4*time.Second)
		defer cancelInner()
		if err := c.Sleep(inner, Forever); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		if err := c.Sleep(outer, 5*time.Second); err != nil {
			t.Fatal(err)
		}
		again, cancelAgain := c.WithTimeout(outer, 4*time.Second)
		defer cancelAgain()
		if err := c.Sleep(again, 2*time.Second); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(outer.Err(), context.DeadlineExceeded) {
			t.Errorf("%v, outer %v", err, outer.Err())
		}
		if got := c.Now().Sub(epoch); got != 10*time.Second {
			t.Errorf("at %s", got)
		}
	})
}

func TestCancelEndsAContextAsCancelled(t *testing.T) {
	for name, end := range map[string]func(parent, own, child context.CancelFunc){
		"parent": func(parent, _, _ context.CancelFunc) { parent() },
		"own":    func(_, own, _ context.CancelFunc) { own() },
		"child":  func(_, _, child context.CancelFunc) { child() },
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, c Clock) {
				ctx, parent := context.WithCancel(t.Context())
				defer parent()
				ctx, own := c.WithTimeout(ctx, time.Hour)
				defer own()
				ctx, child := context.WithCancel(ctx)
				defer child()
				end(parent, own, child)
				if err := c.Sleep(ctx, time.Second); !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
				<-ctx.Done() // an end above may still be on its way to a context below
				if err := ctx.Err(); !errors.Is(err, context.Canceled) {
					t.Errorf("the context ended with %v", err)
				}
				if got := c.Now(); !got.Equal(epoch) {
					t.Errorf("the clock moved to %s", got)
				}
			})
		})
	}
}

func TestForeverEndsByCancelOnly(t *testing.T) {
	each(t, func(t *testing.T, c Clock) {
		ctx, cancel := context.WithCancel(t.Context())
		slept := make(chan error)
		go func() { slept <- c.Sleep(ctx, Forever) }()
		synctest.Wait()
		select {
		case err := <-slept:
			t.Fatalf("ended by itself: %v", err)
		default:
		}
		cancel()
		if err := <-slept; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if got := c.Now(); !got.Equal(epoch) {
			t.Errorf("the clock moved to %s", got)
		}
	})
}

func TestAnEndedLimitTellsWhoWaitsForIt(t *testing.T) {
	each(t, func(t *testing.T, c Clock) {
		ctx, cancel := c.WithTimeout(t.Context(), time.Second)
		defer cancel()
		told := make(chan error, 2)
		context.AfterFunc(ctx, func() { told <- ctx.Err() })
		stopped := context.AfterFunc(ctx, func() { told <- errors.New("a stopped function ran") })
		if !stopped() {
			t.Error("could not stop")
		}
		_ = c.Sleep(ctx, time.Minute)
		if err := <-told; !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		late := make(chan struct{})
		context.AfterFunc(ctx, func() { close(late) })
		<-late
		synctest.Wait()
		if len(told) > 0 {
			t.Error(<-told)
		}
		cancel() // changes nothing any more
		if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
			t.Error(ctx.Err())
		}
	})
}

func TestTwoVirtualClocksAreApart(t *testing.T) {
	a, b := NewVirtual(epoch), NewVirtual(epoch)
	ctx, cancel := a.WithTimeout(t.Context(), time.Second)
	defer cancel()
	ctx, cancel = b.WithTimeout(ctx, time.Hour)
	defer cancel()
	if err := b.Sleep(ctx, time.Minute); err != nil {
		t.Fatal(err)
	}
	if err := a.Sleep(ctx, time.Minute); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		t.Errorf("%v, context %v", err, ctx.Err())
	}
	if a.Now().Sub(epoch) != time.Second || b.Now().Sub(epoch) != time.Minute {
		t.Errorf("a at %s, b at %s", a.Now(), b.Now())
	}
}

func TestVirtualTimeIsUTC(t *testing.T) {
	v := NewVirtual(time.Date(2000, 1, 1, 2, 0, 0, 0, time.FixedZone("", 2*3600)))
	if got := v.Now().Format(time.RFC3339); got != "2000-01-01T00:00:00Z" {
		t.Error(got)
	}
}

func TestAVirtualDeadlineHidesFromRealTimers(t *testing.T) {
	ctx, cancel := NewVirtual(epoch).WithTimeout(context.Background(), time.Second)
	defer cancel()
	if at, ok := ctx.Deadline(); ok {
		t.Errorf("deadline %s", at)
	}
}
