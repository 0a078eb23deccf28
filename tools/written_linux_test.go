package tools

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// besides is what a file has beside its text and its name.
type besides struct {
	Mode       fs.FileMode
	Attributes map[string]string
}

func besidesOf(t *testing.T, name string) (b besides) {
	t.Helper()
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	b.Mode, b.Attributes = info.Mode(), map[string]string{}
	for _, a := range []string{"user.origin", "user.none"} {
		value := make([]byte, 100)
		if n, err := unix.Getxattr(name, a, value); err == nil {
			b.Attributes[a] = string(value[:n])
		}
	}
	return b
}

func TestAnEditKeepsWhatAFileHasBesidesItsText(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "a\n"})
	name := filepath.Join(w.dir, "a.txt")
	want0 := besides{0o640, map[string]string{"user.origin": "https://example.org\x00\xff", "user.none": ""}}
	for a, value := range want0.Attributes {
		if err := unix.Setxattr(name, a, []byte(value), 0); errors.Is(err, unix.ENOTSUP) {
			t.Skip("this disk has no extended attributes")
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(name, want0.Mode); err != nil {
		t.Fatal(err)
	}
	want(t, w.run(patchOp("a.txt", "@@\n-a\n+b\n")), Completed, "patched")
	if diff := cmp.Diff(want0, besidesOf(t, name)); diff != "" || w.get("a.txt") != "b\n" {
		t.Errorf("the file has %q, and beside it\n%s", w.get("a.txt"), diff)
	}
}

// TestAFileIsWrittenWhereAShellWritesIt has files of every mode. An ordinary user may
// not write some of them, though their directory lets them be replaced.
func TestAFileIsWrittenWhereAShellWritesIt(t *testing.T) {
	for _, mode := range []fs.FileMode{0o644, 0o600, 0o444, 0o400, 0o464, 0o646} {
		w := newWorld(t, map[string]string{"shell": "a\n", "a.txt": "a\n"})
		for _, name := range []string{"shell", "a.txt"} {
			if err := os.Chmod(filepath.Join(w.dir, name), mode); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.CommandContext(t.Context(), "sh", "-c", "echo b > shell")
		cmd.Dir = w.dir
		refused := cmd.Run() != nil
		out := w.run(patchOp("a.txt", "@@\n-a\n+b\n"))
		if refused {
			want(t, out, Failed, "a.txt was not changed", "read-only ("+mode.String()+")")
		} else {
			want(t, out, Completed, "patched")
		}
		if got, shell := w.get("a.txt"), w.get("shell"); got != shell {
			t.Errorf("of mode %s the file is %q, a shell makes it %q", mode, got, shell)
		}
	}
}

func TestOtherNamesOfAnEditedFileAreSaid(t *testing.T) {
	w := newWorld(t, map[string]string{"a.txt": "a\n", "alone.txt": "a\n"})
	if err := os.Link(filepath.Join(w.dir, "a.txt"), filepath.Join(w.dir, "b.txt")); err != nil {
		t.Fatal(err)
	}
	want(t, w.run(patchOp("a.txt", "@@\n-a\n+b\n")), Completed, "other names (hard links), which keep the old text")
	if a, b := w.get("a.txt"), w.get("b.txt"); a != "b\n" || b != "a\n" {
		t.Errorf("the files are %q and %q", a, b)
	}
	for _, diff := range []string{"@@\n-b\n+c\n"} {
		if out := w.run(patchOp("a.txt", diff)); strings.Contains(out.Text, "hard links") {
			t.Errorf("its only name: %s", out.Text)
		}
	}
	want(t, w.run(patchOp("alone.txt", "@@\n-a\n+b\n")), Completed, "patched")
}

// leftoverIn is set for the child that is killed while it writes.
const leftoverIn = "AGENT_LSP_TEST_LEFTOVER"

// In the child it writes a temporary file and says so.
func init() {
	leftover = func() bool {
		dir := os.Getenv(leftoverIn)
		if dir != "" {
			writeLeftover(dir)
		}
		return dir != ""
	}
}

func writeLeftover(dir string) {
	root, err := os.OpenRoot(dir)
	if err == nil {
		_, err = writeTemp(root, "half", nil)
	}
	fmt.Println(err)
	_, _ = bufio.NewReader(os.Stdin).ReadByte() // until it is killed
}

// TestWhatAKilledServerLeftIsRemoved kills a process between the writing of a temporary
// file and its renaming. While the process lives the file is not touched.
func TestWhatAKilledServerLeftIsRemoved(t *testing.T) {
	w := newWorld(t, map[string]string{
		"a.txt": "a\n", "d/e/b.txt": "b\n", ".gitignore": "out\n", "out/.agent-lsp-AAAAAAAAAAAA.tmp": "ignored",
		".agent-lsp-notes.tmp": "the user's", ".agent-lsp.yaml": "",
	})
	if err := os.Mkdir(filepath.Join(w.dir, ".agent-lsp-BBBBBBBBBBBB.tmp"), 0o755); err != nil {
		t.Fatal(err)
	}
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), leftoverIn+"="+filepath.Join(w.dir, "d", "e"))
	stdin, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stdin.Close() }()
	stdout, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil || line != "<nil>\n" {
		t.Fatalf("the child says %q, %v", line, err)
	}
	left, err := filepath.Glob(filepath.Join(w.dir, "d", "e", ".agent-lsp-*"))
	if err != nil || len(left) != 1 {
		t.Fatalf("the child left %q (%v)", left, err)
	}
	if err := os.Chtimes(left[0], time.Time{}, time.Now().Add(-leftoverAge)); err != nil {
		t.Fatal(err)
	}
	if removed, all := RemoveLeftovers(w.ws.Root(), nil); len(removed) != 0 || !all {
		t.Errorf("of a process that lives %q were removed (all: %t)", removed, all)
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait()
	removed, all := RemoveLeftovers(w.ws.Root(), nil)
	if len(removed) != 1 || !strings.HasPrefix(removed[0], "d/e/.agent-lsp-") || !all {
		t.Errorf("removed were %q (all: %t)", removed, all)
	}
	for _, kept := range []string{"a.txt", "d/e/b.txt", "out/.agent-lsp-AAAAAAAAAAAA.tmp", ".agent-lsp-notes.tmp", ".agent-lsp.yaml"} {
		if w.get(kept) == "<none>" {
			t.Errorf("%s is gone", kept)
		}
	}
	if left, err = filepath.Glob(filepath.Join(w.dir, "d", "e", ".agent-lsp-*")); err != nil || len(left) != 0 {
		t.Errorf("%q are left (%v)", left, err)
	}
	stop := make(chan struct{})
	close(stop)
	if _, all := RemoveLeftovers(w.ws.Root(), stop); all {
		t.Error("a search that was stopped says that it saw all")
	}
}
