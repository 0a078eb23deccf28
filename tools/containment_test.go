//go:build unix

package tools

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/core/abi"
	"golang.org/x/sys/unix"
)

// outsider makes a directory beside the workspace that must not be reached, and
// links to it.
func outsider(t *testing.T, w *world) string {
	t.Helper()
	out := w.dir + "-secret"
	if err := os.MkdirAll(filepath.Join(out, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(out, "k"), []byte("secret\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{
		"rel-dir": "../" + filepath.Base(out), "abs-dir": out, "rel-file": "../" + filepath.Base(out) + "/k", "abs-file": out + "/k",
		"up": "..", "dangling": "../" + filepath.Base(out) + "/new", "loop": "loop", "to-link": "rel-dir", "dev": "/dev/zero", "proc": "/proc/self",
	} {
		if err := os.Symlink(target, filepath.Join(w.dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// tree returns all files below a directory with their texts.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		b.WriteString(p + " " + d.Type().String() + "\n")
		if d.Type().IsRegular() {
			data, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			b.Write(data)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestNoCallLeavesTheRoot(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "a\n", "d/b.txt": "b\n"})
	out := outsider(t, w)
	before, inside := tree(t, out), tree(t, w.dir)
	diff := "@@ -1 +1 @@\n-secret\n+x\n"
	for _, p := range []string{
		out + "/k", w.dir + "/../" + filepath.Base(out) + "/k", "../" + filepath.Base(out) + "/k", "..", "../", "d/../../" + filepath.Base(out) + "/k",
		"rel-dir/k", "abs-dir/k", "rel-file", "abs-file", "up/" + filepath.Base(out) + "/k", "dangling", "loop", "to-link/k", "rel-dir/sub/new",
		"dev", "proc/environ", "proc/cwd/x", "proc/root" + "/etc/passwd", "/etc/passwd", "/dev/zero", "/proc/self/environ", "a\x00b", "a\nb", "d/\x1b[2J",
	} {
		t.Run(strings.ReplaceAll(p, w.dir, "W"), func(t *testing.T) {
			for kind, op := range map[string]Op{
				"read": readOp(p), "write": writeOp(p, "x\n"), "patch": patchOp(p, diff), "patch that creates": patchOp(p, "@@ -0,0 +1 @@\n+x\n"),
				"patch that adds": patchOp(p, "*** Begin Patch\n*** Add File: "+p+"\n+x\n*** End Patch"),
				"exec":            {Exec: &abi.Exec{Argv: []string{"sh", "-c", "echo ran"}, Cwd: &p}}, "git": gitOp("-C", p, "status"),
			} {
				got := w.run(op)
				if got.State != Failed {
					t.Errorf("%s is %s: %s", kind, got.State, got.Text)
				}
				if strings.Contains(got.Text, "secret\n") || strings.Contains(got.Text, "root:") || strings.Contains(got.Text, "ran") {
					t.Errorf("%s shows what is outside: %s", kind, got.Text)
				}
				if d := w.Decide(t.Context(), op); d.Verdict == Allow && kind == "exec" {
					t.Errorf("%s is allowed: %+v", kind, d)
				}
			}
		})
	}
	if got := tree(t, out); got != before {
		t.Errorf("outside is now\n%s\nwas\n%s", got, before)
	}
	if got := tree(t, w.dir); got != inside {
		t.Errorf("inside is now\n%s\nwas\n%s", got, inside)
	}
}

func TestLinksThatStayInsideAreFollowed(t *testing.T) {
	w := newWorld(t, map[string]string{"real/a.txt": "a\n"})
	for link, target := range map[string]string{"rel": "real", "abs": filepath.Join(w.dir, "real"), "file": "real/a.txt"} {
		if err := os.Symlink(target, filepath.Join(w.dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	for i, p := range []string{"rel/a.txt", "abs/a.txt", "file", "./real//a.txt", "rel/../real/a.txt"} {
		old, now := string(rune('a'+i)), string(rune('b'+i))
		want(t, w.run(readOp(p)), Completed, old+"\n")
		got := w.run(writeOp(p, now+"\n"))
		want(t, got, Completed, "wrote real/a.txt")
		if w.get("real/a.txt") != now+"\n" {
			t.Errorf("%s did not reach the file", p)
		}
	}
	if info, err := os.Lstat(filepath.Join(w.dir, "file")); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v, %v", info, err)
	}
	want(t, w.run(readOp(".")), Completed, "abs/\nfile\nreal/\nrel/")
}

func TestARootGivenThroughALinkIsOneRoot(t *testing.T) {
	real := filepath.Join(t.TempDir(), "real")
	link := filepath.Join(t.TempDir(), "l")
	if err := os.Mkdir(real, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(real, "a"), []byte("text\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	d, err := NewDisk(link)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	e, err := New(Config{Workspace: d})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{"a", link + "/a", real + "/a", real + "/./a"} {
		want(t, e.Run(t.Context(), readOp(p), ""), Completed, "text\n")
	}
	if got := e.Seen(); len(got) != 1 || got["a"] == "" {
		t.Errorf("the three names are %v", got)
	}
}

func TestSpecialFilesAreRefusedWithoutWaiting(t *testing.T) {
	w := newWorld(t, nil)
	if err := unix.Mkfifo(filepath.Join(w.dir, "pipe"), 0o666); err != nil {
		t.Fatal(err)
	}
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	t.Chdir(w.dir)
	if err := unix.Bind(fd, &unix.SockaddrUnix{Name: "socket"}); err != nil {
		t.Fatal(err)
	}
	kinds := map[string]string{"pipe": "a named pipe", "socket": "a socket"}
	if unix.Mknod(filepath.Join(w.dir, "zero"), unix.S_IFCHR|0o666, int(unix.Mkdev(1, 5))) == nil { // which only root may
		kinds["zero"] = "a device"
	}
	for p, kind := range kinds {
		want(t, w.run(readOp(p)), Failed, kind)
		want(t, w.run(writeOp(p, "x")), Failed, kind)
		want(t, w.run(patchOp(p, "@@ -1 +1 @@\n-a\n+b\n")), Failed, kind)
		if err := WriteFile(w.ws.Root(), Edit{Path: p, After: "x"}); err == nil {
			t.Errorf("%s was written to", p)
		}
	}
	w.put("dir/x", "")
	want(t, w.run(writeOp("dir", "x")), Failed, "a directory")
	want(t, w.run(writeOp("dir/", "x")), Failed, "a directory")
	want(t, w.run(readOp("dir/x/y")), Failed, "dir/x/y")
}

func TestGitsOwnFilesAndTheAgentsAreNeverWritten(t *testing.T) {
	w := newWorld(t, map[string]string{".git/hooks/x.sample": "old\n", ".git/config": "old\n", "state/db": "old\n"}, func(c *Config) {
		c.State = []string{filepath.Join(c.Workspace.Dir(), "state")}
	})
	if err := os.Symlink(".git", filepath.Join(w.dir, "innocent")); err != nil {
		t.Fatal(err)
	}
	before := tree(t, w.dir)
	for _, p := range []string{
		".git/hooks/pre-commit", ".git/config", ".GIT/config", ".Git/hooks/post-checkout", ".git./config", ".git /config", ".g\u200cit/config",
		"git~1/config", "GIT~1/config", ".git::$INDEX_ALLOCATION/config", "sub/.git/hooks/x", "sub/.git", "innocent/config", "innocent/hooks/y", "d/../.git/config",
		filepath.Join(w.dir, ".git/config"), "state/db", "state/new",
		".agent-lsp/x", ".Agent-LSP/x", ".agent-lsp./x", ".agent-lsp /x", ".agent-lsp::$DATA/x", "sub/.AGENT-LSP/y", ".agent\u200c-lsp/x",
	} {
		for _, op := range []Op{writeOp(p, "x\n"), patchOp(p, "@@ -0,0 +1 @@\n+x\n"), patchOp(p, "@@ -1 +1 @@\n-old\n+x\n")} {
			want(t, w.run(op), Failed, "never written to")
			if d := w.Decide(t.Context(), op); d.Verdict != Deny || d.Reason == "" {
				t.Errorf("%s: the decision is %+v", p, d)
			}
		}
	}
	if got := tree(t, w.dir); got != before {
		t.Errorf("the tree is now\n%s\nwas\n%s", got, before)
	}
	want(t, w.run(readOp(".git/config")), Completed, "old\n")
}

// TestADirectorySwappedForALinkIsNotFollowed writes while another goroutine swaps
// a directory for a link that leads out. AGENT_LSP_TEST_STRESS=1 writes 5,000 times.
func TestADirectorySwappedForALinkIsNotFollowed(t *testing.T) {
	writes := 300
	if os.Getenv("AGENT_LSP_TEST_STRESS") != "" {
		writes = 5000
	}
	w := newWorld(t, map[string]string{"d/f": "0\n", "d/same": "0\n"})
	out := t.TempDir()
	if err := os.WriteFile(filepath.Join(out, "same"), []byte("0\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(filepath.Join(out, "same"))
	if err != nil {
		t.Fatal(err)
	}
	d, away, link := filepath.Join(w.dir, "d"), filepath.Join(w.dir, "away"), filepath.Join(w.dir, "link")
	if err := os.Symlink(out, link); err != nil {
		t.Fatal(err)
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
			}
			for _, mv := range [][2]string{{d, away}, {link, d}, {d, link}, {away, d}} {
				for err := os.Rename(mv[0], mv[1]); err != nil; err = os.Rename(mv[0], mv[1]) {
					// A write made the directory anew while it was away.
					if mv[1] != d {
						t.Error(err)
						return
					}
					_ = os.RemoveAll(d) // a write may fill it at the same time: once more
				}
			}
		}
	}()
	landed := 0
	for i := 0; i < writes || landed < writes/10 && i < 100*writes; i++ {
		text := strings.Repeat("x", i%7) + "\n"
		done := false
		switch i % 4 {
		case 0:
			w.run(readOp("d/f"))
			done = w.run(writeOp("d/f", text)).State == Completed
		case 1:
			done = w.run(writeOp("d/new/"+strings.Repeat("n", 1+i%5), text)).State == Completed
		case 2: // without the look before that the tools take
			done = WriteFile(w.ws.Root(), Edit{Path: fmt.Sprintf("d/%d", i), Create: true, After: text}) == nil
		case 3:
			// The file outside holds the same: following the link would write it.
			done = WriteFile(w.ws.Root(), Edit{Path: "d/same", Before: "0\n", After: "0\n"}) == nil
		}
		if done {
			landed++
		}
	}
	close(stop)
	<-stopped
	if left, err := os.ReadDir(out); err != nil || len(left) != 1 {
		t.Errorf("outside are %v, %v", left, err)
	}
	if after, err := os.Stat(filepath.Join(out, "same")); err != nil || !os.SameFile(before, after) || !after.ModTime().Equal(before.ModTime()) {
		t.Errorf("the file outside was written: %v", err)
	}
	for _, line := range strings.Split(tree(t, w.dir), "\n") {
		if strings.Contains(line, ".tmp") {
			t.Errorf("a temporary file is left: %s", line)
		}
	}
	if landed == 0 {
		t.Error("not one write landed: the race was not run")
	}
}

func TestModesAreKept(t *testing.T) {
	w := newWorld(t, map[string]string{"run.sh": "a\n", "secret": "a\n", "group": "a\n"})
	modes := map[string]os.FileMode{"run.sh": 0o755, "secret": 0o600, "group": 0o664 | os.ModeSetgid}
	for name, m := range modes {
		if err := os.Chmod(filepath.Join(w.dir, name), m); err != nil {
			t.Fatal(err)
		}
		want(t, w.run(patchOp(name, "@@ -1 +1 @@\n-a\n+b\n")), Completed, "patched")
		info, err := os.Stat(filepath.Join(w.dir, name))
		if err != nil || info.Mode() != m {
			t.Errorf("%s has mode %v, %v; want %v", name, info.Mode(), err, m)
		}
	}
	// In a directory that gives its group to what is made in it, a file of another
	// group stays that; so does a file of another owner. Only root can make them.
	if os.Geteuid() == 0 {
		w.put("set/f", "a\n")
		dir, f := filepath.Join(w.dir, "set"), filepath.Join(w.dir, "set/f")
		if err := errors.Join(os.Chown(dir, 0, 4321), os.Chmod(dir, 0o775|os.ModeSetgid), os.Chown(f, 1234, 5678), os.Chmod(f, 0o640)); err != nil {
			t.Fatal(err)
		}
		want(t, w.run(patchOp("set/f", "@@ -1 +1 @@\n-a\n+b\n")), Completed, "patched")
		var st unix.Stat_t
		if err := unix.Stat(f, &st); err != nil || st.Uid != 1234 || st.Gid != 5678 || st.Mode&0o7777 != 0o640 {
			t.Errorf("the file is of %d:%d with mode %o, %v; want 1234:5678 with 640", st.Uid, st.Gid, st.Mode&0o7777, err)
		}
		want(t, w.run(writeOp("set/new", "x\n")), Completed)
		if err := unix.Stat(filepath.Join(dir, "new"), &st); err != nil || st.Gid != 4321 {
			t.Errorf("a new file is of the group %d, %v; want its directory's", st.Gid, err)
		}
	}
	old := unix.Umask(0o027)
	defer unix.Umask(old)
	want(t, w.run(writeOp("d/new", "x\n")), Completed)
	if info, err := os.Stat(filepath.Join(w.dir, "d/new")); err != nil || info.Mode() != 0o640 {
		t.Errorf("a new file has mode %v, %v; want that of the umask", info.Mode(), err)
	}
}
