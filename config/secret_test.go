package config

import (
	"strings"
	"testing"
)

// TestSettingsAreShownWithoutSecrets has addresses and lists of keywords, also ones
// that no parser takes.
func TestSettingsAreShownWithoutSecrets(t *testing.T) {
	for in, want := range map[string]string{
		"postgres://u:hunter2@h/d":                                     "postgres://u:xxxxx@h/d",
		"postgres://h/d?password=hunter2&sslmode=require":              "postgres://h/d?password=xxxxx&sslmode=require",
		"postgres://h/d?sslkey=k&sslpassword=hunter2":                  "postgres://h/d?sslkey=xxxxx&sslpassword=xxxxx",
		"postgres://u:hunter2 hunter2@h/d?sslpassword=hunter2 hunter2": "postgres://xxxxx@h/d?sslpassword=xxxxx",
		"postgres://u:hunter2/hunter2@h:x/d":                           "postgres://xxxxx@h:x/d",
		"https://h/v1?api_key=hunter2":                                 "https://h/v1?api_key=xxxxx",
		"https://h/v1?version=1&API-KEY=hunter2#x":                     "https://h/v1?version=1&API-KEY=xxxxx#x",
		"https://h/v1?access_token=hunter2&code=1":                     "https://h/v1?access_token=xxxxx&code=1",
		"https://h/v1?sig=hunter2 and more":                            "https://h/v1?sig=xxxxx",
		"https://user@h/v1":                                            "https://user@h/v1",
		"https://h/@scope/x":                                           "https://h/@scope/x",
		"host=h password=hunter2 dbname=d":                             "host=h password=xxxxx dbname=d",
		"host=h password = 'hunter2 it\\'s hunter2' user=u":            "host=h password = xxxxx user=u",
		"password=hunter2":                                             "password=xxxxx",
		"host=h sslpassword=hunter2":                                   "host=h sslpassword=xxxxx",
		"sqlite:a/b.db":                                                "sqlite:a/b.db",
		"Say which key = value you mean.":                              "Say which key = value you mean.",
	} {
		if got := withoutPassword(in); got != want || strings.Contains(got, "hunter2") {
			t.Errorf("%q is shown as %q, want %q", in, got, want)
		}
	}
}
