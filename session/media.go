package session

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/agent-lsp/agent-lsp/session/history"
	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/agent-lsp/agent-lsp/session/projection"
	"github.com/agent-lsp/agent-lsp/tools"
	files "github.com/agent-lsp/agent-lsp/workspace"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

const (
	// maxEncoded bounds a picture's text in a request: what the strictest provider
	// takes.
	maxEncoded = 5 << 20
	// pictureWeight is what a picture counts for where a request is compared with
	// the model's window, in bytes: providers count its pixels, not its text.
	pictureWeight = 6 << 10
	// pictureHead is how much of a file shows whether it is text.
	pictureHead = 512
)

// pictures are the files of the running turn that its prompt points at as a whole
// and that are no text. A file stays as it was when it was first looked at: the
// requests of a turn must begin alike. Guarded by the requester's projecting.
type pictures struct {
	turn  uint64
	files map[string]*picture // by path; nil for what is not shown
	blind map[string]bool     // profiles whose provider refused pictures in this turn
	// refused are the hashes of what was refused in the session, by profile: each
	// would fail every request that has it.
	refused map[string]map[string]bool
}

// begin forgets the turn before.
func (p *pictures) begin(turn uint64) {
	if p.turn != turn || p.files == nil {
		p.turn, p.files, p.blind = turn, map[string]*picture{}, map[string]bool{}
	}
}

// refuse keeps files from a profile for the rest of the session.
func (p *pictures) refuse(r *event.Refused) {
	if p.refused == nil {
		p.refused = map[string]map[string]bool{}
	}
	if p.refused[r.Profile] == nil {
		p.refused[r.Profile] = map[string]bool{}
	}
	for _, hash := range r.Files {
		p.refused[r.Profile][hash] = true
	}
}

