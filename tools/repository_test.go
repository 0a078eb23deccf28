package tools

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/workspace"
)

// TestAGitFileNeverWidensTheSandbox has .git lead to other places: it counts only
// where the other end says the same.
func TestAGitFileNeverWidensTheSandbox(t *testing.T) {
	needs(t, "git")
	posix(t)
	// The places below the directory that the workspace and the home lie in.
	const refused = "is not run here"
	for name, c := range map[string]struct {
		prepare string // shell, in the directory above; the workspace is w, a repository w/.g
		want    string // of the text of git status, or
		outer   string // what commands may write to besides; "" for nothing
	}{
		"to home":                         {prepare: `echo "gitdir: $PWD/home" > w/.git`, want: refused},
		"to a parent":                     {prepare: `echo "gitdir: .." > w/.git`, want: refused},
		"to the root":                     {prepare: `echo "gitdir: /" > w/.git`, want: refused},
		"to the workspace":                {prepare: `cp -r w/.g/. w; echo "gitdir: ." > w/.git; git config -f w/config core.worktree .`, want: refused},
		"to nothing":                      {prepare: `echo "gitdir: $PWD/none" > w/.git`, want: refused},
		"says nothing":                    {prepare: `echo hello > w/.git`, want: refused},
		"is empty":                        {prepare: `: > w/.git`, want: refused},
		"a pipe":                          {prepare: `mkfifo w/.git`, want: refused},
		"a link to home":                  {prepare: `ln -s ../home w/.git`, want: refused},
		"a link to nothing":               {prepare: `ln -s nothing w/.git`, want: refused},
		"a link to a pointer to home":     {prepare: `echo "gitdir: $PWD/home" > w/p; ln -s p w/.git`, want: refused},
		"another's repository":            {prepare: `git init -q other; echo "gitdir: $PWD/other/.git" > w/.git`, want: refused},
		"a link to another's":             {prepare: `git init -q other; ln -s ../other/.git w/.git`, want: refused},
		"another's linked work tree":      {prepare: linkedBy("other") + `; cp lw/.git w/.git`, want: refused},
		"another's submodule":             {prepare: submoduleOf("super") + `; echo "gitdir: $PWD/super/.git/modules/s" > w/.git`, want: refused},
		"home by a common directory":      {prepare: `mkdir -p w/x; cp -r w/.g/. w/x; echo "$PWD/home" > w/x/commondir; echo "$PWD/w/.git" > w/x/gitdir; echo "gitdir: x" > w/.git`, want: refused},
		"home below a worktrees":          {prepare: `mkdir -p home/worktrees; cp -r w/.g home/worktrees/n; cp -r w/.g/. home; echo "../.." > home/worktrees/n/commondir; echo "$PWD/w/.git" > home/worktrees/n/gitdir; echo "gitdir: $PWD/home/worktrees/n" > w/.git`, want: refused},
		"home in the .git itself":         {prepare: `cp -r w/.g w/.git; echo "$PWD/home" > w/.git/commondir`, want: refused},
		"home's repository by its parent": {prepare: `rm -rf w/.g; git init -q .`, want: "On branch"},

		"a linked work tree":   {prepare: linkedBy("r") + `; rm -rf w; mv lw w; echo "$PWD/w/.git" > r/.git/worktrees/lw/gitdir`, want: "On branch", outer: "r/.git"},
		"by relative paths":    {prepare: linkedBy("r") + `; rm -rf w; mv lw w; echo "../../../../w/.git" > r/.git/worktrees/lw/gitdir; echo "gitdir: ../r/.git/worktrees/lw" > w/.git`, want: "On branch", outer: "r/.git"},
		"a submodule":          {prepare: submoduleOf("super") + `; rm -rf w; ln -s super/s w`, want: "On branch", outer: "super/.git/modules/s"},
		"a separate directory": {prepare: `rm -rf w; git init -q --separate-git-dir=sep w; git config -f sep/config core.worktree ../w`, want: "On branch", outer: "sep"},
		"a plain repository":   {prepare: `cp -r w/.g w/.git`, want: "On branch"},
		"a folder of one":      {prepare: `git init -q big; rm -rf w; mkdir big/w; ln -s big/w w`, want: "On branch", outer: "big/.git"},
	} {
		t.Run(name, func(t *testing.T) {
			top := workspace.RealPath(t.TempDir())
			t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
			t.Setenv("HOME", filepath.Join(top, "home"))
			t.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(top))
			shell(t, top, `mkdir home w; git init -q w; mv w/.git w/.g; `+c.prepare)
			d, err := NewDisk(filepath.Join(top, "w"))
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			e, err := New(Config{Workspace: d})
			if err != nil {
				t.Fatal(err)
			}
			w := &world{Executor: e, t: t, dir: d.Dir()}
			got := w.run(gitOp("status"))
			if !strings.Contains(got.Text, c.want) {
				t.Errorf("git status: %s\nwant %q", got.Text, c.want)
			}
			if d := w.Decide(t.Context(), gitOp("commit", "-m", "x")); (d.Verdict == Deny) != (c.want == refused) {
				t.Errorf("git commit is decided as %+v", d)
			}
			want := ""
			if c.outer != "" {
				want = filepath.Join(top, c.outer)
			}
			if e.outer != want || want != "" && !slices.Contains(e.writable(), want) {
				t.Errorf("commands may write to %q besides, want %q", e.outer, want)
			}
			// What comes later changes nothing.
			shell(t, top, `rm -rf w/.git; echo "gitdir: $PWD/home" > w/.git`)
			if slices.Contains(e.writable(), filepath.Join(top, "home")) {
				t.Error("commands may write to home")
			}
		})
	}
}

