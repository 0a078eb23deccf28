package tools

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"sync"
)

// rememberBytes bounds the texts that a session stores. Beyond it the oldest are
// replaced by their hashes, which still show whether a file changed.
const rememberBytes = 64 << 20

// memory stores what the model has read: the text of each file as it last saw it.
type memory struct {
	mu    sync.Mutex // guards all below
	files map[string]known
	order []string // paths whose text is stored, oldest first
	size  int
	parts map[string]parts
}

// parts are the pages of a text that was read in parts.
type parts struct {
	hash  string
	lines [][2]int // from and to, in order, apart
}

// add adds lines from to to.
func (p *parts) add(from, to int) {
	var out [][2]int
	for _, l := range p.lines {
		if l[1]+1 < from || to+1 < l[0] {
			out = append(out, l)
			continue
		}
		from, to = min(from, l[0]), max(to, l[1])
	}
	p.lines = append(out, [2]int{from, to})
	slices.SortFunc(p.lines, func(a, b [2]int) int { return a[0] - b[0] })
}

// shown records that the model was shown a page of a file's text, and reports whether
// it knows all of it now, as it does after its last part.
func (m *memory) shown(path, text string, pg page) bool {
	if pg.cut > 0 {
		return false
	}
	if !pg.whole() {
		hash := hashText(text)
		m.mu.Lock()
		p := m.parts[path]
		if p.hash != hash {
			p = parts{hash: hash}
		}
		p.add(pg.from, pg.to)
		if m.parts == nil {
			m.parts = map[string]parts{}
		}
		m.parts[path] = p
		all := p.lines[0] == [2]int{1, pg.total}
		m.mu.Unlock()
		if !all {
			return false
		}
	}
	m.store(path, text)
	return true
}

// known is what a model knows of a file.
type known struct {
	hash    string
	text    string
	hasText bool // text is stored; otherwise the hash alone is
}

func hashText(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

// store records that the model knows this text of a file, and returns its hash.
func (m *memory) store(path, text string) string {
	h := hashText(text)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.put(path, known{hash: h, text: text, hasText: true})
	return h
}

func (m *memory) put(path string, k known) {
	if m.files == nil {
		m.files = map[string]known{}
	}
	m.drop(path)
	m.files[path] = k
	if !k.hasText {
		return
	}
	m.order = append(m.order, path)
	m.size += len(k.text)
	for m.size > rememberBytes && len(m.order) > 1 {
		oldest := m.order[0]
		hash := m.files[oldest].hash
		m.drop(oldest)
		m.files[oldest] = known{hash: hash}
	}
}

func (m *memory) drop(path string) {
	k, ok := m.files[path]
	if !ok {
		return
	}
	delete(m.files, path)
	if !k.hasText {
		return
	}
	m.size -= len(k.text)
	for i, p := range m.order {
		if p == path {
			m.order = append(m.order[:i], m.order[i+1:]...)
			break
		}
	}
}

// lookup returns what the model knows of a file. When only a hash is stored and
// current has that hash, the text is current.
func (m *memory) lookup(path, current string) (known, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k, ok := m.files[path]
	if ok && !k.hasText && k.hash == hashText(current) {
		k.text, k.hasText = current, true
		m.put(path, k)
	}
	return k, ok
}

// hashes returns the hash of every file known, by path.
func (m *memory) hashes() map[string]string {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := make(map[string]string, len(m.files))
	for p, k := range m.files {
		out[p] = k.hash
	}
	return out
}

// restore adds files known by hash; an empty hash forgets the file.
func (m *memory) restore(hashes map[string]string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for p, h := range hashes {
		switch k, ok := m.files[p]; {
		case h == "":
			m.drop(p)
		case !ok || k.hash != h:
			m.put(p, known{hash: h})
		}
	}
}
