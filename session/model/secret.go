package model

import (
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"strings"
)

// minEncoded is the length from which a secret is looked for in other forms, too: those
// of a shorter one would be found in text that has nothing to do with it.
const minEncoded = 8

// SecretForms returns a secret and what it looks like where a server or a program wrote
// it in another way: escaped for an address, in another case, in hex, or in base64 of
// either alphabet, also within a longer text that was encoded as a whole.
func SecretForms(secret string) []string {
	forms := []string{secret}
	if len(secret) < minEncoded {
		return forms
	}
	add := func(form string) {
		if form != secret {
			forms = append(forms, form)
		}
	}
	add(url.QueryEscape(secret))
	add(url.PathEscape(secret))
	add(strings.ToLower(secret))
	add(strings.ToUpper(secret))
	add(hex.EncodeToString([]byte(secret)))
	add(strings.ToUpper(hex.EncodeToString([]byte(secret))))
	for _, alphabet := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		// Three bytes are four characters, so that what stands before a secret shifts it
		// in one of three ways. Only characters that are all of the secret's are certain.
		for before := range 3 {
			text := alphabet.EncodeToString(append(make([]byte, before), secret...))
			first, last := (before*8+5)/6, (before+len(secret))*8/6
			add(text[first:last])
		}
	}
	return forms
}
