package model_test

import (
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/session/model"
)

func TestASecretIsFoundInEachOfItsForms(t *testing.T) {
	const key = "Sk+weird/key 12?x"
	forms := model.SecretForms(key)
	hidden := func(text string) string {
		for _, f := range forms {
			text = strings.ReplaceAll(text, f, "#")
		}
		return text
	}
	for name, text := range map[string]string{
		"itself": key, "for a query": url.QueryEscape(key), "for a path": url.PathEscape(key),
		"in upper case": strings.ToUpper(key), "in lower case": strings.ToLower(key),
		"in hex": hex.EncodeToString([]byte(key)), "in upper hex": strings.ToUpper(hex.EncodeToString([]byte(key))),
	} {
		if got := hidden("<" + text + ">"); got != "<#>" {
			t.Errorf("%s: %s", name, got)
		}
	}
	for _, alphabet := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding} {
		for before := range 7 {
			encoded := alphabet.EncodeToString([]byte("prefix!"[:before] + key + " and more"))
			got := hidden(encoded)
			if !strings.Contains(got, "#") || len(got) > len(encoded)-len(key) {
				t.Errorf("after %d bytes %s is left of %s", before, got, encoded)
			}
		}
	}
	if got := model.SecretForms("short"); len(got) != 1 {
		t.Errorf("a short text has the forms %q", got)
	}
}
