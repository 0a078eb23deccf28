package projection

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agent-lsp/agent-lsp/session/history"
	"github.com/go-json-experiment/json"
)

// counting condenses to the tool's name, arguments and size.
type counting struct{}

func (counting) Condense(_ context.Context, name, arguments, result string) (string, bool) {
	return fmt.Sprintf("[%s%s: %d chars]", name, arguments, len(result)), true
}

// refusing leaves every result to be cut; blanking condenses to nothing.
type refusing struct{}

func (refusing) Condense(context.Context, string, string, string) (string, bool) { return "x", false }

type blanking struct{}

func (blanking) Condense(context.Context, string, string, string) (string, bool) { return "", true }

// results are the contents of the tool messages.
func results(t *testing.T, g given) []string {
	t.Helper()
	var out []string
	for _, line := range wireOf(t, g) {
		var m wireMessage
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatal(err)
		}
		if m.Role == "tool" {
			var text string
			if err := json.Unmarshal(m.Content, &text); err != nil {
				t.Fatal(err)
			}
			out = append(out, text)
		}
	}
	return out
}

func TestLongResultsOfPreviousTurnsAreShortened(t *testing.T) {
	long := strings.Repeat("x", 100)
	failed := call("c3", "exec", history.Failed, long)
	failed.Arguments = `{"a":1}`
	h := talk(say("first"), reply("run", call("c1", "read_file", history.Done, long), failed),
		say("second"), reply("run", call("c2", "read_file", history.Done, long)))
	limit := func(n int, previous bool) *Config {
		return with(func(c *Config) { c.MaxToolResult = &ResultLimit{MaxChars: n, PreviousTurnsOnly: previous} })
	}
	cut := "xxxxxxxxxx… [truncated]"
	for _, c := range []struct {
		name   string
		config *Config
		digest Digest
		want   []string
	}{
		{"no limit", nil, counting{}, []string{long, "Error: " + long, long}},
		{"digest", limit(10, true), counting{}, []string{"[read_file: 100 chars]", `[exec{"a":1}: 107 chars]`, long}},
		{"digest, every turn", limit(10, false), counting{}, []string{"[read_file: 100 chars]", `[exec{"a":1}: 107 chars]`, "[read_file: 100 chars]"}},
		{"no digest", limit(10, true), nil, []string{cut, "Error: xxx… [truncated]", long}},
		{"digest declines", limit(10, false), refusing{}, []string{cut, "Error: xxx… [truncated]", cut}},
		{"digest answers nothing", limit(10, true), blanking{}, []string{"(no output)", "(no output)", long}},
		{"equal passes", limit(100, false), counting{}, []string{long, `[exec{"a":1}: 107 chars]`, long}},
		{"nothing passes", limit(0, true), nil, []string{"… [truncated]", "… [truncated]", long}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := results(t, given{history: h, config: c.config, hooks: Hooks{Digest: c.digest}})
			if strings.Join(got, "\n") != strings.Join(c.want, "\n") {
				t.Errorf("results\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

func TestAShortenedResultStandsWhereTheWholeOneDid(t *testing.T) {
	h := talk(say("first"), reply("run", call("c1", "read_file", history.Done, strings.Repeat("é", 12))), say("second"), reply("run", call("c2", "read_file", history.Done, strings.Repeat("é", 12))))
	cfg := with(func(c *Config) { c.MaxToolResult = &ResultLimit{MaxChars: 10, PreviousTurnsOnly: true} })
	const want = `
{"role":"user","content":"first"}
{"role":"assistant","content":"run","tool_calls":[{"id":"c1","type":"function","function":{"name":"read_file","arguments":"{}"}}]}
{"role":"tool","tool_call_id":"c1","content":"SHORT"}
{"role":"user","content":"second"}
{"role":"assistant","content":"run","tool_calls":[{"id":"c2","type":"function","function":{"name":"read_file","arguments":"{}"}}]}
{"role":"tool","tool_call_id":"c2","content":"éééééééééééé"}`
	check(t, given{history: h, config: cfg}, strings.Replace(want, "SHORT", "éééééééééé… [truncated]", 1))
	check(t, given{history: h, config: cfg, hooks: Hooks{Digest: counting{}}}, strings.Replace(want, "SHORT", "[read_file: 24 chars]", 1))
}

func TestWithoutAUserNothingIsOfAPreviousTurn(t *testing.T) {
	h := talk(reply("", call("c1", "x", history.Done, "long")), reply("", call("c2", "x", history.Done, "long")))
	got := results(t, given{history: h, config: with(func(c *Config) { c.MaxToolResult = &ResultLimit{MaxChars: 1, PreviousTurnsOnly: true} })})
	if strings.Join(got, " ") != "long long" {
		t.Errorf("results %q", got)
	}
}

func TestAPromptQueuedInMidTurnDoesNotShortenTheTurn(t *testing.T) {
	h := talk(say("one"), reply("", call("c1", "x", history.Done, "long")), say("also"), reply("", call("c2", "x", history.Done, "long")))
	for i := range h.Messages {
		h.Messages[i].Turn = 3
	}
	got := results(t, given{history: h, config: with(func(c *Config) { c.MaxToolResult = &ResultLimit{MaxChars: 1, PreviousTurnsOnly: true} })})
	if strings.Join(got, " ") != "long long" {
		t.Errorf("results %q", got)
	}
}

func TestACutNeverBreaksACharacter(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("x", 49) + "🦊", "eight éé letters", "👩‍👩‍👧 family", "a\r\nb\r\n", "\x1b[31mred\x1b[0m", "\xff", "a\xf0\x9f\xa6", "\u2028\ufffd",
	} {
		whole := strings.ToValidUTF8(text, "\ufffd")
		for n := range utf8.RuneCountInString(text) + 2 {
			got := results(t, given{
				history: talk(say("u"), reply("", call("c1", "x", history.Done, text))),
				config:  with(func(c *Config) { c.MaxToolResult = &ResultLimit{MaxChars: n} }),
			})[0]
			kept, was := strings.CutSuffix(got, "… [truncated]")
			if !utf8.ValidString(got) || utf8.RuneCountInString(kept) > n && was {
				t.Errorf("%q cut at %d: %q", text, n, got)
			}
			if was == (utf8.RuneCountInString(text) <= n) {
				t.Errorf("%q at %d: mark of a cut is %t", text, n, was)
			}
			if r := []rune(text); utf8.ValidString(text) && kept != string(r[:min(n, len(r))]) {
				t.Errorf("%q cut at %d: kept %q", text, n, kept)
			}
			if !was && got != whole && !strings.Contains(text, "\xff") && utf8.ValidString(text) {
				t.Errorf("%q at %d: %q", text, n, got)
			}
		}
	}
}

func TestEightTwoByteLettersFitALimitOfTen(t *testing.T) {
	got := results(t, given{
		history: talk(say("u"), reply("", call("c1", "x", history.Done, "éééééééé"))),
		config:  with(func(c *Config) { c.MaxToolResult = &ResultLimit{MaxChars: 10} }),
	})
	if got[0] != "éééééééé" {
		t.Errorf("result %q", got[0])
	}
}
