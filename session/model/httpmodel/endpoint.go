package httpmodel

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"github.com/agent-lsp/agent-lsp/session/model"
)

// version is a path segment such as v1 or v1beta.
var version = regexp.MustCompile(`^v[0-9]+[a-z0-9]*$`)

// Endpoint returns the address that requests go to. base may be the server alone,
// its address up to the version, or the whole endpoint, with or without a slash at
// the end; its query is kept. A blank base is fallback. A server alone, and with
// versioned any path that does not end in a version, gets the version v1.
//
//	Endpoint("http://h", …, "chat/completions", false) = http://h/v1/chat/completions
//
// The error is of kind BadRequest.
func Endpoint(base, fallback, path string, versioned bool) (*url.URL, error) {
	base = strings.TrimSpace(base)
	if base == "" {
		base = fallback
	}
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, &model.Error{Kind: model.BadRequest, Message: fmt.Sprintf(
			"the profile's base_url is no address of a server (%d characters); it should look like %s", len(base), fallback)}
	}
	root := strings.TrimRight(u.Path, "/")
	root = strings.TrimRight(strings.TrimSuffix(root, "/"+path), "/")
	last := root[strings.LastIndex(root, "/")+1:]
	if !version.MatchString(last) && (root == "" || versioned) {
		root += "/v1"
	}
	u.Path, u.RawPath, u.Fragment = root+"/"+path, "", ""
	return u, nil
}
