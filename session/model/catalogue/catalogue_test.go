package catalogue

import (
	"testing"

	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/google/go-cmp/cmp"
)

func TestOfferedAreTheProvidersWhoseKeyIsSet(t *testing.T) {
	for name, tt := range map[string]struct {
		env  []string
		want []string // name, provider, address, variable
	}{
		"none":          {[]string{"HOME=/h", "PATH=/bin"}, nil},
		"an empty key":  {[]string{"OPENAI_API_KEY="}, nil},
		"another's key": {[]string{"MY_KEY=x"}, nil},
		"the makers first": {
			[]string{"OPENROUTER_API_KEY=k", "DEEPSEEK_API_KEY=k", "OPENAI_API_KEY=k", "ANTHROPIC_API_KEY=k", "GEMINI_API_KEY=k"},
			[]string{
				"anthropic anthropic  ANTHROPIC_API_KEY", "openai openai  OPENAI_API_KEY", "gemini openai " + geminiBase + " GEMINI_API_KEY",
				"deepseek openai https://api.deepseek.com/v1 DEEPSEEK_API_KEY", "openrouter openai https://openrouter.ai/api/v1 OPENROUTER_API_KEY",
			},
		},
		"another address": {[]string{"ANTHROPIC_API_KEY=k", "ANTHROPIC_BASE_URL=http://127.0.0.1:9"}, []string{"anthropic anthropic http://127.0.0.1:9 ANTHROPIC_API_KEY"}},
		"more than a key": {[]string{"AZURE_OPENAI_API_KEY=k"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, p := range Offered(tt.env) {
				got = append(got, p.Name+" "+p.Provider+" "+p.BaseURL+" "+p.APIKeyEnv)
				if p.Model == "" || p.Context == 0 || p.MaxOutput == 0 || p.Price.Output == 0 {
					t.Errorf("%s is not complete: %+v", p.Name, p)
				}
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("offered (-want +got):\n%s", d)
			}
		})
	}
}

func TestWhatIsReadFromACacheIsNeverDearer(t *testing.T) {
	cheaper := 0
	for _, p := range Offered([]string{"ANTHROPIC_API_KEY=k", "OPENAI_API_KEY=k", "GEMINI_API_KEY=k", "OPENROUTER_API_KEY=k"}) {
		for _, m := range Models(&p) {
			if m.Price.Cached > m.Price.Input {
				t.Errorf("%s %s: %+v", p.Name, m.ID, m.Price)
			}
			if m.Price.Cached < m.Price.Input {
				cheaper++
			}
		}
	}
	if cheaper < 20 {
		t.Errorf("only %d models have a price for what is cached", cheaper)
	}
}

func TestCompleteAddsOnlyWhatAProfileDoesNotSay(t *testing.T) {
	known := Models(&model.Profile{Provider: "anthropic"})
	if len(known) == 0 {
		t.Fatal("the catalogue has no model of Anthropic's")
	}
	m := known[0]
	p := model.Profile{Provider: "anthropic", Model: m.ID}
	Complete(&p)
	if p.Context != m.Context || p.Price != m.Price || p.MaxOutput == 0 {
		t.Errorf("completed to %+v, the catalogue has %+v", p, m)
	}
	own := model.Profile{Provider: "anthropic", Model: m.ID, Context: 7, MaxOutput: 8, Price: model.Price{Input: 9}}
	want := own
	Complete(&own)
	if d := cmp.Diff(want, own); d != "" {
		t.Errorf("a profile's own figures changed (-want +got):\n%s", d)
	}
	for name, p := range map[string]model.Profile{
		"a local server":   {Provider: "openai", Model: "gpt-5", BaseURL: "http://127.0.0.1:11434/v1"},
		"an unknown model": {Provider: "openai", Model: "my-tune"},
		"a script":         {Provider: "script"},
	} {
		before := p
		Complete(&p)
		if d := cmp.Diff(before, p); d != "" {
			t.Errorf("%s was completed (-before +after):\n%s", name, d)
		}
	}
}

// BenchmarkCatalogue is what the first look costs.
func BenchmarkCatalogue(b *testing.B) {
	for b.Loop() {
		if len(read()) == 0 {
			b.Fatal("empty")
		}
	}
}
