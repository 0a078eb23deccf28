package sandbox

import (
	"path/filepath"
	"slices"

	"github.com/agent-lsp/agent-lsp/tools/proc"
)

// secrets are places below the home directory that no program of a session reads:
// keys, passwords, what a browser and a shell remember, and what says where else
// they lead.
var secrets = []string{
	".ssh", ".aws", ".gnupg", ".netrc", "_netrc", ".npmrc", ".pypirc", ".git-credentials", ".cargo/credentials.toml", ".cargo/credentials",
	".m2/settings.xml", ".m2/settings-security.xml", ".gradle/gradle.properties", ".docker", ".kube", ".azure", ".oci", ".terraform.d/credentials.tfrc.json",
	".vault-token", ".pgpass", ".my.cnf", ".boto", ".s3cfg", ".password-store", ".local/share/keyrings", ".local/share/kwalletd", "Library/Keychains",
	".1password", ".bash_history", ".zsh_history", ".histfile", ".python_history", ".node_repl_history", ".psql_history", ".mysql_history", ".sqlite_history",
	".lesshst", ".viminfo", ".local/share/fish/fish_history", ".local/share/nvim/shada", ".local/state/nvim/shada",
	".mozilla", ".thunderbird", "snap/firefox", "snap/chromium", ".pki",
	"Library/Application Support/Google/Chrome", "Library/Application Support/Firefox", "Library/Cookies",
}

// configSecrets are those below the directory for settings.
var configSecrets = []string{
	"gh", "hub", "glab-cli", "gcloud", "agent-lsp", "op", "rclone", "doctl", "heroku", "netlify", "configstore",
	"google-chrome", "chromium", "BraveSoftware", "microsoft-edge", "vivaldi", "Code/User/globalStorage", "Bitwarden", "Signal", "Slack", "discord",
}

// hidden returns the secrets, with those that the person adds and without those that
// may be read.
func (s Settings) hidden(home string) []string {
	out := slices.Clone(s.State)
	if filepath.IsAbs(home) {
		for _, name := range secrets {
			out = append(out, filepath.Join(home, filepath.FromSlash(name)))
		}
	}
	settings, ok := proc.Getenv(s.Env, "XDG_CONFIG_HOME")
	if (!ok || !filepath.IsAbs(settings)) && filepath.IsAbs(home) {
		settings = filepath.Join(home, ".config")
	}
	if filepath.IsAbs(settings) {
		for _, name := range configSecrets {
			out = append(out, filepath.Join(settings, filepath.FromSlash(name)))
		}
	}
	read := expand(s.Read, home)
	out = slices.DeleteFunc(out, func(p string) bool { return slices.Contains(read, p) })
	return append(out, expand(s.DenyRead, home)...)
}
