package projection

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

func checkQuote(t *testing.T, s string) {
	t.Helper()
	want, _ := jsontext.AppendQuote(nil, s)
	if got := quote(nil, s); string(got) != string(want) {
		t.Fatalf("quote(%q) = %s, want %s", s, got, want)
	}
}

func TestQuoteIsTheShortestForm(t *testing.T) {
	for c := range 256 {
		for at := range 10 {
			checkQuote(t, strings.Repeat("a", at)+string([]byte{byte(c)})+strings.Repeat("b", 9-at))
			checkQuote(t, strings.Repeat("\x20", at)+string([]byte{byte(c), byte(c)})+strings.Repeat("\x7f", 9-at))
		}
	}
	alphabet := []string{"a", "\"", "\\", "\n", "\x00", "\x1f", " ", "!", "#", "[", "]", "~", "\x7f", "é", "漢", "🦊", "\xff", "\xf0\x9f", "\u2028", "\ufffd"}
	random := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		var b strings.Builder
		for range random.IntN(40) {
			b.WriteString(alphabet[random.IntN(len(alphabet))])
		}
		checkQuote(t, b.String())
	}
}

func FuzzQuoteIsTheShortestForm(f *testing.F) {
	f.Add("a\"b\\c\n\xff🦊")
	f.Fuzz(func(t *testing.T, s string) { checkQuote(t, s) })
}
