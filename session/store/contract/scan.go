package contract

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// scan reads a record that is written just as EncodeRecord writes most: every
// member in its order, no space, no string with an escape. It answers false for any
// other, which is left to the JSON decoder, and leaves r in any state then. Listing
// many sessions is mostly this.
func (r *record) scan(data []byte) bool {
	s := scanner{rest: data, ok: utf8.Valid(data)}
	s.literal(`{"id":`)
	r.ID = s.text()
	s.literal(`,"subject":`)
	r.Subject = s.text()
	s.literal(`,"harness":`)
	r.Harness = s.text()
	s.literal(`,"root":`)
	r.Root = s.text()
	s.literal(`,"account":`)
	r.Account = s.optional()
	s.literal(`,"title":`)
	r.Title = s.optional()
	s.literal(`,"created_at":`)
	r.CreatedAt = s.signed()
	s.literal(`,"updated_at":`)
	r.UpdatedAt = s.signed()
	s.literal(`,"turns":`)
	r.Turns = s.unsigned()
	s.literal(`,"mcp_token_digest":`)
	r.MCPTokenDigest = s.optional()
	s.literal(`,"commands":`)
	r.Commands = s.texts()
	s.literal(`}`)
	return s.ok && len(s.rest) == 0
}

// scanner eats what it is told to expect; ok turns false where something else is.
type scanner struct {
	rest []byte
	ok   bool
}

func (s *scanner) literal(want string) {
	rest, found := bytes.CutPrefix(s.rest, []byte(want))
	s.rest, s.ok = rest, s.ok && found
}

// next eats want if it is there.
func (s *scanner) next(want string) bool {
	rest, found := bytes.CutPrefix(s.rest, []byte(want))
	s.rest = rest
	return found
}

func (s *scanner) text() string {
	s.literal(`"`)
	for i, c := range s.rest {
		switch {
		case c == '"':
			text := string(s.rest[:i])
			s.rest = s.rest[i+1:]
			return text
		case c < ' ', c == '\\':
			s.ok = false
			return ""
		}
	}
	s.ok = false
	return ""
}

func (s *scanner) optional() *string {
	if s.next("null") {
		return nil
	}
	text := s.text()
	return &text
}

func (s *scanner) texts() []string {
	if s.next("null") {
		return nil
	}
	s.literal(`[`)
	list := []string{}
	if s.next(`]`) {
		return list
	}
	for s.ok {
		list = append(list, s.text())
		if s.next(`]`) {
			break
		}
		s.literal(`,`)
	}
	return list
}

// number eats an integer as JSON writes one: no plus, no leading zero, no -0.
func (s *scanner) number() string {
	end := 0
	if end < len(s.rest) && s.rest[end] == '-' {
		end++
	}
	first := end
	for end < len(s.rest) && '0' <= s.rest[end] && s.rest[end] <= '9' {
		end++
	}
	if end == first || s.rest[first] == '0' && (end > first+1 || first > 0) {
		s.ok = false
	}
	text := string(s.rest[:end])
	s.rest = s.rest[end:]
	return text
}

func (s *scanner) signed() int64 {
	n, err := strconv.ParseInt(s.number(), 10, 64)
	s.ok = s.ok && err == nil
	return n
}

func (s *scanner) unsigned() uint64 {
	n, err := strconv.ParseUint(s.number(), 10, 64)
	s.ok = s.ok && err == nil
	return n
}
