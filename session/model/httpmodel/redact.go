package httpmodel

import (
	"net/url"
	"regexp"
	"strings"

	"github.com/agent-lsp/agent-lsp/session/model"
)

const hidden = "[key]"

// keyLike is text in the shape of a key, of whomever.
var keyLike = regexp.MustCompile(`(?i)\b(?:sk|pk|rk|xai|gsk|hf)[-_][a-z0-9_-]{12,}|\bBearer\s+[a-z0-9._~+/-]{8,}=*|\bAIza[a-z0-9_-]{20,}`)

// secrets are the texts that a call must not show.
type secrets []string

// secretsOf returns a key and the parts of an address that may be secret: all but
// its path.
func secretsOf(key string, endpoint *url.URL) secrets {
	var s secrets
	add := func(text string) {
		if len(text) >= 4 {
			s = append(s, model.SecretForms(text)...)
			if quoted := url.QueryEscape(text); quoted != text {
				s = append(s, quoted) // also of a short one
			}
		}
	}
	add(key)
	if endpoint != nil {
		if password, ok := endpoint.User.Password(); ok {
			add(password)
		}
		for _, values := range endpoint.Query() {
			for _, v := range values {
				if len(v) >= 12 { // shorter ones are settings, such as a version
					add(v)
				}
			}
		}
	}
	return s
}

// clean replaces the secrets in a text, and what looks like one.
func (s secrets) clean(text string) string {
	for _, secret := range s {
		text = strings.ReplaceAll(text, secret, hidden)
	}
	return keyLike.ReplaceAllString(text, hidden)
}
