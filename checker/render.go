package checker

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agent-lsp/agent-lsp/workspace"
)

// baseline is what a complete check of a root found, for the next one to compare
// itself with. A finding that only moved to another line is the same one.
type baseline struct {
	counts map[sameness]int
}

type sameness struct{ path, code, message string }

func newBaseline(rep *report) *baseline {
	b := &baseline{counts: make(map[sameness]int)}
	for _, block := range rep.blocks {
		b.counts[block.identity()]++
	}
	return b
}

// identity is the key that identifies a block: a finding, or a text without one.
func (b block) identity() sameness {
	if b.finding == nil {
		return sameness{message: b.text}
	}
	return sameness{b.finding.Path, b.finding.Code, b.finding.Message}
}

// rendering is the text of a Found in the making.
type rendering struct {
	command string // as it is shown, quoted
	root    string
	edited  []string
	rep     *report
	note    string
	cap     int
}

// render writes the text for the model and counts the new findings, -1 when
// there is nothing to compare with.
func (t *rendering) render(before *baseline) (text string, fresh int) {
	blocks, fresh, known := t.body(before)
	if fresh == 0 && known > 0 && len(t.edited) > 0 && t.rep.incomplete() == "" && t.textKnown(before) {
		return t.nothingNew(blocks, known), fresh
	}
	body := (&report{blocks: blocks}).text()
	var head strings.Builder
	fmt.Fprintf(&head, "Diagnostics from %s, run over the whole workspace", t.command)
	if len(t.edited) > 0 {
		head.WriteString(" after this edit, which was applied. This is the project's own checker talking; it may name files that this edit did not touch.")
	} else {
		head.WriteString(". This is the project's own checker talking.")
	}
	if fresh >= 0 {
		fmt.Fprintf(&head, " Since the previous check of this root %s new; %s there before.",
			count(fresh, "is", "are"), count(known, "was", "were"))
	}
	if why := t.rep.incomplete(); why != "" {
		fmt.Fprintf(&head, " The list is not complete: %s.", why)
	}
	if t.note != "" {
		fmt.Fprintf(&head, " Note: %s.", t.note)
	}
	header := strings.TrimSuffix(head.String(), ".") + ":\n"
	room := t.cap - utf8.RuneCountInString(header)
	if utf8.RuneCountInString(body) > room {
		body = (&report{blocks: bounded(blocks, t.root, room)}).text()
	}
	if utf8.RuneCountInString(body) > room {
		const mark = 45 // of the line that says how much is missing
		body = headAndTail(body, max(room-mark, t.cap/2))
	}
	return header + body, fresh
}

// textKnown reports whether all text that stands for no finding was there before.
func (t *rendering) textKnown(before *baseline) bool {
	return !slices.ContainsFunc(t.rep.blocks, func(b block) bool {
		return b.finding == nil && strings.TrimSpace(b.text) != "" && before.counts[b.identity()] == 0
	})
}

// nothingNew is the line for a check that found only what was there before.
func (t *rendering) nothingNew(blocks []block, known int) string {
	said := fmt.Sprintf("Diagnostics from %s, run over the whole workspace after this edit, which was applied. Since the previous check of this root 0 are new; %s there before", t.command, count(known, "was", "were"))
	if at := slices.IndexFunc(blocks, func(b block) bool { return b.finding != nil }); at >= 0 {
		first, _, _ := strings.Cut(strings.TrimSpace(blocks[at].text), "\n")
		said += ", as " + headAndTail(first, 300)
	}
	if t.note != "" {
		said += ". Note: " + t.note
	}
	return said + "."
}

