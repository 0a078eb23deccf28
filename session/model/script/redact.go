package script

import (
	"regexp"
	"slices"
	"strings"

	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/go-json-experiment/json/jsontext"
)

// Redacted stands in a recording where a secret was.
const Redacted = "[redacted]"

// shapes are the forms of well known keys and tokens. None matches Redacted, and
// none takes in a quote or a backslash, so that JSON stays JSON.
var shapes = regexp.MustCompile(strings.Join([]string{
	`\bsk-[A-Za-z0-9_-]{16,}`,                       // OpenAI, Anthropic, OpenRouter
	`\b(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,}`, // Stripe
	`\bgh[pousr]_[A-Za-z0-9]{20,}`,                  // GitHub
	`\bgithub_pat_[A-Za-z0-9_]{20,}`,
	`\bglpat-[A-Za-z0-9_-]{16,}`,                                      // GitLab
	`\b(?:AKIA|ASIA)[A-Z0-9]{16}\b`,                                   // AWS
	`\bAIza[A-Za-z0-9_-]{30,}`,                                        // Google
	`\bxox[abeoprs]-[A-Za-z0-9-]{10,}`,                                // Slack
	`\bhf_[A-Za-z0-9]{20,}`,                                           // Hugging Face
	`\bnpm_[A-Za-z0-9]{30,}`,                                          // npm
	`\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}`, // JWT
	`(?i:\bbearer )[A-Za-z0-9._~+/-]{16,}=*`,
	`-----BEGIN [A-Z ]*PRIVATE KEY-----[^"]*?-----END [A-Z ]*PRIVATE KEY-----`,
}, "|"))

// redactor removes secrets from text: the given ones, also where they are encoded or
// stand escaped inside a JSON string, and anything of a known shape.
type redactor struct{ given *strings.Replacer }

func newRedactor(secrets []string) *redactor {
	var forms []string
	for _, s := range secrets {
		if s == "" {
			continue
		}
		forms = append(forms, model.SecretForms(s)...)
		if q, err := jsontext.AppendQuote(nil, s); err == nil {
			forms = append(forms, string(q[1:len(q)-1]))
		}
	}
	// A secret that contains another one is removed whole.
	slices.SortFunc(forms, func(a, b string) int {
		if d := len(b) - len(a); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	var pairs []string
	for _, f := range slices.Compact(forms) {
		pairs = append(pairs, f, Redacted)
	}
	return &redactor{strings.NewReplacer(pairs...)}
}

func (r *redactor) text(s string) string {
	return shapes.ReplaceAllString(r.given.Replace(s), Redacted)
}
