// Package catalogue knows the public providers of models: the names of their key
// variables, their addresses, and of each model its window, its longest reply, whether
// it takes pictures, and its price. The figures are those of charm.land/catwalk at the
// version in go.mod; nothing is fetched.
package catalogue

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"sync"

	"charm.land/catwalk/pkg/catwalk"
	"charm.land/catwalk/pkg/embedded"
	"github.com/agent-lsp/agent-lsp/session/model"
)

// providers is read once, when something of it is wanted: it takes milliseconds.
var providers = sync.OnceValue(read)

func read() []catwalk.Provider { return embedded.GetAll() }

// first are the providers that are offered before the others, which follow by name:
// those that make the models they serve.
var first = []string{"anthropic", "openai", "gemini"}

// geminiBase is Gemini's endpoint that speaks the API of OpenAI; the catalogue has the
// one of its own API.
const geminiBase = "https://generativelanguage.googleapis.com/v1beta/openai"

// Offered returns a profile for each provider whose API is spoken here and whose key
// variable has a value, named for the provider, with its default model. Env is a
// program's environment, NAME=value.
func Offered(env []string) []model.Profile {
	vars := map[string]string{}
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		if value != "" {
			vars[name] = value
		}
	}
	if !mayHoldKey(vars) {
		return nil
	}
	var out []model.Profile
	for _, p := range providers() {
		key, ok := strings.CutPrefix(p.APIKey, "$")
		if !ok || vars[key] == "" {
			continue
		}
		profile, ok := profileOf(&p)
		if !ok {
			continue
		}
		profile.APIKeyEnv = key
		if base := endpointVariable(p.ID, vars); base != "" {
			profile.BaseURL = base
		}
		Complete(&profile)
		out = append(out, profile)
	}
	slices.SortFunc(out, func(a, b model.Profile) int {
		return cmp.Or(cmp.Compare(rank(a.Name), rank(b.Name)), strings.Compare(a.Name, b.Name))
	})
	return out
}

// mayHoldKey reports whether a variable could be a provider's key, which spares those
// who have none the reading of the catalogue.
func mayHoldKey(vars map[string]string) bool {
	for name := range vars {
		if strings.HasSuffix(name, "_KEY") || strings.HasSuffix(name, "_TOKEN") {
			return true
		}
	}
	return false
}

func rank(name string) int {
	if i := slices.Index(first, name); i >= 0 {
		return i
	}
	return len(first)
}

// profileOf makes a provider's profile; false for one whose API is not spoken here, or
// that needs more than a key.
func profileOf(p *catwalk.Provider) (model.Profile, bool) {
	out := model.Profile{Name: string(p.ID), Model: p.DefaultLargeModelID, BaseURL: p.APIEndpoint}
	switch p.Type {
	case catwalk.TypeAnthropic:
		out.Provider, out.PromptCache = "anthropic", true
	case catwalk.TypeOpenAI, catwalk.TypeOpenAICompat, catwalk.TypeOpenRouter, catwalk.TypeVercel:
		out.Provider = "openai"
	case catwalk.TypeGoogle:
		out.Provider, out.BaseURL = "openai", geminiBase
	default:
		return out, false
	}
	if strings.HasPrefix(out.BaseURL, "$") {
		out.BaseURL = "" // the provider's own, unless the variable says otherwise
	}
	return out, true
}

// endpointVariable is the address that the environment names for a provider, as the
// providers' own programs read it.
func endpointVariable(id catwalk.InferenceProvider, vars map[string]string) string {
	switch id {
	case catwalk.InferenceProviderAnthropic:
		return cmp.Or(vars["ANTHROPIC_BASE_URL"], vars["ANTHROPIC_API_ENDPOINT"])
	case catwalk.InferenceProviderOpenAI:
		return cmp.Or(vars["OPENAI_BASE_URL"], vars["OPENAI_API_ENDPOINT"])
	}
	return ""
}

// Complete adds to a profile what the catalogue knows of its model and the profile does
// not say: the window, the longest reply, pictures and the price. A profile of a server
// that the catalogue does not know stays as it is.
func Complete(p *model.Profile) {
	if p.Provider == "script" || p.Context > 0 && p.Price != (model.Price{}) {
		return
	}
	m, ok := find(p)
	if !ok {
		return
	}
	if p.Context == 0 {
		p.Context = int(m.ContextWindow)
		p.Vision = p.Vision || m.SupportsImages
	}
	if p.MaxOutput == 0 {
		p.MaxOutput = int(m.DefaultMaxTokens)
	}
	if p.Price == (model.Price{}) {
		p.Price = price(&m)
	}
}

// Models returns the models of the provider that a profile is of; none when the
// catalogue does not know the server.
func Models(p *model.Profile) []model.Known {
	provider := providerOf(p)
	if provider == nil {
		return nil
	}
	out := make([]model.Known, 0, len(provider.Models))
	for _, m := range provider.Models {
		out = append(out, model.Known{ID: m.ID, Name: m.Name, Context: int(m.ContextWindow), Price: price(&m)})
	}
	return out
}

// price is a model's. What is read from a provider's cache stands in either of two
// members of the catalogue, and what is written into it in the first one; reading is
// never dearer than a fresh token.
func price(m *catwalk.Model) model.Price {
	p := model.Price{Input: m.CostPer1MIn, Cached: m.CostPer1MIn, Output: m.CostPer1MOut}
	for _, cached := range []float64{m.CostPer1MInCached, m.CostPer1MOutCached} {
		if cached > 0 {
			p.Cached = min(p.Cached, cached)
		}
	}
	return p
}

func find(p *model.Profile) (catwalk.Model, bool) {
	provider := providerOf(p)
	if provider == nil {
		return catwalk.Model{}, false
	}
	i := slices.IndexFunc(provider.Models, func(m catwalk.Model) bool { return m.ID == p.Model })
	if i < 0 {
		return catwalk.Model{}, false
	}
	return provider.Models[i], true
}

// providerOf finds the provider by the host that a profile asks, or by the key variable
// where the environment names another host.
func providerOf(p *model.Profile) *catwalk.Provider {
	if p.Provider == "script" {
		return nil
	}
	all := providers()
	for i := range all {
		known, ok := profileOf(&all[i])
		if ok && known.Provider == p.Provider && (host(&known) == host(p) || all[i].APIKey == "$"+p.APIKeyEnv && string(all[i].ID) == p.Name) {
			return &all[i]
		}
	}
	return nil
}

// host is the host of the server that a profile asks.
func host(p *model.Profile) string {
	if p.BaseURL == "" {
		return p.Provider // the provider's own
	}
	u, err := url.Parse(p.BaseURL)
	if err != nil {
		return p.BaseURL
	}
	switch u.Host {
	case "api.openai.com":
		return "openai"
	case "api.anthropic.com":
		return "anthropic"
	}
	return u.Host
}
