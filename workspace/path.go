package workspace

import (
	"path/filepath"
	"strings"
)

// RealPath returns an absolute path with the links followed in the part that exists;
// the rest stays as it is spelled.
func RealPath(name string) string {
	if real, err := filepath.EvalSymlinks(name); err == nil {
		return real
	}
	parent := filepath.Dir(name)
	if parent == name {
		return name
	}
	return filepath.Join(RealPath(parent), filepath.Base(name))
}

// Below returns name relative to dir, "." for dir itself, when it is dir or lies
// below it, by spelling alone and by whole elements.
func Below(dir, name string) (rel string, ok bool) {
	rel, err := filepath.Rel(dir, filepath.Clean(name))
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", false
	}
	return rel, true
}

// Relative returns a path below dir relative to it, with slashes; another path as it
// is.
func Relative(dir, name string) string {
	if rel, ok := Below(dir, name); ok {
		name = rel
	}
	return filepath.ToSlash(name)
}