// body orders the blocks: what is new first, and the edited files' own before the
// others'. Where that changes nothing, the text stays the tool's.
func (t *rendering) body(before *baseline) (ordered []block, fresh, known int) {
	fresh = -1
	var news, olds, rest []block
	left := map[sameness]int{}
	if before != nil {
		fresh = 0
		for k, n := range before.counts {
			left[k] = n
		}
	}
	for _, b := range t.rep.blocks {
		switch {
		case b.finding == nil && strings.HasPrefix(b.text, "# "):
		case b.finding == nil:
			rest = append(rest, b)
		case before == nil:
			news = append(news, b)
		case left[b.identity()] > 0:
			left[b.identity()]--
			olds = append(olds, b)
			known++
		default:
			news = append(news, b)
			fresh++
		}
	}
	moved := t.ownFirst(news)
	moved = t.ownFirst(olds) || moved
	if len(olds) > 0 && len(news) > 0 {
		parts := report{}
		parts.add("New:", nil)
		parts.blocks = append(parts.blocks, news...)
		parts.add("There before:", nil)
		parts.blocks = append(parts.blocks, olds...)
		parts.blocks = append(parts.blocks, rest...)
		return parts.blocks, fresh, known
	}
	if !moved {
		return t.rep.blocks, fresh, known
	}
	return slices.Concat(news, olds, rest), fresh, known
}

// minShare is the number of characters below which no file is cut: of so many
// files only the first and the last ones fit.
const minShare = 300

// bounded leaves out what one file has more of than its share of the room, so that
// its findings do not hide another one's.
func bounded(blocks []block, root string, room int) []block {
	sizes := make(map[string]int)
	for _, b := range blocks {
		n := utf8.RuneCountInString(b.text) + 1
		if b.finding == nil {
			room -= n
		} else {
			sizes[b.finding.Path] += n
		}
	}
	share := room
	for i, size := range slices.Sorted(maps.Values(sizes)) {
		// What a file does not need of its share is the others'.
		if share = room / (len(sizes) - i); size > share {
			break
		}
		room -= size
	}
	if len(sizes) < 2 || share < minShare {
		return blocks
	}
	const mark = 100 // of the line that says how much is missing, beside the file's name
	var kept []block
	used, cut, last := make(map[string]int), make(map[string]int), make(map[string]int)
	for _, b := range blocks {
		if b.finding == nil {
			kept = append(kept, b)
			continue
		}
		path, n := b.finding.Path, utf8.RuneCountInString(b.text)+1
		limit := share
		if sizes[path] > share {
			limit -= mark + len(path)
		}
		if used[path] > 0 && used[path]+n > limit || cut[path] > 0 {
			cut[path]++
			continue
		}
		used[path] += n
		last[path] = len(kept)
		kept = append(kept, b)
	}
	for path, n := range cut {
		b := &kept[last[path]]
		b.text = fmt.Sprintf("%s\n[... %d characters elided: %s in %s ...]", strings.TrimRight(b.text, " \t\n"),
			sizes[path]-used[path], count(n, "more finding", "more findings"), workspace.Relative(root, path))
	}
	return kept
}

// ownFirst moves the findings of edited files to the front and reports whether
// that changed the order.
func (t *rendering) ownFirst(blocks []block) bool {
	rank := func(b block) int {
		if slices.Contains(t.edited, b.finding.Path) {
			return 0
		}
		return 1
	}
	byRank := func(a, b block) int { return rank(a) - rank(b) }
	if slices.IsSortedFunc(blocks, byRank) {
		return false
	}
	slices.SortStableFunc(blocks, byRank)
	return true
}

// apply resolves the paths of a report's findings, drops repeated blocks and
// returns the findings that lie in the workspace, each once, by their places.
func (p places) apply(rep *report, base string, bom int, texts map[string]string) []Finding {
	seen := make(map[string]bool)
	kept := rep.blocks[:0]
	var findings []Finding
	for _, b := range rep.blocks {
		if b.finding == nil {
			kept = append(kept, b)
			continue
		}
		f := b.finding
		path, inside := p.resolve(base, f.Path)
		f.Path = path
		if bom > 0 && inside {
			withoutMark(f, bom, texts)
		}
		f.Related = p.related(f.Related, base)
		key := fmt.Sprint(f.Path, "\x00", f.Range, f.Severity, f.Code, "\x00", f.Message)
		if seen[key] {
			continue
		}
		seen[key] = true
		kept = append(kept, b)
		if inside {
			findings = append(findings, *f)
		}
	}
	rep.blocks = kept
	slices.SortStableFunc(findings, comparePlaces)
	return findings
}

func (p places) related(all []Related, base string) []Related {
	var kept []Related
	for _, r := range all {
		path, inside := p.resolve(base, r.Path)
		if !inside {
			continue
		}
		r.Path = filepath.Clean(path)
		kept = append(kept, r)
	}
	return kept
}