// linkedBy is a script that makes lw a linked work tree of a repository.
func linkedBy(name string) string {
	return `git init -q ` + name + `; git -C ` + name + ` -c user.name=t -c user.email=t@example.org commit -q --allow-empty -m x; git -C ` + name + ` worktree add -q ../lw`
}

// submoduleOf is a script that makes s a submodule of a repository.
func submoduleOf(name string) string {
	return `git init -q sub; git -C sub -c user.name=t -c user.email=t@example.org commit -q --allow-empty -m x; git init -q ` + name + `; git -C ` + name + ` -c protocol.file.allow=always submodule add -q "$PWD/sub" s`
}

// TestWhatGitIgnoresIsKnownWithoutGit has a folder of a work tree with files that are
// tracked and not, and no git to run. Git says the same; only of an index of version 4
// it knows what is tracked.
func TestWhatGitIgnoresIsKnownWithoutGit(t *testing.T) {
	needs(t, "git")
	posix(t)
	for _, version := range []string{"2", "4"} {
		t.Run("index "+version, func(t *testing.T) {
			top := workspace.RealPath(t.TempDir())
			t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
			t.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(top))
			shell(t, top, `git init -q; mkdir -p w/out w/x/out w/sub; printf 'out/\n*.log\n!keep.log\n' > .gitignore; echo secret >> .git/info/exclude
				echo '/local' > w/.gitignore
				for f in w/out/a w/x/out/b w/a.log w/keep.log w/local w/sub/local w/secret w/plain w/tracked.log w/sub/tracked.log; do echo x > $f; done
				git add -f w/tracked.log w/plain; git update-index --index-version `+version)
			d, err := NewDisk(filepath.Join(top, "w"))
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			e, err := New(Config{Workspace: d, Exec: ExecConfig{Env: []string{"PATH=/nowhere", "GIT_CEILING_DIRECTORIES=" + filepath.Dir(top)}}})
			if err != nil {
				t.Fatal(err)
			}
			for name, want := range map[string]bool{
				"out/a": true, "x/out/b": true, "a.log": true, "keep.log": false, "local": true, "sub/local": false, "secret": true,
				"plain": false, "tracked.log": version == "4", "sub/tracked.log": true, "new": false, "out/new": true,
			} {
				if got := e.repos.ignores(name); got != want {
					t.Errorf("%s: ignored %t, want %t", name, got, want)
				}
			}
		})
	}
}
