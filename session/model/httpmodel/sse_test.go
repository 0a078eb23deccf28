package httpmodel

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// events reads a stream to its end.
func events(r io.Reader) ([]Event, error) {
	var out []Event
	for dec := NewDecoder(r); ; {
		ev, err := dec.Next()
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return out, err
		}
		ev.Data = slices.Clone(ev.Data)
		out = append(out, ev)
	}
}

func TestStreamsAreReadLineByLine(t *testing.T) {
	one := func(name, data string) Event { return Event{Name: name, Data: []byte(data)} }
	for text, want := range map[string][]Event{
		"event: x\r\ndata: a\r\ndata: b\r\n\r\n":         {one("x", "a\nb")},
		"event: x\rdata: a\rdata: b\r\r":                 {one("x", "a\nb")},
		"data: a\n\n":                                    {one("", "a")},
		"data:a\r\rdata: b\r\n\r\ndata:  c\n\r\n":        {one("", "a"), one("", "b"), one("", " c")},
		"event: x\ndata: a\ndata\ndata: b\n\ndata:c\n\n": {one("x", "a\n\nb"), one("", "c")},
		"\ufeffdata: a\n\n\n\n":                          {one("", "a")},
		": c\nid: 1\nretry: 2\nfoo\n\ndata: a\n\n":       {one("", "a")},
		"event: x\n\ndata: a\n\n":                        {one("", "a")},
		"data:\n\nevent: y\ndata: a\n\n":                 {one("y", "a")},
		"data: a":                                        {{Data: []byte("a"), Last: true}},
		"data: a\n":                                      {{Data: []byte("a"), Last: true}},
		"da":                                             nil,
		"\ufeff":                                         nil,
		"":                                               nil,
	} {
		for how, r := range map[string]io.Reader{
			"whole": strings.NewReader(text), "by bytes": iotest.OneByteReader(strings.NewReader(text)),
			"with the end": iotest.DataErrReader(strings.NewReader(text)), "halves": iotest.HalfReader(strings.NewReader(text)),
		} {
			got, err := events(r)
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("%q, %s: %v (-want +got):\n%s", text, how, err, diff)
			}
		}
	}
	if _, err := events(iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader("data: a\n\n")))); !errors.Is(err, iotest.ErrTimeout) {
		t.Errorf("the reader's error is lost: %v", err)
	}
}

type endless string

func (e endless) Read(p []byte) (int, error) {
	return copy(p, strings.Repeat(string(e), 1+len(p)/len(e))), nil
}

func TestAStreamWithoutEndIsStopped(t *testing.T) {
	for piece, words := range map[string]string{"x": "a line is over 16 MiB", "data: xxxxxxxx\n": "an event is over 16 MiB", ": ping\n\n": "it is over 512 MiB"} {
		dec := NewDecoder(endless(strings.Repeat(piece, 1000)))
		dec.limit, dec.whole = dec.limit/256, dec.whole/256
		if _, err := dec.Next(); !errors.Is(err, errTooLong) || !strings.Contains(err.Error(), words) {
			t.Errorf("%q: %v, want %s", piece, err, words)
		}
	}
}

func FuzzAStreamIsReadTheSameHoweverItIsSplit(f *testing.F) {
	f.Add("event: x\r\ndata: a\r\rdata: ä\n\n: c\n\ndata")
	f.Fuzz(func(t *testing.T, text string) {
		whole, err := events(strings.NewReader(text))
		bytewise, err2 := events(iotest.OneByteReader(strings.NewReader(text)))
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		if diff := cmp.Diff(whole, bytewise); diff != "" {
			t.Fatalf("%q (-whole +by bytes):\n%s", text, diff)
		}
	})
}
