package checker

import (
	"net/url"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/agent-lsp/agent-lsp/workspace"
)

// located is the usual form file:line[:column]: message. The file is the shortest
// text that a line number follows, so that colons of the message stay in it; a
// drive letter is not taken for a file.
var located = regexp.MustCompile(`^(\S.*?):(\d+)(?::(\d+))?(?::[ \t]*(.*))?$`)

// splitLocation takes a line that begins with a place apart. The column is 0 when
// the line has none.
func splitLocation(line string) (file string, at Position, message string, ok bool) {
	m := located.FindStringSubmatch(line)
	if m == nil {
		return "", Position{}, "", false
	}
	return filePath(m[1]), Position{number(m[2]), number(m[3])}, m[4], true
}

// filePath turns a file URL into the path that it stands for and leaves any
// other name alone.
func filePath(name string) string {
	if !strings.HasPrefix(name, "file://") {
		return name
	}
	u, err := url.Parse(name)
	if err != nil {
		return name
	}
	path := u.Path
	if len(path) > 3 && path[0] == '/' && path[2] == ':' { // file:///C:/dir
		path = path[1:]
	}
	return path
}

// number reads decimal digits; too large a number is 0, which means unknown.
func number(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 0
	}
	return n
}

// places maps what tools print to paths as the caller spells them.
type places struct {
	workspace string // as the caller spells it
	real      string // the same with its links resolved
}

func newPlaces(workspace string) places {
	real, err := filepath.EvalSymlinks(workspace)
	if err != nil {
		real = workspace
	}
	return places{workspace: workspace, real: real}
}

// resolve makes the name that a tool printed absolute, counted from base. ok is
// false for a file outside the workspace. A file that the tool names by its real
// path is given under the workspace as the caller spells it.
func (p places) resolve(base, name string) (path string, ok bool) {
	if name == "" {
		return "", false
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(base, filepath.FromSlash(name))
	}
	name = filepath.Clean(name)
	if within(p.workspace, name) {
		return name, true
	}
	if within(p.real, name) {
		return p.spelled(name), true
	}
	real := workspace.RealPath(name)
	if within(p.real, real) {
		return p.spelled(real), true
	}
	return name, false
}

func (p places) spelled(real string) string {
	rel, err := filepath.Rel(p.real, real)
	if err != nil {
		return real
	}
	return filepath.Join(p.workspace, rel)
}
