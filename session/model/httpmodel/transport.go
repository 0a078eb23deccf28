package httpmodel

import (
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/agent-lsp/agent-lsp/session/model"
)

const maxRedirects = 5

// client is an HTTP client whose every request goes to endpoint, whatever path an
// SDK chose, and whose redirects keep method and body.
func client(next http.RoundTripper, endpoint *url.URL) *http.Client {
	return &http.Client{
		Transport:     &transport{next: next, endpoint: endpoint},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

type transport struct {
	next     http.RoundTripper
	endpoint *url.URL
}

// statusError is an answer that is none: its status and what the body said.
type statusError struct {
	status int
	header http.Header
	body   []byte
}

func (e *statusError) Error() string { return fmt.Sprintf("status %d", e.status) }

// RoundTrip answers only statuses below 300; any other is a *statusError, so that
// an SDK does not read, lose or reword what the server said.
func (t *transport) RoundTrip(first *http.Request) (*http.Response, error) {
	at := t.endpoint
	for hop := 0; ; hop++ {
		req := first.Clone(first.Context())
		req.URL, req.Host = at, at.Host
		req.Header.Set("Accept", "text/event-stream, application/json")
		if password, ok := at.User.Password(); ok && req.Header.Get("Authorization") == "" {
			req.SetBasicAuth(at.User.Username(), password)
		}
		if hop > 0 && first.GetBody != nil {
			body, err := first.GetBody()
			if err != nil {
				return nil, fmt.Errorf("read the request again for a redirect: %w", err)
			}
			req.Body = body
		}
		resp, err := t.next.RoundTrip(req)
		if err != nil {
			return nil, err
		}
		if resp.StatusCode < 300 {
			return resp, nil
		}
		// What came before a broken connection is still worth telling.
		body, _ := io.ReadAll(io.LimitReader(resp.Body, maxError))
		_ = resp.Body.Close() // nothing is left to lose
		if resp.StatusCode >= 400 {
			return nil, &statusError{resp.StatusCode, resp.Header, body}
		}
		if at, err = follow(at, resp, hop); err != nil {
			return nil, err
		}
	}
}

// follow is where a redirect leads, if the request may go there as it is: to the
// same server, or from http to its https.
func follow(from *url.URL, resp *http.Response, hop int) (*url.URL, error) {
	refuse := func(format string, args ...any) error {
		return &model.Error{Kind: model.BadRequest, Status: resp.StatusCode, Message: fmt.Sprintf(format, args...)}
	}
	if hop >= maxRedirects {
		return nil, refuse("more than %d redirects, starting at %s; correct the profile's base_url", maxRedirects, Origin(from))
	}
	to, err := resp.Location()
	if err != nil {
		return nil, refuse("a redirect without an address from %s; correct the profile's base_url", Origin(from))
	}
	switch resp.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
	default:
		return nil, refuse("%s does not take the request itself; correct the profile's base_url", Origin(from))
	}
	upgrade := from.Scheme == "http" && to.Scheme == "https" && from.Hostname() == to.Hostname()
	if Origin(from) != Origin(to) && !upgrade {
		return nil, refuse("%s redirects to another server, %s, which is not given the request; if it is the right one, put it in the profile's base_url", Origin(from), Origin(to))
	}
	if to.RawQuery == "" {
		to.RawQuery = from.RawQuery
	}
	to.User = from.User
	return to, nil
}

// Origin is a URL's scheme, host and port, which holds no secret.
func Origin(u *url.URL) string { return u.Scheme + "://" + u.Host }
