package projection

import (
	"bytes"
	"slices"
	"strings"
)

// sniff returns a file's kind by its first bytes; a claimed type does not matter.
func sniff(head []byte) (kind mediaKind, mime string, ok bool) {
	for _, s := range signatures {
		if s.matches(head) {
			return s.kind, s.mime, true
		}
	}
	if len(head) >= 12 && string(head[4:8]) == "ftyp" {
		return brand(string(head[8:12]))
	}
	return 0, "", false
}

type signature struct {
	start string // at offset 0
	form  string // at offset 8, for RIFF files
	kind  mediaKind
	mime  string
}

var signatures = [...]signature{
	{start: "\x89PNG\r\n\x1a\n", kind: imageMedia, mime: "image/png"},
	{start: "\xff\xd8\xff", kind: imageMedia, mime: "image/jpeg"},
	{start: "GIF87a", kind: imageMedia, mime: "image/gif"},
	{start: "GIF89a", kind: imageMedia, mime: "image/gif"},
	{start: "RIFF", form: "WEBP", kind: imageMedia, mime: "image/webp"},
	{start: "\x1a\x45\xdf\xa3", kind: videoMedia, mime: "video/webm"},
	{start: "RIFF", form: "AVI ", kind: videoMedia, mime: "video/x-msvideo"},
	{start: "FLV\x01", kind: videoMedia, mime: "video/x-flv"},
	{start: "\x00\x00\x01\xba", kind: videoMedia, mime: "video/mpeg"},
	{start: "\x00\x00\x01\xb3", kind: videoMedia, mime: "video/mpeg"},
	{start: "%PDF-", kind: documentMedia, mime: "application/pdf"},
}

func (s signature) matches(head []byte) bool {
	if !bytes.HasPrefix(head, []byte(s.start)) {
		return false
	}
	return s.form == "" || len(head) >= 12 && string(head[8:12]) == s.form
}

// stills are brands of the same container that hold pictures which no model takes.
var stills = []string{"heic", "heix", "hevc", "hevx", "heim", "heis", "hevm", "hevs", "mif1", "msf1", "avif", "avis"}

func brand(b string) (mediaKind, string, bool) {
	switch {
	case slices.Contains(stills, b):
		return 0, "", false
	case strings.HasPrefix(b, "3gp"), strings.HasPrefix(b, "3g2"):
		return videoMedia, "video/3gpp", true
	case b == "qt  ":
		return videoMedia, "video/quicktime", true
	default:
		return videoMedia, "video/mp4", true
	}
}
