package workspace

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// plainWord is what YAML reads as a text without quotes, also in a list.
var plainWord = regexp.MustCompile(`^([A-Za-z_./$][A-Za-z0-9_./+=@$-]*|-{1,2}[A-Za-z][A-Za-z0-9_./+=@-]*)$`)

// notTexts are words that some readers of YAML take for something else than a text.
var notTexts = []string{"true", "false", "null", "yes", "no", "on", "off", "y", "n", ".", ".inf", ".nan"}

// YAMLList spells texts as a list in a line of YAML, as rules of the configuration are
// written: [go, test, "a b"]. Quotes stand only where they must, and characters that
// cannot be seen are written by number.
func YAMLList(texts []string) string {
	words := make([]string, len(texts))
	for i, w := range texts {
		words[i] = w
		if !plainWord.MatchString(w) || slices.Contains(notTexts, strings.ToLower(w)) {
			words[i] = strconv.QuoteToASCII(w)
		}
	}
	return "[" + strings.Join(words, ", ") + "]"
}
