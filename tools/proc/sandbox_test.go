package proc

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestSandboxConfinesWriting(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs a POSIX shell")
	}
	inside, outside := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "old"), []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	spec := Spec{
		Argv: []string{"sh", "-c", `
			mkdir -p in/deep && echo x >in/deep/f && mv in/deep/f in/g && ln -s g in/l && echo inside
			cat ` + outside + `/old; echo
			(echo x >` + outside + `/new) 2>/dev/null || echo no new
			(echo x >>` + outside + `/old) 2>/dev/null || echo no append
			rm -f ` + outside + `/old 2>/dev/null || echo no removal
			mkdir ` + outside + `/dir 2>/dev/null || echo no directory
			(sh -c 'echo x >` + outside + `/new') 2>/dev/null || echo not below either
			echo x >/dev/null && echo null`},
		Dir:    inside,
		Policy: Confined(Sandbox{Writable: []string{inside, "/dev/null", filepath.Join(inside, "missing")}}),
	}
	r, err := Run(t.Context(), spec)
	if unsupported := SandboxSupport(); unsupported.Mechanism == NoMechanism {
		if err == nil {
			t.Fatalf("there is no sandbox (%v) and the program ran all the same: %q", unsupported, r.Stdout)
		}
		t.Skip(unsupported.Missing)
	}
	if err != nil {
		t.Fatal(err)
	}
	want := "inside\nold\nno new\nno append\nno removal\nno directory\nnot below either\nnull\n"
	if got := r.Stdout.String(); got != want {
		t.Errorf("printed\n%s\nwant\n%s\nstderr: %s", got, want, r.Stderr)
	}
	left, err := os.ReadDir(outside)
	if err != nil || len(left) != 1 {
		t.Errorf("outside are %v, %v", left, err)
	}
}

func TestSandboxIsNeverLeftOutSilently(t *testing.T) {
	was := mainCalled.Swap(false)
	defer mainCalled.Store(was)
	r, err := Run(t.Context(), Spec{Argv: []string{os.Args[0]}, Dir: t.TempDir(), Policy: Confined(Sandbox{})})
	if err == nil || !strings.Contains(err.Error(), "confined") {
		t.Errorf("a program that cannot be confined gave %+v, %v", r, err)
	}
}
