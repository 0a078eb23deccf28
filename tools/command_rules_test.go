package tools

import "testing"

func execRules(lines ...string) (out []Rule) {
	for _, l := range lines {
		op := sh(l)
		if op.Git != nil {
			out = append(out, Rule{FamilyGit, op.Git.Argv})
		} else {
			out = append(out, Rule{FamilyExec, op.Exec.Argv})
		}
	}
	return out
}

// allowRules are rules that a person wrote, what they allow, and what asks all the
// same.
var allowRules = []struct {
	rules, allowed, asked []string
}{
	{[]string{"go test"}, []string{"go test ./x -run Y"}, []string{"go test -exec=./x ./...", "go test -toolexec ./x", "go test -o x"}},
	{[]string{"go"}, []string{"go test ./x", "go vet ./..."}, []string{"go test -exec ./x", "go vet -vettool=./x", "go env -w A=b", "go build -o /tmp/x", "go get -modfile=/tmp/x"}},
	{[]string{"npm test"}, []string{"npm test", "npm test -w a"}, []string{"npm test --script-shell=./x", "npm test --script-shell ./x", "npm test --node-options=x"}},
	{[]string{"npm"}, []string{"npm test", "npm ci"}, []string{"npm ci --script-shell ./x", "npm ci --userconfig=/tmp/x", "npm install --prefix=/tmp", "npm exec -c x", "npm run x --shell=./x"}},
	{[]string{"git log"}, []string{"git log", "git log -p"}, []string{"git log --output=x", "git log --ext-diff", "git -c core.pager=./x log", "git -c alias.log=!x log"}},
	{[]string{"GIT grep"}, []string{"git grep x"}, []string{"git grep --open-files-in-pager=./x y", "git grep -O./x y", "git grep -O y", "git --exec-path=. grep x"}},
	{[]string{"ls"}, []string{"ls", "ls -la src"}, []string{"/tmp/ls", "./ls"}},
	{[]string{"sort"}, []string{"sort words"}, []string{"sort -o x words", "sort --output=x", "sort -uo x", "sort --compress-program=./x", "sort --outp=x"}},
	{[]string{"tar cf"}, []string{"tar cf a.tar src"}, []string{"tar cf a --checkpoint=1 --checkpoint-action=exec=./x", "tar cf a --checkpoint-a=exec=./x", "tar cf a -F ./x", "tar cf a --to-command=./x", "tar cf a -I./x"}},
	{[]string{"make test"}, []string{"make test", "make test -j4"}, []string{"make test SHELL=./x", "make test -f /tmp/x", "make test -C /tmp", "make test --eval=x", "make test --file=/tmp/x", "make test --directory=/tmp"}},
	{[]string{"rg"}, []string{"rg -n x src"}, []string{"rg --pre ./x y", "rg --pre=./x y", "rg --hostname-bin=./x --config y"}},
	{[]string{"mytool check"}, []string{"mytool check a b"}, []string{"mytool check --config /tmp/x", "mytool check -c /tmp/x", "mytool check -o x", "mytool check --plugin=./x", "mytool check --post-exec ./x"}},
	{[]string{"python3 -m pytest"}, []string{"python3 -m pytest tests"}, []string{"python3 -m pytest -c /tmp/x", "python3 -c x", "python3 x.py"}},
	{[]string{"node scripts/a.js"}, []string{"node scripts/a.js x"}, []string{"node -e x", "node scripts/b.js", "node scripts/a.js --require ./x"}},
	{[]string{"python3", "python3 -c", "node -e", "perl -pe"}, nil, []string{"python3 -c x", "python3 x.py", "node -e x", "perl -pe x a"}},
	{[]string{"sh", "sh -c", "bash", "env", "xargs", "sudo", "env A=b", "sudo ls", "timeout 5", "npx", "find .", "eval"}, nil, []string{
		"sh -c rm·x", "sh x.sh", "bash -lc x", "env rm x", "env A=b rm x", "xargs rm", "sudo ls", "sudo ls /", "timeout 5 rm x", "npx evil", "find . -delete", "find . -exec rm {} +", "eval rm", "/bin/sh -c rm·x",
	}},
	{[]string{"cat readme $"}, []string{"cat readme"}, []string{"cat readme x", "cat", "cat readme $"}},
	// A text for a shell is what its commands are.
	{[]string{"go test", "go vet", "git log", "GIT status"}, []string{
		"sh -c go·test·./...", "bash -c go·vet·./...·&&·go·test·-run·Y", "sh -ec cd·sub;·go·test·2>&1", "sh -c go·test·||·echo·failed", "sh -c go·test·'./x'·>/dev/null", "bash -c git·status·|·go·vet", "sh -c if·go·vet;·then·go·test;·fi",
		"sh -c (go·vet;·go·test)", "sh -c git·log·-n·1", "bash -c set·-euo·pipefail;·go·test",
	}, []string{
		"sh -c go·test;·rm·x", "sh -c go·test·&&·curl·x", "sh -c go·test·$(rm·x)", "sh -c go·test·`rm·x`", "sh -c go·test·$X", "sh -c go·test·\"$X\"", "sh -c go·test·-exec·./x", "sh -c go·test·\"-e\"xec·./x", "sh -c go·test·\\-exec·./x",
		"sh -c go·test·>x", "sh -c go·test·>>~/.bashrc", "sh -c go·test·<x", "sh -c A=b·go·test", "sh -c GOFLAGS=-exec=./x·go·test", "sh -c export·PATH=.;·go·test", "sh -c go()·{·go·vet;·};·go·test", "sh -c alias·go=rm;·go·test",
		"sh -c cd·/tmp·&&·go·test", "sh -c cd·..;·go·test", "sh -c cd·$X;·go·test", "sh -c go·test·&", "sh -c go·test·|·sh", "sh -c go·test·|·tee·x", "sh -c go·test·{-exec,./x}", "sh -c go·test·*", "sh -c for·x·in·a;·do·go·test;·done",
		"sh -c go·test·'", "sh -c $X·test", "sh -c git·log·--output=x", "sh -c git·-c·a.b=c·log", "sh -c go·test·<(rm·x)", "sh -c eval·go·test", "sh -c exec·go·test", "sh -c command·go·test", "sh -c env·go·test",
		"sh -c ", "sh -c #", "sh -c echo·x", "sh -c cd·sub", "sh -x go·test", "fish -c go·test", "sh -c go·test a b", "/tmp/sh -c go·test", "sh -ic go·test", "sh --rcfile x -c go·test", "sh -c go·test·\\\n-exec·x", "sh -c [[·-v·a[$(rm·x)]·]]", "sh -c go·test·$((a[$(rm)]))", "sh -c go·test·~root",
	}},
}

