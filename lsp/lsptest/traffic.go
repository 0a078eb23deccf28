package lsptest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Message is one JSON-RPC message as it was on the wire. Members that were not
// there are nil.
type Message struct {
	// Sent says that the editor sent it; else it came from the server.
	Sent   bool           `json:"-"`
	ID     jsontext.Value `json:"id,omitzero"`
	Method string         `json:"method,omitempty"`
	Params jsontext.Value `json:"params,omitzero"`
	Result jsontext.Value `json:"result,omitzero"`
	Error  *Error         `json:"error,omitzero"`
}

// Error is a JSON-RPC error.
type Error struct {
	Code    int            `json:"code"`
	Message string         `json:"message"`
	Data    jsontext.Value `json:"data,omitzero"`
}

func (e *Error) Error() string { return fmt.Sprintf("%d %s", e.Code, e.Message) }

// String is one line for a log of traffic; long bodies are cut there.
func (m Message) String() string {
	const limit = 600
	arrow := "<-"
	if m.Sent {
		arrow = "->"
	}
	var s string
	switch {
	case m.Method != "" && m.ID != nil:
		s = fmt.Sprintf("%s %s #%s %s", arrow, m.Method, m.ID, m.Params)
	case m.Method != "":
		s = fmt.Sprintf("%s %s %s", arrow, m.Method, m.Params)
	case m.Error != nil:
		s = fmt.Sprintf("%s #%s error %s", arrow, m.ID, m.Error)
	default:
		s = fmt.Sprintf("%s #%s = %s", arrow, m.ID, m.Result)
	}
	if len(s) > limit {
		s = fmt.Sprintf("%s… (%d bytes)", strings.ToValidUTF8(s[:limit], ""), len(s))
	}
	return s
}

// is reports a method, or the response to an id.
func (m Message) is(method string) bool { return m.Method == method }

// encode frames a message.
func (m Message) encode() ([]byte, error) {
	body, err := json.Marshal(struct {
		Version string `json:"jsonrpc"`
		Message
	}{"2.0", m})
	if err != nil {
		return nil, err
	}
	return Frame(body), nil
}

// Frame puts the header before a body of any content.
func Frame(body []byte) []byte {
	return append(fmt.Appendf(nil, "Content-Length: %d\r\n\r\n", len(body)), body...)
}

// readFrame reads strictly: whatever is no frame is an error that shows it,
// because it is something that was printed into the protocol.
func readFrame(r *bufio.Reader) ([]byte, error) {
	length := -1
	for first := true; ; first = false {
		line, err := r.ReadString('\n')
		if errors.Is(err, io.EOF) && line == "" && first {
			return nil, io.EOF
		}
		if err != nil {
			return nil, fmt.Errorf("output ends inside of a header, %q: %w", line, err)
		}
		if line == "\r\n" && !first {
			break
		}
		name, value, ok := strings.Cut(strings.TrimSuffix(line, "\r\n"), ": ")
		if !ok || name != "Content-Length" && name != "Content-Type" {
			return nil, fmt.Errorf("output that is no frame: %q", line)
		}
		if name == "Content-Length" {
			if length, err = strconv.Atoi(value); err != nil {
				return nil, fmt.Errorf("output that is no frame: %q", line)
			}
		}
	}
	if length < 0 {
		return nil, errors.New("header without Content-Length")
	}
	body := make([]byte, length)
	if n, err := io.ReadFull(r, body); err != nil {
		return nil, fmt.Errorf("output ends after %d of %d bytes of a body: %w", n, length, err)
	}
	return body, nil
}

// decode reads a body strictly.
func decode(body []byte) (Message, error) {
	var m struct {
		Version string `json:"jsonrpc"`
		Message
	}
	if err := json.Unmarshal(body, &m); err != nil {
		return Message{}, fmt.Errorf("body that is no message, %.300q: %w", body, err)
	}
	if m.Version != "2.0" {
		return Message{}, fmt.Errorf("body without jsonrpc 2.0: %.300q", body)
	}
	return m.Message, nil
}

// get decodes a member of a JSON object by its path; a missing one is the zero T.
func get[T any](raw jsontext.Value, path ...string) T {
	var zero T
	for _, name := range path {
		var object map[string]jsontext.Value
		if json.Unmarshal(raw, &object) != nil {
			return zero
		}
		raw = object[name]
	}
	var v T
	if len(raw) == 0 || json.Unmarshal(raw, &v) != nil {
		return zero
	}
	return v
}

// raw encodes a value that cannot fail to.
func raw(v any) jsontext.Value {
	switch v := v.(type) {
	case nil:
		return nil
	case jsontext.Value:
		return v
	case []byte:
		return v
	case string:
		if json := bytes.TrimSpace([]byte(v)); jsontext.Value(json).IsValid() {
			return json
		}
	}
	b, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		panic(fmt.Sprintf("encode %T for the server: %s", v, err))
	}
	return b
}
