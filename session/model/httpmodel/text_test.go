package httpmodel

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
)

func TestACharacterInTwoPiecesIsOne(t *testing.T) {
	for name, c := range map[string]struct {
		pieces []string // as JSON
		want   string
	}{
		"a pair in one piece":         {[]string{`"a\ud83d\ude00b"`}, "a😀b"},
		"a pair in two":               {[]string{`"a\ud83d"`, `"\ude00b"`}, "a😀b"},
		"a pair alone":                {[]string{`"\uD83D"`, `"\uDE00"`}, "😀"},
		"nothing between":             {[]string{`"\ud83d"`, `""`, `null`, `"\ude00"`}, "😀"},
		"two pairs":                   {[]string{`"\ud83d"`, `"\ude00\ud83d"`, `"\ude01"`}, "😀😁"},
		"bytes":                       {[]string{"\"gr\xc3\"", "\"\xb6\xc3\x9fe\""}, "größe"},
		"each byte":                   {[]string{"\"\xf0\"", "\"\x9f\"", "\"\x98\"", "\"\x80\""}, "😀"},
		"a lone high one":             {[]string{`"a\ud83d"`, `"b"`}, "a\ufffdb"},
		"a lone high one at the end":  {[]string{`"a\ud83d"`}, "a\ufffd"},
		"a lone low one":              {[]string{`"\ude00b"`}, "\ufffdb"},
		"the wrong way round":         {[]string{`"\ude00"`, `"\ud83d"`, `"."`}, "\ufffd\ufffd."},
		"a lone one within":           {[]string{`"a\ud83db"`}, "a\ufffdb"},
		"no escape":                   {[]string{`"\\ud83d"`, `"\\ude00"`}, `\ud83d\ude00`},
		"half a character at the end": {[]string{"\"a\xc3\""}, "a\ufffd"},
	} {
		t.Run(name, func(t *testing.T) {
			var w Words
			shown := ""
			for _, p := range c.pieces {
				var text Text
				if err := json.Unmarshal([]byte(p), &text, Lenient); err != nil {
					t.Fatal(err)
				}
				shown += w.Add(string(text))
			}
			if w.String() != c.want || !strings.HasPrefix(c.want, shown) {
				t.Errorf("%q, shown %q, want %q", w.String(), shown, c.want)
			}
		})
	}
}

func TestNumbersAreReadHoweverTheyAreWritten(t *testing.T) {
	for text, want := range map[string]Number{`7`: 7, `7.0`: 7, `7.9`: 7, `"7"`: 7, `" 7.5 "`: 7, `1e3`: 1000, `-1`: 0, `"x"`: 0, `null`: 0, `[]`: 0, `true`: 0, `1e300`: 0, `""`: 0} {
		var n Number
		if err := json.Unmarshal([]byte(text), &n, Lenient); err != nil || n != want {
			t.Errorf("%s: %d, %v, want %d", text, n, err, want)
		}
	}
}