func TestAllowRulesCoverNoOtherProgram(t *testing.T) {
	posix(t)
	for _, tt := range allowRules {
		w := newWorld(t, map[string]string{"a": "", "sub/a": ""}, func(c *Config) { c.Policy.Allow = execRules(tt.rules...) })
		initRepo(t, w)
		for _, c := range tt.allowed {
			if got := w.Decide(t.Context(), sh(c)); got.Verdict != Allow {
				t.Errorf("%q do not allow %s: %+v", tt.rules, c, got)
			}
		}
		for _, c := range tt.asked {
			if got := w.Decide(t.Context(), sh(c)); got.Verdict != Ask {
				t.Errorf("%q: %s has the verdict %d", tt.rules, c, got.Verdict)
			}
		}
	}
}

// denyRules are rules, commands that they deny however they are spelled, commands of
// which nobody can tell, and such as have nothing to do with them.
var denyRules = []struct {
	rules, denied, asked, allowed []string
}{
	{[]string{"rm"}, []string{
		"rm x", "/bin/rm x", "../../bin/rm x", "RM x", "rm.exe x", "sh -c rm·x", "sh -c true;·rm·x", "bash -lc rm·x", "bash -c 'r'm·x", "sh -c \\rm·x", "sh -c r\"m\"·x", "sh -c /bin/rm·x", "sh -c (rm·x)", "sh -c if·true;·then·rm·x;·fi",
		"sh -c echo·$(rm·x)", "sh -c f()·{·rm·x;·};·f", "sh -c sh·-c·'rm·x'", "sh -c A=b·rm·x", "sh -c x·|·rm·y", "sh -c rm·x·&", "bash -c cat·<(rm·x)", "sh -c eval·'rm·x'", "sh -c eval·rm·x", "sh -c exec·rm·x", "sh -c command·rm·x",
		"sh -c trap·'rm·x'·EXIT", "sh -c cat·<<E\n$(rm·x)\nE", "fish -c rm·x", "cmd /c rm·x", "cmd /c rm x", "zsh -c rm·x",
		"env rm x", "env A=b rm x", "env -i rm x", "env -S rm·x", "env -Srm·x", "env --split-string=rm·x", "/usr/bin/env rm x", "env -u A env rm x", "nice rm x", "nice -n 5 rm x", "nohup rm x", "timeout 5 rm x", "timeout -s KILL 5 rm x", "time rm x",
		"xargs rm", "xargs -n1 rm -f", "sudo rm x", "sudo -u a rm x", "doas rm x", "su -c rm·x", "setsid rm x", "stdbuf -oL rm x", "busybox rm x", "watch rm·x", "find . -exec rm {} +", "find . -execdir /bin/rm {} ;", "xargs sh -c rm·x", "env bash -c rm·x",
		"npx rm x", "flock l rm x", "flock l -c rm·x", "script -c rm·x", "strace rm x", "xargs -I{} env rm {}", "command rm x", "exec rm x", "parallel rm ::: a",
		"python3 -c import·os;os.system('rm·x')", "python3 -c import·subprocess;subprocess.run(['rm','x'])", "python3.12 -c os.system(\"/bin/rm·x\")", "python -Ic os.system('rm·x')", "node -e child.execSync('rm·x')", "node --eval=child.execSync('rm·x')", "perl -e system('rm·x')", "perl -we exec('rm·x')", "ruby -e `rm·x`",
		"php -r system('rm·x');", "awk BEGIN{system(\"rm·x\")}", "sed 1e·rm·x a", "lua -e os.execute('rm·x')", "env python3 -c os.system('rm·x')", "sh -c python3·-c·'os.system(\"rm·x\")'", "deno eval Deno.run('rm')",
		"tar cf a b --checkpoint-action=exec=rm·x", "go test -exec rm ./...", "git -c alias.x=!rm·y x", "git -c core.pager=rm log", "vim -c !rm·x",
	}, []string{
		"sh -c $X·x", "sh -c `echo·rm`·x", "sh -c r$A·x", "sh -c r?·x", "sh -c 'rm", "sh -c if", "sh -c echo·rm·x·|·sh", "sh -c sh·<<E\nrm·x\nE", "sh", "bash -s", "bash", "sh -c eval·$X", "sh -c eval·\"$X\"", "python3", "python3 -", "python3 -c x()", "node -e x", "perl -e x",
		"env sh", "xargs sh", "sh -c $(x)", "sh -c {rm,x}", "sh -c bash·$X", "xargs -I{} {} x",
	}, []string{
		"ls rm", "cat rm", "sh -c ls·rm", "sh -c echo·$X", "env ls", "rmdir x", "sh -c rmdir·x", "python3 x.py", "python3 -m pytest", "node x.js", "sh build.sh", "xargs ls", "make rm", "go test ./...", "sh -c ls·*·>x", "git status", "git log",
	}},
	{[]string{"git push"}, []string{
		"git push", "/usr/bin/git push", "git -C a push", "git --no-pager push", "sh -c git·push", "sh -c git·-C·a·push", "env git push", "GIT push origin", "sh -c cd·a·&&·git·push·-f", "python3 -c os.system('git·push')",
	}, []string{"sh -c git·$X", "sh -c $X·push"}, []string{"git log", "sh -c git·log", "GIT status", "sh -c echo·git·push"}},
	{[]string{"GIT push"}, []string{"git push", "/usr/bin/git push", "git -c a=b push", "GIT push", "sh -c git·push", "env git push", "sh -c git·--git-dir·x·push"}, nil, []string{"git log", "sh -c git·pull"}},
	{[]string{"npm publish"}, []string{"npm publish", "npm --silent publish", "npm --otp 1 publish", "sh -c npm·publish", "env npm publish"}, []string{"sh -c npm·$X"}, []string{"npm run publish", "npm test", "pnpm publish"}},
	{[]string{"kubectl delete"}, []string{"kubectl -n prod delete pod", "kubectl --namespace prod delete x", "kubectl delete"}, nil, []string{"npm test"}},
	{[]string{"/opt/tool"}, []string{"/opt/tool", "sh -c /opt/tool·x"}, nil, []string{"tool"}},
}

// TestDenyRulesAreNotWalkedAround has everything else run unasked.
func TestDenyRulesAreNotWalkedAround(t *testing.T) {
	posix(t)
	for _, tt := range denyRules {
		w := newWorld(t, map[string]string{"a": ""}, func(c *Config) { c.Policy = Policy{Mode: ModeAll, Deny: execRules(tt.rules...)} })
		initRepo(t, w)
		for verdict, commands := range map[Verdict][]string{Deny: tt.denied, Ask: tt.asked, Allow: tt.allowed} {
			for _, c := range commands {
				if got := w.Decide(t.Context(), sh(c)); got.Verdict != verdict {
					t.Errorf("%q: %s has the verdict %d, want %d: %s", tt.rules, c, got.Verdict, verdict, got.Reason)
				}
			}
		}
	}
	w := newWorld(t, nil, func(c *Config) { c.Policy = Policy{Mode: ModeAll} })
	for _, c := range denyRules[0].asked {
		if got := w.Decide(t.Context(), sh(c)); got.Verdict != Allow {
			t.Errorf("without a rule: %s has the verdict %d", c, got.Verdict)
		}
	}
}
