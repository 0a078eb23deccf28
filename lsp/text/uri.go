package text

import (
	"fmt"
	"path"
	"runtime"
	"strings"
)

// Path returns the path of a file URI, in this system's spelling. Any variant
// of percent-encoding is read, a query or fragment is left out. A URI of another
// scheme, or one that names a host where this system has no such paths, is refused.
func Path(uri string) (string, error) { return pathOf(uri, runtime.GOOS == "windows") }

func pathOf(uri string, windows bool) (string, error) {
	scheme, host, raw, _ := cut(uri)
	if scheme != "file" {
		return "", fmt.Errorf("%s is not a file: need a file:// URI", uri)
	}
	p := unescape(raw)
	if p == "" || p[0] != '/' || strings.ContainsRune(p, 0) {
		return "", fmt.Errorf("%s names no absolute path", uri)
	}
	if !windows {
		if host != "" {
			return "", fmt.Errorf("%s names a file of host %s: only local files can be read", uri, host)
		}
		return path.Clean(p), nil
	}
	switch {
	case host != "":
		p = "//" + host + path.Clean(p)
	case hasDrive(p):
		p = lowerDrive(path.Clean(p))[1:]
		if len(p) == 2 {
			p += "/"
		}
	default:
		p = path.Clean(p)
	}
	return strings.ReplaceAll(p, "/", `\`), nil
}

// URI returns the file URI of an absolute path of this system, in the spelling that
// VS Code gives: drive letters are lower case and everything but letters, digits
// and "-._~/" is percent-encoded.
func URI(file string) string { return uriOf(file, runtime.GOOS == "windows") }

func uriOf(file string, windows bool) string {
	host := ""
	if windows {
		file = strings.ReplaceAll(file, `\`, "/")
		if rest, ok := strings.CutPrefix(file, "//"); ok {
			host, file, _ = strings.Cut(rest, "/")
			file = "/" + file
		}
	}
	if !strings.HasPrefix(file, "/") {
		file = "/" + file
	}
	if windows {
		file = lowerDrive(file)
	}
	return "file://" + escape(host, "") + escape(file, "/")
}

// Key returns a key that is equal for all spellings of one document:
// percent-encoding, the case of the scheme, of the host and of a drive letter, "."
// and ".." in a file's path and a folder's final slash do not count. It is for
// comparing, not for sending. URIs of different schemes never share a key.
func Key(uri string) string {
	scheme, host, raw, rest := cut(uri)
	if scheme == "file" {
		p := lowerDrive(path.Clean("/" + strings.TrimLeft(unescape(raw), "/")))
		return "file://" + host + p + rest
	}
	// In other schemes a delimiter and its escaped form may differ in meaning.
	if host != "" {
		host = "//" + host
	}
	return scheme + ":" + host + unescapeExcept(raw, "/?#%") + unescapeExcept(rest, "?#%")
}

// cut splits a URI into its scheme and host in lower case, its path as it is
// spelled, and its query and fragment. The host "localhost" of a file is none.
func cut(uri string) (scheme, host, raw, rest string) {
	scheme, raw, ok := strings.Cut(uri, ":")
	if !ok {
		return "", "", uri, ""
	}
	scheme = strings.ToLower(scheme)
	if i := strings.IndexAny(raw, "?#"); i >= 0 {
		raw, rest = raw[:i], raw[i:]
	}
	if tail, ok := strings.CutPrefix(raw, "//"); ok {
		host, raw = tail, ""
		if i := strings.IndexByte(tail, '/'); i >= 0 {
			host, raw = tail[:i], tail[i:]
		}
		host = strings.ToLower(unescape(host))
	}
	if scheme == "file" && host == "localhost" {
		host = ""
	}
	return scheme, host, raw, rest
}

// hasDrive reports whether a path has the form "/C:" or "/C:/…".
func hasDrive(p string) bool {
	if len(p) < 3 || p[0] != '/' || p[2] != ':' || len(p) > 3 && p[3] != '/' {
		return false
	}
	c := p[1] | 0x20
	return 'a' <= c && c <= 'z'
}

func lowerDrive(p string) string {
	if !hasDrive(p) {
		return p
	}
	return "/" + strings.ToLower(p[1:2]) + p[2:]
}

func unescape(s string) string { return unescapeExcept(s, "") }

// unescapeExcept decodes the percent-encoded bytes of s that are not in keep, and
// normalises the escapes of those that are. A "%" that begins no escape is kept.
func unescapeExcept(s, keep string) string {
	if strings.IndexByte(s, '%') < 0 {
		return s
	}
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '%' || i+2 >= len(s) || !isHex(s[i+1]) || !isHex(s[i+2]) {
			out.WriteByte(s[i])
			continue
		}
		c := unhex(s[i+1])<<4 | unhex(s[i+2])
		if strings.IndexByte(keep, c) >= 0 {
			out.WriteString(strings.ToUpper(s[i : i+3]))
		} else {
			out.WriteByte(c)
		}
		i += 2
	}
	return out.String()
}

func escape(s, keep string) string {
	const hex = "0123456789ABCDEF"
	var out strings.Builder
	for i := range len(s) {
		c := s[i]
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
			strings.IndexByte("-._~", c) >= 0 || strings.IndexByte(keep, c) >= 0 {
			out.WriteByte(c)
			continue
		}
		out.Write([]byte{'%', hex[c>>4], hex[c&15]})
	}
	return out.String()
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f'
}

func unhex(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c | 0x20 - 'a' + 10
}
