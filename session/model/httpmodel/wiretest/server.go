package wiretest

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// Reply is what a server does with one request.
type Reply struct {
	Status int // 200 when 0
	Header map[string]string
	Body   string
	Step   int // bytes of each write that is flushed; all at once when 0
	// End is how the connection goes on after the body.
	End End
}

// End is how a reply ends.
type End int

// The ends of a reply.
const (
	Closed   End = iota // in order
	Reset               // by a reset of the connection
	TooShort            // with less than its Content-Length said
	Open                // not before the client goes away
)

// Request is a request that the server received.
type Request struct {
	Method, Path, Query, Body string
	Header                    http.Header
}

// Server plays replies in order, the last one again and again.
type Server struct {
	*httptest.Server
	replies []Reply

	mu   sync.Mutex // guards seen
	seen []Request

	came chan struct{} // gets a value when a request has its reply, as long as there is room
	gone chan struct{} // gets a value when a client left an Open reply
}

// Serve starts a server that ends with the test.
func Serve(t testing.TB, replies ...Reply) *Server {
	s := &Server{replies: replies, came: make(chan struct{}, 1), gone: make(chan struct{}, 16)}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

// Seen are the requests so far.
func (s *Server) Seen() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.seen...)
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	reply := s.replies[min(len(s.seen), len(s.replies)-1)]
	s.seen = append(s.seen, Request{r.Method, r.URL.Path, r.URL.RawQuery, string(body), r.Header.Clone()})
	s.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	if reply.End == TooShort {
		w.Header().Set("Content-Length", strconv.Itoa(len(reply.Body)+10))
	}
	for k, v := range reply.Header {
		w.Header().Set(k, strings.ReplaceAll(v, "$SELF", s.URL))
	}
	if reply.Status != 0 {
		w.WriteHeader(reply.Status)
	}
	write(w, reply)
	select {
	case s.came <- struct{}{}:
	default:
	}
	switch reply.End {
	case Reset:
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err)
		}
		_ = conn.(*net.TCPConn).SetLinger(0)
		_ = conn.Close()
	case TooShort:
		panic(http.ErrAbortHandler)
	case Open:
		<-r.Context().Done()
		s.gone <- struct{}{}
	}
}

// write ends early when the client has disconnected.
func write(w http.ResponseWriter, reply Reply) {
	flush := func() { _ = http.NewResponseController(w).Flush() }
	step := reply.Step
	if step <= 0 {
		step = max(1, len(reply.Body))
	}
	for body := reply.Body; body != ""; {
		n := min(step, len(body))
		if _, err := io.WriteString(w, body[:n]); err != nil {
			return
		}
		flush()
		body = body[n:]
	}
	flush()
}
