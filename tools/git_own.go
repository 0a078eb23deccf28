package tools

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/agent-lsp/agent-lsp/tools/proc"
)

// What follows is the server's own git: the commands that it runs without a person's
// approval. It never reads a repository's configuration, in which any of some thirty
// settings names a program: git gets a configuration written here, of settings that
// are known to run nothing. Its place is taken by GIT_COMMON_DIR, a directory of the
// server's own with links to the repository's data. A program that changes the
// repository meanwhile changes nothing of that. What runs is confined besides.

// ownGitSettings are further settings for the server's own git.
var ownGitSettings = []string{
	"-c", "core.hooksPath=" + os.DevNull, "-c", "submodule.recurse=false", "-c", "diff.submodule=short", "-c", "status.submoduleSummary=false",
	"-c", "gpg.program=false", "-c", "gpg.ssh.program=false", "-c", "gpg.x509.program=false", "-c", "credential.helper=",
}

// gitHarmless are names of settings that make git run nothing and look nowhere
// else: a section, a dot and the last part of the name.
var gitHarmless = []string{
	"core.repositoryformatversion", "core.filemode", "core.bare", "core.logallrefupdates", "core.ignorecase", "core.precomposeunicode", "core.symlinks",
	"core.autocrlf", "core.eol", "core.safecrlf", "core.quotepath", "core.abbrev", "core.longpaths", "core.protecthfs", "core.protectntfs",
	"core.sparsecheckout", "core.sparsecheckoutcone", "core.trustctime", "core.checkstat", "core.bigfilethreshold",
	"remote.url", "remote.fetch", "remote.pushurl", "remote.tagopt", "remote.prune", "branch.remote", "branch.merge", "branch.rebase", "branch.description",
	"user.name", "user.email", "user.signingkey", "commit.gpgsign", "tag.gpgsign", "init.defaultbranch", "pull.rebase", "pull.ff", "push.default", "push.autosetupremote",
	"submodule.url", "submodule.active", "gc.auto", "fetch.prune", "rerere.enabled", "color.ui",
	"extensions.objectformat", "extensions.refstorage", "extensions.preciousobjects", "index.sparse",
	"status.showuntrackedfiles", "status.renames", "diff.algorithm", "diff.renames", "diff.renamelimit", "diff.context", "diff.noprefix",
	"diff.mnemonicprefix", "log.date", "i18n.commitencoding", "i18n.logoutputencoding", "url.insteadof", "url.pushinsteadof",
}

// gitPersons are names of settings that count only where the person made them:
// they name files.
var gitPersons = []string{"core.excludesfile", "core.attributesfile", "mailmap.file"}

// gitDropped are harmless settings that the server's own git does without, since
// its output is no person's.
var gitDropped = []string{"color.ui"}

// setting is an entry of git's configuration.
type setting struct {
	name, value string
	hasValue    bool
	person      bool // of the person's own files, not of the repository's
}

// run runs git by itself: a subcommand with its arguments, in dir, a directory of
// the repository r. The result names the repository's own paths.
func (g repositories) run(ctx context.Context, r repository, dir string, argv []string, timeout time.Duration, keep int) (proc.Spec, proc.Result, error) {
	settings, unknown, err := g.settings(ctx, r)
	if err != nil {
		return proc.Spec{}, proc.Result{}, err
	}
	env := slices.Concat(ownGitEnv(g.exec.env()), []string{
		"GIT_DIR=" + r.dir, "GIT_WORK_TREE=" + r.top, "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
	})
	words := slices.Concat([]string{"git"}, gitSafe, ownGitSettings)
	mirror, err := mirrorRepository(r, settings)
	switch {
	case err == nil:
		env = append(env, "GIT_COMMON_DIR="+mirror)
	case unknown != "":
		return proc.Spec{}, proc.Result{}, fmt.Errorf("its git configuration sets %s, which may start programs, and no configuration can be put in its place: %w", unknown, err)
	default:
		for _, s := range settings {
			if s.person && s.hasValue {
				words = append(words, "-c", s.name+"="+s.value)
			}
		}
	}
	spec := proc.Spec{
		Argv: append(words, argv...), Dir: dir, Env: env, Timeout: timeout, KeepHead: keep, Policy: looking(),
	}
	res, err := proc.Run(ctx, spec)
	if mirror != "" {
		// A few subcommands name the common directory or what it lies in.
		own, real := []byte(filepath.Dir(mirror)), []byte(filepath.Dir(r.common))
		for _, o := range []*proc.Output{&res.Stdout, &res.Stderr} {
			o.Head, o.Tail = replaceBytes(o.Head, own, real), replaceBytes(o.Tail, own, real)
		}
	}
	return spec, res, err
}

func replaceBytes(b, old, by []byte) []byte {
	return []byte(strings.ReplaceAll(string(b), string(old), string(by)))
}

