// Package script is the deterministic model provider: it replies from a YAML
// file. It opens no socket, reads no clock but the one of its caller and
// draws no random number, so the same script gives the same replies in every
// process. A script looks like this:
//
//	version: 1
//	epoch: 2026-01-01T00:00:00Z       # where a session's virtual clock starts
//	entries:
//	  - when: "1/1"                   # turn/round; or words of the last message
//	    text: Let me look.
//	    calls:
//	      - read: {path: main.go}
//	    usage: {input: 120, output: 18}
//	  - {text: Fixed., latency: 30s, stream: [Fix, ed.]}
//	  - {fail: {kind: error, error: overloaded, message: try later}}
//
// The reply to a request is the first unused entry whose key is its step, else
// the first unused one whose words are in its last message, else the next one
// without a key. An entry is used once.
package script

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
	"github.com/google/uuid"
)

// Version is the version of the format that this package reads and writes.
const Version = 1

// Epoch is the instant that a scripted session's virtual clock starts from when
// the script names none.
var Epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// Script is a parsed script. Replies do not change it.
type Script struct {
	Name    string // where it came from, for errors
	Digest  string // hex SHA-256 of its bytes
	Epoch   time.Time
	Entries []Entry
}

// Entry is one reply.
type Entry struct {
	Line       int    // in the script, from 1
	When       string // a step, words of the last message, or empty
	Text       *string
	Reasoning  *string
	Calls      []model.FunctionCall
	Usage      model.Usage
	Finish     string // why the reply ended; derived from the calls when the script is silent
	ProviderID string
	Sealed     jsontext.Value // the provider's own form of the reasoning, in recordings
	Latency    time.Duration
	Stream     []string // how Text arrives; joined it is Text
	Fail       *Fail    // instead of a reply
	Request    *Print   // the request when the entry was recorded
}

// Failure is how an entry fails.
type Failure string

// The failures.
const (
	FailError   Failure = "error"   // the provider returns an error
	FailTimeout Failure = "timeout" // the provider says that it timed out
	FailHang    Failure = "hang"    // nothing comes; the caller's context ends it
)

// Fail is a failure in place of a reply.
type Fail struct {
	Kind    Failure
	Error   model.ErrorKind // of FailError
	Message string
}

// ID is the nth id of a session that runs by this script: the same one in every
// process, another for each n and for a script of other bytes.
func (s *Script) ID(n int) uuid.UUID {
	return uuid.NewSHA1(idSpace, fmt.Appendf(nil, "%s/%d", s.Digest, n))
}

// idSpace sets the ids apart from those that others derive by the same method.
var idSpace = uuid.MustParse("6a1a3c8e-53a5-4f0e-9d53-7d2f6c1b0a91")

// base is the script's name without the directories of this machine, for errors that
// enter a transcript.
func (s *Script) base() string { return filepath.Base(s.Name) }

// Load reads a script from a file.
func Load(path string) (*Script, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read script: %w", err)
	}
	return Parse(path, data)
}

// Parse reads a script; name is what errors call it. Every error names the line
// and column in the form name:line:column.
func Parse(name string, data []byte) (*Script, error) {
	s, _, err := parse(name, data)
	return s, err
}

// unmarshal reads YAML strictly. The library panics on some texts that are none;
// a script may come from anywhere.
func unmarshal(data []byte, v any) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("this is not YAML that can be read (%v)", p)
		}
	}()
	return yaml.UnmarshalWithOptions(data, v, yaml.Strict())
}

