package loop

import "github.com/agent-lsp/agent-lsp/core/abi"

// inside says whether a path, a literal, stays inside the workspace whatever
// system it is used on: it is not absolute, names no drive and never climbs
// above where it starts, with '/' and '\' both taken as separators. What links
// do is for the host to judge.
func inside(lit []byte) bool {
	path := abi.Unquote(lit)
	if path != "" && separator(path[0]) {
		return false
	}
	depth := 0
	for len(path) > 0 {
		end := 0
		for end < len(path) && !separator(path[end]) {
			end++
		}
		name := path[:end]
		path = path[min(end+1, len(path)):]
		switch {
		case name == "" || name == ".":
		case name == "..":
			if depth--; depth < 0 {
				return false
			}
		case depth == 0 && drive(name):
			return false
		default:
			depth++
		}
	}
	return true
}

func separator(c byte) bool { return c == '/' || c == '\\' }

// drive says whether a path's first name begins with a drive's letter.
func drive(name string) bool {
	if len(name) < 2 || name[1] != ':' {
		return false
	}
	letter := name[0] | 0x20
	return 'a' <= letter && letter <= 'z'
}
