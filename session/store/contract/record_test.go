package contract

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
)

var sample = Session{
	ID: uuid.MustParse("00000000-0000-0000-0000-00000000002a"), Subject: "operator", Harness: "claude",
	Root: "/src/é", Account: new("me"), Title: new(""), Commands: []string{"go test", "漢字"},
	CreatedAt: time.UnixMicro(-5).UTC(), UpdatedAt: time.UnixMicro(1796033248263367).UTC(), Turns: 1<<64 - 1,
}

func TestRecordsReadBack(t *testing.T) {
	for name, s := range map[string]Session{"full": sample, "bare": {}, "no commands": {Commands: []string{}}} {
		data, err := EncodeRecord(s)
		if err != nil {
			t.Fatal(err)
		}
		got, err := DecodeRecord(s.ID.String(), data)
		if diff := cmp.Diff(s, got); err != nil || diff != "" {
			t.Errorf("%s: %v, %s", name, err, diff)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	data, err := EncodeRecord(sample)
	if err != nil {
		t.Fatal(err)
	}
	id := sample.ID.String()
	for name, c := range map[string]struct{ id, data string }{
		"empty":          {id, ""},
		"cut":            {id, string(data[:len(data)-1])},
		"trailing":       {id, string(data) + "{}"},
		"unknown member": {id, strings.Replace(string(data), `"root"`, `"roof"`, 1)},
		"invalid UTF-8":  {id, strings.Replace(string(data), "operator", "\xff", 1)},
		"another's id":   {uuid.NewString(), string(data)},
		"no UUID":        {"x", strings.Replace(string(data), id, "x", 1)},
		"upper case":     {strings.ToUpper(id), strings.Replace(string(data), id, strings.ToUpper(id), 1)},
		"in braces":      {"{" + id + "}", strings.Replace(string(data), id, "{"+id+"}", 1)},
		"no hyphens":     {strings.ReplaceAll(id, "-", ""), strings.Replace(string(data), id, strings.ReplaceAll(id, "-", ""), 1)},
		"negative turns": {id, strings.Replace(string(data), "18446744073709551615", "-1", 1)},
	} {
		if s, err := DecodeRecord(c.id, []byte(c.data)); err == nil {
			t.Errorf("%s: decoded to %+v", name, s)
		}
	}
}

func TestInstantsOutOfRangeAreRefused(t *testing.T) {
	for _, at := range []time.Time{time.Unix(1<<60, 0), time.Unix(-1<<60, 0)} {
		if us, err := Micros(at); err == nil {
			t.Errorf("%v is stored as %d", at, us)
		}
	}
	for _, at := range []time.Time{{}, time.Unix(0, 0), time.Date(9999, 12, 31, 23, 59, 59, 999999999, time.UTC)} {
		if us, err := Micros(at); err != nil || !Instant(us).Equal(at.Truncate(time.Microsecond)) {
			t.Errorf("%v is stored as %d, %v", at, us, err)
		}
	}
}

func TestFaultKeepsRefusals(t *testing.T) {
	cause := errors.New("cause")
	got := Fault(t.Context(), "place", "op", cause)
	var failure *BackendError
	if !errors.As(got, &failure) || !errors.Is(got, cause) || got.Error() != "store place: op: cause" {
		t.Errorf("a cause becomes %v", got)
	}
	for _, err := range []error{&NotFoundError{}, &LeasedError{}, failure, nil} {
		if got := Fault(t.Context(), "place", "op", err); got != err { //nolint:errorlint // the very same value
			t.Errorf("%v becomes %v", err, got)
		}
	}
}