// parse returns the script, and the messages that the recorded entries write out.
func parse(name string, data []byte) (*Script, known, error) {
	var f struct {
		Version *int     `yaml:"version"`
		Epoch   epoch    `yaml:"epoch"`
		Entries []*entry `yaml:"entries"`
	}
	if err := unmarshal(data, &f); err != nil {
		return nil, known{}, placed(name, err)
	}
	switch {
	case f.Version == nil:
		return nil, known{}, fmt.Errorf("%s:1:1: the script names no version: start it with \"version: %d\"", name, Version)
	case *f.Version != Version:
		return nil, known{}, fmt.Errorf("%s:1:1: the script is of version %d, this program reads version %d", name, *f.Version, Version)
	}
	sum := sha256.Sum256(data)
	s := &Script{Name: name, Digest: hex.EncodeToString(sum[:]), Epoch: time.Time(f.Epoch), Entries: make([]Entry, len(f.Entries))}
	if s.Epoch.IsZero() {
		s.Epoch = Epoch
	}
	for i, e := range f.Entries {
		if e == nil {
			return nil, known{}, fmt.Errorf("%s:1:1: entry %d is empty", name, i+1)
		}
		s.Entries[i] = e.Entry
	}
	seen, err := s.finish()
	if err != nil {
		return nil, known{}, err
	}
	return s, seen, nil
}

// finish sets the ids of typed calls and the provider's ids of replies. Both
// depend on the place in the script alone, so that they are the same in every
// process and at every resume.
func (s *Script) finish() (known, error) {
	taken := map[string]bool{}
	replies := map[string]int{}
	var seen known
	for i := range s.Entries {
		e := &s.Entries[i]
		if e.Request != nil {
			full, err := seen.expand(e.Request.Messages)
			if err != nil {
				return seen, fmt.Errorf("%s:%d:1: entry %d: %w", s.Name, e.Line, i+1, err)
			}
			e.Request.Messages = full
		}
		for _, c := range e.Calls {
			taken[c.ID] = true
		}
		if e.ProviderID == "" {
			e.ProviderID = fmt.Sprintf("script-%d", i+1)
		}
		// A server may give all its replies one id; in a script by hand that is a mistake.
		if n, ok := replies[e.ProviderID]; ok && (e.Request == nil || s.Entries[n-1].Request == nil) {
			return seen, fmt.Errorf("%s:%d:1: entry %d has the provider_id %q of entry %d", s.Name, e.Line, i+1, e.ProviderID, n)
		}
		replies[e.ProviderID] = i + 1
	}
	n := 0
	for i := range s.Entries {
		for j := range s.Entries[i].Calls {
			c := &s.Entries[i].Calls[j]
			if c.ID != pendingID {
				continue
			}
			for n++; taken[fmt.Sprintf("call_%d", n)]; n++ {
			}
			c.ID = fmt.Sprintf("call_%d", n)
		}
	}
	return seen, nil
}

// pendingID marks a typed call until its id is known. A raw call cannot have it.
const pendingID = "\x00"

var stepKey = regexp.MustCompile(`^[0-9]+/[0-9]+$`)

// isStep says whether a key is a turn and round, not words.
func isStep(when string) bool { return stepKey.MatchString(when) }

// placed puts the place of a YAML error first. A script may have secrets in its
// texts, so the source is not quoted.
func placed(name string, err error) error {
	var e yaml.Error
	if !errors.As(err, &e) {
		return fmt.Errorf("%s:1:1: %w", name, err)
	}
	line, column := 1, 1
	if t := e.GetToken(); t != nil && t.Position != nil {
		line, column = t.Position.Line, t.Position.Column
	}
	return fmt.Errorf("%s:%d:%d: %s", name, line, column, e.GetMessage())
}

// misplaced is an error at a node.
func misplaced(n ast.Node, format string, args ...any) error {
	return &yaml.SyntaxError{Message: fmt.Sprintf(format, args...), Token: start(n)}
}

// start is the token that a person takes for the node's first.
func start(n ast.Node) *token.Token {
	if m, ok := n.(*ast.MappingNode); ok && len(m.Values) > 0 {
		return m.Values[0].Key.GetToken()
	}
	return n.GetToken()
}

type epoch time.Time

func (e *epoch) UnmarshalYAML(n ast.Node) error {
	var s text
	if err := s.UnmarshalYAML(n); err != nil {
		return err
	}
	t, err := time.Parse(time.RFC3339Nano, string(s))
	if err != nil {
		return misplaced(n, "epoch %q is not an instant such as 2026-01-01T00:00:00Z", s)
	}
	*e = epoch(t.UTC())
	return nil
}
