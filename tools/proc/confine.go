package proc

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// confined returns a Spec that is to run in a sandbox with its policy completed: the
// mechanism of this system, the places that exist now, and the directory for
// temporary files.
func confined(spec Spec) (Spec, error) {
	if spec.Policy.sandbox == nil {
		return spec, nil
	}
	s := *spec.Policy.sandbox
	support := SandboxSupport()
	if s.Mechanism == NoMechanism {
		s.Mechanism = support.Mechanism
	}
	if s.Mechanism == NoMechanism || !mainCalled.Load() {
		return spec, fmt.Errorf("%w (%s)", errNoSandbox, strings.Join(support.Missing, "; "))
	}
	if s.Temp != "" {
		tmp, other := filepath.Join(s.Temp, "tmp"), filepath.Join(s.Temp, "var")
		for _, dir := range []string{tmp, other} {
			if err := os.MkdirAll(dir, 0o700); err != nil {
				return spec, fmt.Errorf("make the sandbox's directory for temporary files: %w", err)
			}
		}
		seen := "/tmp"
		if s.Mechanism == Landlock {
			seen = tmp
			s.Writable = append(slices.Clone(s.Writable), tmp, other)
		}
		for _, name := range []string{"TMPDIR", "TMP", "TEMP"} {
			spec.Env = Setenv(spec.Env, name, seen)
		}
	}
	for _, v := range s.Env {
		if _, err := os.Lstat(v.Once); v.Once == "" || s.Network || err == nil {
			spec.Env = Setenv(spec.Env, v.Name, v.Value)
		}
	}
	s.Env = nil
	if s.Mechanism == Namespaces {
		s.Hidden = append(slices.Clone(s.Hidden), foreignSockets(s)...)
	}
	// Supervisors are reused for programs with the same sandbox: paths that do not
	// exist must not make two of them differ.
	s.Hidden = present(s.Hidden)
	s.Pinned = present(s.Pinned)
	spec.guard = newGuard(s.Protected, s.Aside)
	s.Protected = present(s.Protected)
	s.Aside = ""
	spec.Policy.sandbox = &s
	return spec, nil
}

// present returns the paths that exist.
func present(paths []string) []string {
	out := slices.DeleteFunc(slices.Clone(paths), func(p string) bool {
		_, err := os.Lstat(p)
		return err != nil
	})
	slices.Sort(out)
	return slices.Compact(out)
}

// within reports whether a clean path is dir or lies below it.
func within(dir, path string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}
