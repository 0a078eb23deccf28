package contract

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"
)

// record is a Session as stored. Its instants are microseconds since 1970.
type record struct {
	ID             string   `json:"id"`
	Subject        string   `json:"subject"`
	Harness        string   `json:"harness"`
	Root           string   `json:"root"`
	Account        *string  `json:"account"`
	Title          *string  `json:"title"`
	CreatedAt      int64    `json:"created_at"`
	UpdatedAt      int64    `json:"updated_at"`
	Turns          uint64   `json:"turns"`
	MCPTokenDigest *string  `json:"mcp_token_digest"`
	Commands       []string `json:"commands"`
}

var recordOptions = json.JoinOptions(
	json.FormatNilSliceAsNull(true),
	json.RejectUnknownMembers(true),
)

// EncodeRecord returns the stored form of s, or an error naming the field that
// cannot be stored.
func EncodeRecord(s Session) ([]byte, error) {
	created, err := Micros(s.CreatedAt)
	if err != nil {
		return nil, fmt.Errorf("session %s: created at: %w", s.ID, err)
	}
	updated, err := Micros(s.UpdatedAt)
	if err != nil {
		return nil, fmt.Errorf("session %s: updated at: %w", s.ID, err)
	}
	for _, f := range []struct {
		name string
		text *string
	}{
		{"subject", &s.Subject},
		{"harness", &s.Harness},
		{"root", &s.Root},
		{"account", s.Account},
		{"title", s.Title},
		{"mcp token digest", s.MCPTokenDigest},
	} {
		if f.text == nil {
			continue
		}
		if err := CheckText(f.name, *f.text); err != nil {
			return nil, fmt.Errorf("session %s: %w", s.ID, err)
		}
	}
	for i, c := range s.Commands {
		if err := CheckText(fmt.Sprintf("command %d", i), c); err != nil {
			return nil, fmt.Errorf("session %s: %w", s.ID, err)
		}
	}
	data, err := json.Marshal(record{
		ID: s.ID.String(), Subject: s.Subject, Harness: s.Harness, Root: s.Root, Account: s.Account, Title: s.Title,
		CreatedAt: created, UpdatedAt: updated, Turns: s.Turns,
		MCPTokenDigest: s.MCPTokenDigest, Commands: s.Commands,
	}, recordOptions)
	if err != nil {
		return nil, fmt.Errorf("session %s: encode record: %w", s.ID, err)
	}
	return data, nil
}

// DecodeRecord reads what EncodeRecord wrote for the session stored under id.
func DecodeRecord(id string, data []byte) (Session, error) {
	var r record
	if err := json.Unmarshal(data, &r, recordOptions); err != nil {
		return Session{}, fmt.Errorf("decode record of session %s: %w", id, err)
	}
	if r.ID != id {
		return Session{}, fmt.Errorf("decode record of session %s: it says that it is of session %q", id, r.ID)
	}
	parsed, err := uuid.Parse(id)
	if err != nil || len(id) != canonicalLen || strings.ToLower(id) != id { // another spelling of one
		return Session{}, fmt.Errorf("decode record of session %q: the id is not a UUID", id)
	}
	return Session{
		ID: parsed, Subject: r.Subject, Harness: r.Harness, Root: r.Root, Account: r.Account, Title: r.Title,
		CreatedAt: Instant(r.CreatedAt), UpdatedAt: Instant(r.UpdatedAt), Turns: r.Turns,
		MCPTokenDigest: r.MCPTokenDigest, Commands: r.Commands,
	}, nil
}

// canonicalLen is the length of a UUID as it is written, with hyphens.
const canonicalLen = 36

// Raw is a record as it is stored.
type Raw struct {
	ID     string
	Record []byte
}

// Collect makes the listing of what is stored, in the contract's order, with
// undecodable records by raw id. It decodes on all processors.
func Collect(raw []Raw) Listing {
	decoded := make([]struct {
		Session
		err error
	}, len(raw))
	var wg sync.WaitGroup
	share := max(256, len(raw)/(4*runtime.GOMAXPROCS(0))+1)
	for from := 0; from < len(raw); from += share {
		wg.Go(func() {
			for i := from; i < min(from+share, len(raw)); i++ {
				decoded[i].Session, decoded[i].err = DecodeRecord(raw[i].ID, raw[i].Record)
			}
		})
	}
	wg.Wait()

	// Records are large: their places are sorted, and each is moved once.
	var l Listing
	type place struct {
		created int64
		at      int
	}
	order := make([]place, 0, len(raw))
	for i := range decoded {
		if err := decoded[i].err; err != nil {
			l.Undecodable = append(l.Undecodable, Undecodable{ID: raw[i].ID, Error: err.Error()})
			continue
		}
		order = append(order, place{decoded[i].CreatedAt.UnixMicro(), i})
	}
	slices.SortFunc(order, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.created, b.created), bytes.Compare(decoded[a.at].ID[:], decoded[b.at].ID[:]))
	})
	l.Sessions = make([]Session, len(order))
	for i, p := range order {
		l.Sessions[i] = decoded[p.at].Session
	}
	slices.SortFunc(l.Undecodable, func(a, b Undecodable) int { return cmp.Compare(a.ID, b.ID) })
	return l
}

// Bytes returns b, or an empty slice for nil: no bytes are not an absent value.
func Bytes(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// CheckText refuses text that not every backend can keep, naming the field.
func CheckText(field, text string) error {
	if !utf8.ValidString(text) {
		return errors.New(field + " is not valid UTF-8")
	}
	if strings.IndexByte(text, 0) >= 0 {
		return errors.New(field + " holds a NUL character")
	}
	return nil
}

// Index returns an index as databases keep it, or an error above what they can.
func Index(at uint64) (int64, error) {
	if at > math.MaxInt64 {
		return 0, fmt.Errorf("index %d is above %d", at, int64(math.MaxInt64))
	}
	return int64(at), nil
}

// CheckEvents returns the instant of events in microseconds since 1970, or an error
// for one that cannot be counted or a content type that cannot be kept.
func CheckEvents(at time.Time, ps ...Payload) (us int64, err error) {
	for _, p := range ps {
		if err := CheckText("content type", p.ContentType); err != nil {
			return 0, err
		}
	}
	return Micros(at)
}

// CheckPick refuses a pick that cannot be kept.
func CheckPick(subject, harness string) error {
	return cmp.Or(CheckText("subject", subject), CheckText("harness", harness))
}

// Micros returns t in whole microseconds since 1970, or an error for an instant
// that they cannot count.
func Micros(t time.Time) (int64, error) {
	us := t.UnixMicro()
	if d := t.Sub(time.UnixMicro(us)); d < 0 || d >= time.Microsecond {
		return 0, fmt.Errorf("the year %d cannot be stored", t.Year())
	}
	return us, nil
}

// Instant returns the UTC instant of us microseconds since 1970.
func Instant(us int64) time.Time { return time.UnixMicro(us).UTC() }

// CheckLease refuses a lease without a time or with an owner that cannot be named.
func CheckLease(owner string, ttl time.Duration) error {
	if ttl <= 0 {
		return fmt.Errorf("lease for %s: the time to live must be above zero", ttl)
	}
	if owner == "" {
		return errors.New("lease: the owner is empty")
	}
	return CheckText("lease owner", owner)
}

// LeaseMicros returns ttl in microseconds, rounded up.
func LeaseMicros(ttl time.Duration) int64 {
	return int64((ttl-1)/time.Microsecond) + 1
}