// ownGitEnv returns the environment of the server's own git: no variables of git's, no
// sockets, no prompts, no network.
func ownGitEnv(env []string) []string {
	out := make([]string, 0, len(env)+12)
	for _, kv := range env {
		if !strings.HasPrefix(kv, "GIT_") && !strings.HasPrefix(kv, "SSH_") && !strings.HasPrefix(kv, "GPG_") {
			out = append(out, kv)
		}
	}
	return append(out, "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none", "GIT_SSH_COMMAND=false",
		"GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=true", "SSH_ASKPASS=true", "GIT_EDITOR=true", "GIT_PAGER=cat", "TERM=dumb")
}

// settings reads the configuration of a repository and the person's, of which git
// runs nothing, and returns what of it is harmless. Unknown is a setting of the
// repository's that is not, "" when there is none.
func (g repositories) settings(ctx context.Context, r repository) (harmless []setting, unknown string, err error) {
	env := ownGitEnv(g.exec.env())
	for _, kv := range g.exec.env() {
		if strings.HasPrefix(kv, "GIT_CONFIG_GLOBAL=") || strings.HasPrefix(kv, "GIT_CONFIG_SYSTEM=") || strings.HasPrefix(kv, "GIT_CONFIG_NOSYSTEM=") {
			env = append(env, kv)
		}
	}
	env = append(env, "GIT_DIR="+r.dir, "GIT_COMMON_DIR="+r.common)
	res, err := proc.Run(ctx, proc.Spec{
		Argv: []string{"git", "config", "--list", "--show-scope", "-z"}, Dir: r.top, Env: env,
		Timeout: statusTimeout, KeepHead: 4 << 20, Policy: looking(),
	})
	if err != nil {
		return nil, "", err
	}
	fields := strings.Split(strings.TrimSuffix(string(res.Stdout.Bytes()), "\x00"), "\x00")
	if res.Stdout.Elided > 0 || res.OK() && len(fields)%2 != 0 {
		return nil, "", errors.New("its git configuration cannot be read whole")
	}
	if !res.OK() {
		return nil, "", fmt.Errorf("its git configuration cannot be read: %s", strings.TrimSpace(clip(ended(proc.Spec{Argv: []string{"git"}, Env: env}, res, g.exec.Output))))
	}
	for i := 0; i < len(fields); i += 2 {
		s := setting{person: fields[i] == "system" || fields[i] == "global"}
		s.name, s.value, s.hasValue = strings.Cut(fields[i+1], "\n")
		section, _, _ := strings.Cut(s.name, ".")
		plain := section + s.name[strings.LastIndexByte(s.name, '.'):]
		switch {
		case slices.Contains(gitDropped, plain):
		case slices.Contains(gitHarmless, plain), s.person && slices.Contains(gitPersons, plain):
			harmless = append(harmless, s)
		case !s.person && unknown == "":
			unknown = s.name
		}
	}
	return harmless, unknown, nil
}

// configText writes settings in the format of git's configuration files.
func configText(settings []setting) string {
	quote := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`).Replace
	var b strings.Builder
	for _, s := range settings {
		section, rest, _ := strings.Cut(s.name, ".")
		last := strings.LastIndexByte(rest, '.')
		b.WriteString("[" + section)
		if last >= 0 {
			b.WriteString(` "` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(rest[:last]) + `"`)
		}
		b.WriteString("]\n\t" + rest[last+1:])
		if s.hasValue {
			b.WriteString(` = "` + quote(s.value) + `"`)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// mirrored are the entries of a common directory that git reads and that name no
// program: its configuration and hooks are not among them.
var mirrored = []string{"HEAD", "objects", "refs", "packed-refs", "reftable", "logs", "info", "shallow", "worktrees"}

// mirrorRepository makes the directory that stands for a repository's common one and
// returns its path. It lies in the server's own cache, which no confined program can
// write to, one for each repository; what is there is used again.
func mirrorRepository(r repository, settings []setting) (string, error) {
	if runtime.GOOS == "windows" {
		return "", errors.New("links need a privilege on this system")
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(r.common))
	dir := filepath.Join(cache, "agent-lsp", "git", hex.EncodeToString(sum[:12]), filepath.Base(r.common))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	if info, err := os.Lstat(dir); err != nil {
		return "", err
	} else if info.Mode().Perm()&0o022 != 0 {
		return "", fmt.Errorf("others may write to %s", dir)
	}
	for _, name := range mirrored {
		target, link := filepath.Join(r.common, name), filepath.Join(dir, name)
		if have, err := os.Readlink(link); err == nil && have == target {
			continue
		}
		if err := os.Symlink(target, link); err != nil && !errors.Is(err, fs.ErrExist) {
			return "", err
		}
	}
	return dir, writeIfOther(filepath.Join(dir, "config"), configText(settings))
}

// writeIfOther writes a text to a file of the server's own, unless the file has it
// already. The file is replaced atomically.
func writeIfOther(name, text string) error {
	if have, err := os.ReadFile(name); err == nil && string(have) == text {
		return nil
	}
	f, err := os.CreateTemp(filepath.Dir(name), "new-")
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
