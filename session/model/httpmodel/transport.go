package httpmodel

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"

	"github.com/agent-lsp/agent-lsp/session/model"
)

const maxRedirects = 5

// statusError is an HTTP error status and the body that came with it.
type statusError struct {
	status int
	header http.Header
	body   []byte
}

func (e *statusError) Error() string { return fmt.Sprintf("status %d", e.status) }

// Post sends a JSON body to the endpoint with the headers that the provider adds,
// over a connection that is kept for the next request. It follows redirects with
// method and body, and returns only responses of a status below 300, whose body the
// caller closes; any other status is an error that keeps what the server said.
func (a *Attempt) Post(header http.Header, body []byte) (*http.Response, error) {
	at := a.endpoint
	for hop := 0; ; hop++ {
		resp, err := a.post(at, header, body)
		if err != nil {
			return nil, err
		}
		if resp.StatusCode < 300 {
			return resp, nil
		}
		// What came before a broken connection is still worth telling.
		said, _ := io.ReadAll(io.LimitReader(resp.Body, maxError))
		_ = resp.Body.Close() // nothing is left to lose
		if resp.StatusCode >= 400 {
			return nil, &statusError{resp.StatusCode, resp.Header, said}
		}
		if at, err = follow(at, resp, hop); err != nil {
			return nil, err
		}
	}
}

// post sends the request once.
func (a *Attempt) post(at *url.URL, header http.Header, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(a.ctx, http.MethodPost, at.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.URL = at // as it was parsed
	maps.Copy(req.Header, header)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream, application/json")
	req.Header.Set("User-Agent", "agent-lsp")
	if password, ok := at.User.Password(); ok && req.Header.Get("Authorization") == "" {
		req.SetBasicAuth(at.User.Username(), password)
	}
	return a.transport.RoundTrip(req)
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

// Origin returns a URL's scheme, host and port, which contain no secret.
func Origin(u *url.URL) string { return u.Scheme + "://" + u.Host }
