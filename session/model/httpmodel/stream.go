package httpmodel

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Progress is what an event added to the reply.
type Progress int

const (
	// Nothing is no content: a sign of life at most.
	Nothing Progress = iota
	// Piece is a piece of the reply.
	Piece
	// Whole says that the reply is complete; only its usage may follow.
	Whole
	// End is the provider's own end of the stream.
	End
)

// Stream reads a reply. handle is called with each event of a stream, or, with
// the name "whole", with the one body of a server that does not stream; it returns
// what that added. Stream returns nil when the reply is complete: a stream that ends
// before is an error, and so is an error of handle. It closes the body.
func (a *Attempt) Stream(resp *http.Response, handle func(Event) (Progress, error)) error {
	defer resp.Body.Close() //nolint:errcheck // only read
	stream := bufio.NewReader(resp.Body)
	// Servers mislabel either form as the other.
	first := firstByte(stream)
	lines := strings.IndexByte("dei:r", first) >= 0 // data, event, id, a comment, retry
	switch kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); {
	case first == '{', !lines && (kind == "application/json" || strings.HasSuffix(kind, "+json")):
		return a.body(stream, handle)
	case kind == "text/event-stream":
	case strings.HasPrefix(kind, "text/html"):
		return &failure{err: &model.Error{
			Kind: model.BadRequest, Status: resp.StatusCode,
			Message: "the server answered with a web page; check the profile's base_url",
		}, final: true}
	}
	dec := NewDecoder(stream)
	whole := false
	for {
		ev, err := dec.Next()
		if err != nil {
			if whole {
				return nil
			}
			if errors.Is(err, io.EOF) {
				return Broken("the stream ended before the answer was complete")
			}
			return fmt.Errorf("read the answer: %w", err)
		}
		progress, err := handle(ev)
		if err != nil {
			switch {
			case ev.Last && whole:
				return nil // only what comes after a reply was cut
			case ev.Last && json.Unmarshal(ev.Data, new(jsontext.Value), Lenient) != nil:
				return Broken("the stream ended in the middle of an event")
			}
			return err
		}
		switch progress {
		case Piece:
			a.watch.piece()
		case Whole:
			if !whole {
				a.watch.grace(tailWait)
			}
			whole = true
		case End:
			a.drain(dec)
			return nil
		}
	}
}

// firstByte is the first byte that is no white space, 0 for none among the first
// few: a stream's lines begin with a letter or a colon, JSON with a bracket.
func firstByte(r *bufio.Reader) byte {
	for n := 1; n <= 64; n++ {
		head, err := r.Peek(n)
		if err != nil {
			return 0
		}
		switch head[n-1] {
		case ' ', '\t', '\r', '\n':
		default:
			return head[n-1]
		}
	}
	return 0
}

// drain waits a moment for the end of the connection's reply, without which the
// connection cannot be used again.
func (a *Attempt) drain(dec *Decoder) {
	if a.watch.idle <= 0 {
		return // nothing would end the wait
	}
	a.watch.grace(closeWait)
	for range 8 {
		if _, err := dec.Next(); err != nil {
			return
		}
	}
}

// body reads a reply in one piece.
func (a *Attempt) body(r io.Reader, handle func(Event) (Progress, error)) error {
	data, err := io.ReadAll(io.LimitReader(r, maxLine+1))
	if err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	if len(data) > maxLine {
		return fmt.Errorf("%w: the answer is over %d MiB", errTooLong, maxLine>>20)
	}
	progress, err := handle(Event{Name: WholeBody, Data: data})
	if err == nil && progress < Whole {
		err = Broken("the server answered with JSON that is no answer of a model")
	}
	return err
}

// WholeBody is the name of the event that is a whole reply.
const WholeBody = "whole"
