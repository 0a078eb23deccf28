package projection

import (
	"errors"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// lostLimit bounds how much of unreadable arguments a result repeats, in code points.
const lostLimit = 400

// reader parses arguments, with one buffer for all of them.
type reader struct{ buf []byte }

// object returns a call's arguments as the text of a JSON object. A model's text
// that is one is returned unchanged. Doubled members (the last one counts) and
// invalid UTF-8 are repaired; anything else is replaced by {}, because a provider
// would refuse the whole conversation.
func (r *reader) object(raw string) (text string, lost bool) {
	trimmed := strings.TrimSpace(raw)
	if trimmed == "" || trimmed == "null" {
		return "{}", false
	}
	if trimmed[0] != '{' {
		return "{}", true
	}
	r.buf = append(r.buf[:0], raw...)
	if jsontext.Value(r.buf).IsValid() {
		return raw, false
	}
	dec := jsontext.NewDecoder(strings.NewReader(raw), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	out, err := mend(dec, nil)
	if err != nil || !jsontext.Value(out).IsValid() {
		return "{}", true
	}
	if _, err := dec.ReadToken(); err == nil || !isEnd(err) {
		return "{}", true
	}
	return string(out), false
}

// mend copies one value, keeping the last of doubled members at the first's place.
func mend(dec *jsontext.Decoder, b []byte) ([]byte, error) {
	switch dec.PeekKind() {
	case '{':
		return mendObject(dec, b)
	case '[':
		if _, err := dec.ReadToken(); err != nil {
			return nil, err
		}
		b = append(b, '[')
		for i := 0; dec.PeekKind() != ']'; i++ {
			var err error
			if b, err = mend(dec, separated(b, i)); err != nil {
				return nil, err
			}
		}
		_, err := dec.ReadToken()
		return append(b, ']'), err
	}
	token, err := dec.ReadToken()
	if err != nil {
		return nil, err
	}
	if token.Kind() == '"' {
		return quoted(b, token.String()), nil
	}
	return append(b, token.String()...), nil
}

func mendObject(dec *jsontext.Decoder, b []byte) ([]byte, error) {
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	var names []string
	values := map[string][]byte{}
	for dec.PeekKind() != '}' {
		token, err := dec.ReadToken()
		if err != nil {
			return nil, err
		}
		name := string(quoted(nil, token.String()))
		value, err := mend(dec, nil)
		if err != nil {
			return nil, err
		}
		if _, doubled := values[name]; !doubled {
			names = append(names, name)
		}
		values[name] = value
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	b = append(b, '{')
	for i, name := range names {
		b = append(separated(b, i), name...)
		b = append(b, ':')
		b = append(b, values[name]...)
	}
	return append(b, '}'), nil
}

// withLost adds the arguments that the model had written to a result that lacks them.
func withLost(text, raw string) string {
	if strings.Contains(text, raw) {
		return text
	}
	if at := runeOffset(raw, lostLimit); at < len(raw) {
		raw = raw[:at] + cutMark
	}
	return text + "\n[the arguments were not a JSON object: " + raw + "]"
}

// isEnd reports whether the text ended where it may.
func isEnd(err error) bool { return errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) }

// separated appends the comma before all elements but the first.
func separated(b []byte, i int) []byte {
	if i > 0 {
		return append(b, ',')
	}
	return b
}

// quoted appends s as a JSON string. Bytes that are not UTF-8 become U+FFFD.
func quoted(b []byte, s string) []byte {
	b, _ = jsontext.AppendQuote(b, s) // the error only says that there were such bytes
	return b
}
