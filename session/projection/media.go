package projection

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

type mediaKind int

const (
	imageMedia mediaKind = iota
	videoMedia
	documentMedia
)

// spending is what the current turn has inlined.
type spending struct {
	parts int
	bytes int64
}

// media is the outcome for the files of one message.
type media struct {
	parts   []part
	skipped []int  // positions in the hook's result
	notes   string // why files that the model could have seen are not shown
}

// enabled returns the kinds of media that a model can see, in a fixed order.
func enabled(capabilities []string) []mediaKind {
	var kinds []mediaKind
	for kind, name := range [...]string{"vision", "video", "document"} {
		if slices.Contains(capabilities, name) {
			kinds = append(kinds, mediaKind(kind))
		}
	}
	return kinds
}

// inline reads the files that fit. Those of a previous turn, and those of a model
// that sees none, are skipped unread.
func (b *builder) inline(blobs []Blob, current bool) media {
	var out media
	var notes []string
	for i, blob := range blobs {
		var p part
		ok, why := false, ""
		if current && len(b.kinds) > 0 && blob != nil {
			p, ok, why = b.load(blob)
		}
		if ok {
			out.parts = append(out.parts, p)
			continue
		}
		out.skipped = append(out.skipped, i)
		if why != "" && b.cfg.Media.Notes {
			notes = append(notes, fmt.Sprintf("[%s is not shown: %s]", fileName(blob), why))
		}
	}
	out.notes = strings.Join(notes, "\n")
	return out
}

// load reads one file if it may be shown; why is the reason if its content or size
// forbids that, else empty.
func (b *builder) load(blob Blob) (p part, ok bool, why string) {
	budget := b.cfg.Media
	if x, ok := blob.(Barred); ok {
		if why, barred := x.Barred(b.ctx); barred {
			return p, false, why
		}
	}
	if b.spent.parts >= budget.MaxParts {
		return p, false, fmt.Sprintf("a turn shows at most %d files", budget.MaxParts)
	}
	head, ok := blob.Head(b.ctx)
	if !ok {
		return p, false, ""
	}
	kind, mime, ok := sniff(head)
	if !ok {
		return p, false, "its type is not supported"
	}
	if !slices.Contains(b.kinds, kind) {
		return p, false, ""
	}
	size, ok := blob.Size(b.ctx)
	if !ok {
		return p, false, ""
	}
	if why := b.tooLarge(kind, size); why != "" {
		return p, false, why
	}
	data, ok := blob.ReadAll(b.ctx)
	if !ok {
		return p, false, ""
	}
	// The file may have grown, or its size may have been a guess.
	if read := int64(len(data)); read > size {
		size = read
		if why := b.tooLarge(kind, size); why != "" {
			return p, false, why
		}
	}
	if kind == imageMedia {
		if why := unusable(data, budget.MaxSide); why != "" {
			return p, false, why
		}
	}
	b.spent.parts++
	b.spent.bytes += size
	return part{kind: kind, mime: mime, name: blob.Name(), data: data}, true, ""
}

func (b *builder) tooLarge(kind mediaKind, size int64) string {
	budget := b.cfg.Media
	limit := [...]int64{imageMedia: budget.MaxImage, videoMedia: budget.MaxVideo, documentMedia: budget.MaxDocument}[kind]
	encoded := (size + 2) / 3 * 4
	switch {
	case size > limit:
		return fmt.Sprintf("it has %d bytes, the limit is %d", size, limit)
	case budget.MaxEncoded > 0 && encoded > budget.MaxEncoded:
		return fmt.Sprintf("it has %d bytes encoded, the limit is %d", encoded, budget.MaxEncoded)
	case b.spent.bytes+size > budget.MaxTotal:
		return fmt.Sprintf("the files of a turn have at most %d bytes", budget.MaxTotal)
	}
	return ""
}

// fileName returns a name as a note shows it, on one line.
func fileName(blob Blob) string {
	name := blob.Name()
	if strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(name)
	}
	return name
}
