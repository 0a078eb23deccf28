// Package httpmodel is what the providers that speak HTTP share: retries and
// their waits, time limits, the reading of event streams, the classes of errors,
// the address of an endpoint, redirects, and keeping keys out of texts. It knows
// no provider's requests or replies.
package httpmodel

import (
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/agent-lsp/agent-lsp/session/clock"
	"github.com/agent-lsp/agent-lsp/session/model"
)

// Config are a provider's settings besides its profile. The zero value sends a
// request once, without time limits, over the machine's network.
type Config struct {
	Clock  clock.Clock              // nil: the machine's
	Getenv func(name string) string // nil: os.Getenv
	// Timeout bounds one attempt from its start to the end of the reply; 0 for no
	// limit. It is not retried.
	Timeout time.Duration
	// IdleTimeout bounds the wait for the first and for each further piece of the
	// reply; signs of life without content do not count. 0 for no limit.
	IdleTimeout time.Duration
	Retries     int               // how often an attempt that may pass is repeated
	Transport   http.RoundTripper // nil: http.DefaultTransport
	Jitter      func() float64    // in [0, 1), spreads the waits; nil: a random one. Called by many goroutines.
	Log         *slog.Logger      // nil: nothing is logged
}

// filled returns c with its defaults in place.
func (c Config) filled() Config {
	if c.Clock == nil {
		c.Clock = clock.Real{}
	}
	if c.Getenv == nil {
		c.Getenv = os.Getenv
	}
	if c.Transport == nil {
		c.Transport = http.DefaultTransport
	}
	if c.Jitter == nil {
		c.Jitter = rand.Float64
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

// key reads the profile's key. It is "" for a profile that names no variable. The
// error, of kind Auth, says what is wrong and shows nothing of the key.
func (c Config) key(p model.Profile) (string, error) {
	if p.APIKeyEnv == "" {
		return "", nil
	}
	key := strings.TrimSpace(c.Getenv(p.APIKeyEnv))
	if key == "" {
		return "", &model.Error{Kind: model.Auth, Message: "the environment variable " + p.APIKeyEnv +
			" is not set; put the API key of profile " + p.Name + " there, and start the server again"}
	}
	if strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return "", &model.Error{Kind: model.Auth, Message: "the environment variable " + p.APIKeyEnv +
			" holds characters that no API key has, such as spaces or line ends"}
	}
	return key, nil
}
