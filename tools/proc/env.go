package proc

import (
	"net/url"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// secretWords are the words of a variable's name, split at underscores, that
// make its value a secret.
var secretWords = []string{
	"APIKEY", "APIKEYS", "AUTH", "AUTHORIZATION", "COOKIE", "CREDENTIAL", "CREDENTIALS", "KEY", "KEYS",
	"PASS", "PASSPHRASE", "PASSWD", "PASSWORD", "PAT", "PRIVATE", "PWD", "SECRET", "SECRETS", "TOKEN", "TOKENS",
	"ASKPASS", "BEARER", "JWT", "DSN",
}

// secretEnds end a name's word that has its prefix written together with it, as
// PGPASSWORD or GHTOKEN.
var secretEnds = []string{"APIKEY", "PASSWORD", "PASSWD", "PASSPHRASE", "SECRET", "TOKEN", "CREDENTIALS"}

// harmless are names that the words would take and that programs need.
var harmless = []string{"PWD", "OLDPWD"}

// secretValue recognises the well-known forms of keys whatever the name.
var secretValue = regexp.MustCompile(`^(sk-[A-Za-z0-9_-]{16,}|gh[pousr]_[A-Za-z0-9]{16,}|github_pat_\w{16,}|glpat-[\w-]{16,}|xox[abprs]-[\w-]{10,}|(AKIA|ASIA)[A-Z0-9]{16}|AIza[\w-]{30,}|npm_[A-Za-z0-9]{20,}|eyJ[\w-]{10,}\.[\w-]+\.[\w-]+|(?s:-----BEGIN [A-Z ]*PRIVATE KEY-----.*))`)

// Scrub answers env without the variables that hold secrets: those whose name
// says so (API keys, tokens, passwords, credentials), those whose value has the
// form of a well-known key or is a URL with a password, those of the server's own
// (AGENT_LSP_...), the socket of an SSH agent, and those named. The order is
// kept; of a name given twice the last counts, as for programs. Env itself is not
// changed.
func Scrub(env []string, names ...string) []string {
	last := make(map[string]int, len(env))
	for i, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		last[fold(name)] = i
	}
	out := make([]string, 0, len(env))
	for i, kv := range env {
		name, value, ok := strings.Cut(kv, "=")
		if !ok || name == "" || last[fold(name)] != i {
			continue
		}
		named := slices.ContainsFunc(names, func(n string) bool { return fold(n) == fold(name) })
		if named || isSecret(name, value) {
			continue
		}
		out = append(out, kv)
	}
	return out
}

func isSecret(name, value string) bool {
	upper := strings.ToUpper(name)
	if slices.Contains(harmless, upper) {
		return false
	}
	if strings.HasPrefix(upper, "AGENT_LSP_") || upper == "SSH_AUTH_SOCK" {
		return true
	}
	for word := range strings.FieldsFuncSeq(upper, func(r rune) bool { return r == '_' || r == '-' || r == '.' }) {
		if slices.Contains(secretWords, word) {
			return true
		}
		for _, end := range secretEnds {
			if strings.HasSuffix(word, end) {
				return true
			}
		}
	}
	if secretValue.MatchString(value) {
		return true
	}
	if strings.Contains(value, "://") && strings.Contains(value, "@") {
		u, err := url.Parse(value)
		if err != nil {
			return true // it looks like a URL with credentials and cannot be judged
		}
		_, has := u.User.Password()
		return has
	}
	return false
}

// Keep puts variables of base back that Scrub took out of env because their names
// look like those of secrets. Those in secrets stay out.
func Keep(env, base, names, secrets []string) []string {
	for _, name := range names {
		if v, ok := Getenv(base, name); ok && !slices.Contains(secrets, name) {
			env = Setenv(env, name, v)
		}
	}
	return env
}

// Getenv answers the value of a variable in env, the last one when it is there
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

// Setenv answers env with a variable set, which replaces earlier ones of its name.
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

// fold makes names comparable as the system compares them.
func fold(name string) string {
	if runtime.GOOS == "windows" {
		return strings.ToUpper(name)
	}
	return name
}
