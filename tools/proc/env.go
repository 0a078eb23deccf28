package proc

import (
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// secretWords are the words of a variable's name, split at underscores, that
// make its value a secret although a prefix of the table passes it.
var secretWords = []string{
	"APIKEY", "APIKEYS", "AUTH", "AUTHORIZATION", "COOKIE", "CREDENTIAL", "CREDENTIALS", "KEY", "KEYS",
	"PASS", "PASSPHRASE", "PASSWD", "PASSWORD", "PAT", "PRIVATE", "PWD", "SECRET", "SECRETS", "TOKEN", "TOKENS",
	"ASKPASS", "BEARER", "JWT", "DSN",
}

// secretEnds end a name's word that has its prefix written together with it, as
// PGPASSWORD or GHTOKEN.
var secretEnds = []string{"APIKEY", "PASSWORD", "PASSWD", "PASSPHRASE", "SECRET", "TOKEN", "CREDENTIALS"}

// secretValue recognises the well-known forms of keys whatever the name.
var secretValue = regexp.MustCompile(`^(sk-[A-Za-z0-9_-]{16,}|gh[pousr]_[A-Za-z0-9]{16,}|github_pat_\w{16,}|glpat-[\w-]{16,}|xox[abprs]-[\w-]{10,}|(AKIA|ASIA)[A-Z0-9]{16}|AIza[\w-]{30,}|npm_[A-Za-z0-9]{20,}|eyJ[\w-]{10,}\.[\w-]+\.[\w-]+|(?s:-----BEGIN [A-Z ]*PRIVATE KEY-----.*))`)

// Environment returns what of env a child gets: the variables of the table of
// passed ones and those that keep names, but none of never, whatever keep says. What
// the table passes has no value in the form of a well-known key; a URL in it loses
// the user and password in front of its host. The order stays; of a name given
// twice the last counts, as for programs. Env itself is not changed.
func Environment(env, keep, never []string) []string {
	last := make(map[string]int, len(env))
	for i, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		last[fold(name)] = i
	}
	named := func(list []string, name string) bool {
		return slices.ContainsFunc(list, func(n string) bool { return fold(n) == fold(name) })
	}
	out := make([]string, 0, len(env))
	for i, kv := range env {
		name, value, ok := strings.Cut(kv, "=")
		switch {
		case !ok || name == "" || last[fold(name)] != i || named(never, name):
		case named(keep, name):
			out = append(out, kv)
		case isPassed(name) && !secretValue.MatchString(value):
			out = append(out, name+"="+userinfo.ReplaceAllString(value, "://"))
		}
	}
	return out
}

// userinfo is what stands in front of the host of a URL.
var userinfo = regexp.MustCompile(`://[^/?#\s,|]*@`)

// isSecret reports whether a name says that its value is a secret.
func isSecret(name string) bool {
	for word := range strings.FieldsFuncSeq(strings.ToUpper(name), func(r rune) bool { return r == '_' || r == '-' || r == '.' }) {
		if slices.Contains(secretWords, word) {
			return true
		}
		for _, end := range secretEnds {
			if strings.HasSuffix(word, end) {
				return true
			}
		}
	}
	return false
}

// Getenv returns the value of a variable in env, the last one when it is there
// more than once.
func Getenv(env []string, name string) (string, bool) {
	for _, kv := range slices.Backward(env) {
		n, v, ok := strings.Cut(kv, "=")
		if ok && fold(n) == fold(name) {
			return v, true
		}
	}
	return "", false
}

// Setenv returns env with a variable set, in place of earlier ones of its name.
func Setenv(env []string, name, value string) []string {
	out := make([]string, 0, len(env)+1)
	for _, kv := range env {
		if n, _, ok := strings.Cut(kv, "="); ok && fold(n) == fold(name) {
			continue
		}
		out = append(out, kv)
	}
	return append(out, name+"="+value)
}

// fold returns a name in the form in which the system compares names.
func fold(name string) string {
	if runtime.GOOS == "windows" {
		return strings.ToUpper(name)
	}
	return name
}
