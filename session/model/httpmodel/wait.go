package httpmodel

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// The waits between attempts.
const (
	firstWait = 500 * time.Millisecond // doubled at each attempt
	maxWait   = 30 * time.Second       // when the server named none
	maxAsked  = time.Minute            // when the server named one
)

// wait returns how long to wait before attempt n+1, n from 1: what the server asked
// for, up to a limit, else a growing time, less up to a half by jitter.
func wait(asked time.Duration, n int, jitter float64) time.Duration {
	if asked > 0 {
		return min(asked, maxAsked)
	}
	d := maxWait
	if n < 8 {
		d = min(d, firstWait<<(n-1))
	}
	return d - time.Duration(jitter*float64(d)/2)
}

// retryAfter reads how long the server wants to be left alone: retry-after-ms, or
// Retry-After in seconds or as a date. It is 0 when the headers do not say, or say
// nothing that can be waited for.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if d := number(h.Get("Retry-After-Ms"), time.Millisecond); d > 0 {
		return d
	}
	text := h.Get("Retry-After")
	if d := number(text, time.Second); d > 0 {
		return d
	}
	if at, err := http.ParseTime(strings.TrimSpace(text)); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// number is a count of units, 0 for what is none. One too large for a duration is
// the largest.
func number(text string, unit time.Duration) time.Duration {
	f, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil && !math.IsInf(f, 1) || math.IsNaN(f) || f <= 0 {
		return 0
	}
	if f >= float64(math.MaxInt64)/float64(unit) {
		return math.MaxInt64
	}
	return time.Duration(f * float64(unit))
}