// look returns the file at a path, or nil for text and for what cannot be read.
func (p *pictures) look(w *workspace, path string) *picture {
	if pic, known := p.files[path]; known {
		return pic
	}
	p.files[path] = nil
	if _, open := w.Buffer(path); open {
		return nil
	}
	f, err := tools.Open(w.Root(), path)
	if err != nil {
		return nil
	}
	defer f.Close() //nolint:errcheck // only read
	pic := &picture{path: path, work: w, head: make([]byte, pictureHead)}
	info, err := f.Stat()
	if err != nil {
		return nil
	}
	n, err := io.ReadFull(f, pic.head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	pic.size, pic.head = info.Size(), pic.head[:n]
	if !files.Binary(pic.head) {
		return nil
	}
	p.files[path] = pic
	return pic
}

// picture is one of the files.
type picture struct {
	path string // relative to the root
	work *workspace
	head []byte
	size int64
	data []byte // once read
	lost bool   // it could not be read, or is not any more what was looked at
}

// read returns the file's content.
func (p *picture) read() ([]byte, bool) {
	if p.data != nil || p.lost {
		return p.data, !p.lost
	}
	p.lost = true
	f, err := tools.Open(p.work.Root(), p.path)
	if err != nil {
		return nil, false
	}
	defer f.Close() //nolint:errcheck // only read
	data, err := io.ReadAll(io.LimitReader(f, p.size+1))
	if err != nil || int64(len(data)) != p.size || !bytes.HasPrefix(data, p.head) {
		return nil, false
	}
	p.data, p.lost = data, false
	return data, true
}

// weight is what the picture's text takes in a request beyond pictureWeight.
func (p *picture) weight() int { return base64.StdEncoding.EncodedLen(len(p.data)) - pictureWeight }

// requestPictures is where one request's pictures come from. Tools return text, so
// only prompts have any.
type requestPictures struct {
	pictures *pictures
	work     *workspace
	profile  string
	shown    []*picture // handed to the projection so far
}

// MessageMedia implements projection.MediaSource. The pictures of earlier turns
// are not looked at.
func (g *requestPictures) MessageMedia(_ context.Context, m history.Message) []projection.Blob {
	if m.Turn != g.pictures.turn || m.Metadata == nil {
		return nil
	}
	var meta struct {
		Context []event.Context `json:"context"`
	}
	if json.Unmarshal(m.Metadata, &meta) != nil {
		return nil
	}
	var out []projection.Blob
	seen := map[string]bool{}
	for _, c := range meta.Context {
		if c.First != 0 || seen[c.Path] {
			continue
		}
		seen[c.Path] = true
		if pic := g.pictures.look(g.work, c.Path); pic != nil {
			out = append(out, shownPicture{pic, g})
		}
	}
	return out
}

// CallMedia implements projection.MediaSource.
func (g *requestPictures) CallMedia(context.Context, []history.Call) []projection.Blob { return nil }

// shownPicture is a picture as a request shows it.
type shownPicture struct {
	*picture
	request *requestPictures
}

// Name implements projection.Blob.
func (h shownPicture) Name() string { return h.path }

// Size implements projection.Blob.
func (h shownPicture) Size(context.Context) (int64, bool) { return h.size, !h.lost }

// Head implements projection.Blob.
func (h shownPicture) Head(context.Context) ([]byte, bool) { return h.head, !h.lost }

// ReadAll implements projection.Blob.
func (h shownPicture) ReadAll(context.Context) ([]byte, bool) {
	data, ok := h.read()
	if ok {
		h.request.shown = append(h.request.shown, h.picture)
	}
	return data, ok
}

// Barred implements projection.Barred.
func (h shownPicture) Barred(context.Context) (string, bool) {
	const why = "the model's provider refused it"
	p, profile := h.request.pictures, h.request.profile
	if p.blind[profile] {
		return why, true
	}
	if len(p.refused[profile]) == 0 || h.size > maxEncoded {
		return "", false
	}
	data, ok := h.read()
	return why, ok && p.refused[profile][hashOf(string(data))]
}

// projected is a request's messages and the pictures in them.
type projected struct {
	messages     []jsontext.Value
	conversation []*model.Message
	shown        []*picture
}

// size is how many bytes the request counts for.
func (p projected) size() int {
	n := size(p.messages)
	for _, pic := range p.shown {
		n -= pic.weight()
	}
	return n
}

// withheld is a request that failed because of its pictures.
type withheld struct {
	err   error
	shown []*picture
}

// withhold takes the pictures out of the turn's further requests to a profile, if
// that may help: it returns nil when the failure is about something else.
func (q *requester) withhold(t *turn, profile string, req projected, err error) *withheld {
	me, ok := errors.AsType[*model.Error](err)
	if !ok || len(req.shown) == 0 || me.Kind != model.BadRequest || !model.AboutMedia(me.Message) {
		return nil
	}
	q.projecting.Lock()
	defer q.projecting.Unlock()
	q.pictures.begin(t.id)
	q.pictures.blind[profile] = true
	return &withheld{err, req.shown}
}

// noteWithheld records which pictures were left out of the request that then got a
// reply, and leaves them out of the session's further ones. Until then the refusal
// was a guess.
func (q *requester) noteWithheld(t *turn, profile string, r *withheld) error {
	if r == nil {
		return nil
	}
	refused := &event.Refused{Profile: profile}
	var names []string
	for _, pic := range r.shown {
		names = append(names, pic.path)
		refused.Files = append(refused.Files, hashOf(string(pic.data)))
	}
	slices.Sort(refused.Files)
	refused.Files = slices.Compact(refused.Files)
	q.projecting.Lock()
	q.pictures.refuse(refused)
	q.projecting.Unlock()
	_, err := q.s.journal.record(t.ctx, &event.Note{Turn: t.id, Refused: refused, Text: fmt.Sprintf(
		"profile %s: %v; asked again without %s, which this session does not send to it any more", profile, r.err, strings.Join(names, ", "))})
	return err
}

// releasePictures forgets what only the requests of a turn need, once it is over.
func (q *requester) releasePictures(t *turn) {
	q.projecting.Lock()
	defer q.projecting.Unlock()
	if q.pictures.turn == t.id && len(q.pictures.files) > 0 {
		q.pictures.begin(0)
		q.projector = projection.Projector{}
	}
}
