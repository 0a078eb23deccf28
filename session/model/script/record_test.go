package script

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agent-lsp/agent-lsp/session/clock"
	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/agent-lsp/agent-lsp/session/model/httpmodel/wiretest"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

// talk asks a model for a conversation of some rounds, each of which adds to the
// messages of the one before, and returns what was said.
func talk(t *testing.T, m model.Model, rounds int, change func(*model.Request)) []string {
	t.Helper()
	messages := []jsontext.Value{jsontext.Value(`{"role":"system","content":"s"}`), jsontext.Value(`{"role":"user","content":"do it"}`)}
	var got []string
	for round := range rounds {
		req := model.Request{Step: fmt.Sprintf("1/%d", round+1), Messages: messages, Tools: wiretest.Tools()}
		if change != nil {
			change(&req)
		}
		resp, err := m.Respond(t.Context(), req, nil)
		if err != nil {
			return append(got, "error: "+err.Error())
		}
		got = append(got, *resp.Text)
		messages = append(messages[:len(messages):len(messages)],
			jsontext.Value(fmt.Sprintf(`{"role":"assistant","content":%q}`, *resp.Text)),
			jsontext.Value(fmt.Sprintf(`{"role":"tool","content":"result %d"}`, round)))
	}
	return got
}

// recording records a conversation and returns the file.
func recording(t *testing.T, inner string, rounds int, secrets ...string) (path string, said []string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "r.yaml")
	r := Record(New(mustParse(t, inner), clock.NewVirtual(Epoch)), path, time.Time{}, secrets...)
	said = talk(t, r, rounds, nil)
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	return path, said
}

func replay(t *testing.T, path string) *Model {
	t.Helper()
	s, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	s.Name = filepath.Base(s.Name)
	return New(s, clock.NewVirtual(Epoch))
}

const threeAnswers = "version: 1\nentries:\n  - {text: one, latency: 3s}\n  - {text: two}\n  - {text: three}\n"

func TestARecordingIsAScript(t *testing.T) {
	path, said := recording(t, threeAnswers, 3)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := `version: 1
entries:
  - when: "1/1"
    text: "one"
    finish: "stop"
    provider_id: "script-1"
    request:
      tools: "T"
      messages: "system:M user:M"
  - when: "1/2"
    text: "two"
    finish: "stop"
    provider_id: "script-2"
    request:
      tools: "T"
      messages: "1-2 assistant:M tool:M"
  - when: "1/3"
    text: "three"
    finish: "stop"
    provider_id: "script-3"
    request:
      tools: "T"
      messages: "1-4 assistant:M tool:M"
`
	got := string(data)
	for _, e := range replay(t, path).script.Entries {
		got = strings.ReplaceAll(got, e.Request.Tools, "T")
		for _, m := range e.Request.Messages {
			_, digest, _ := strings.Cut(m, ":")
			got = strings.ReplaceAll(got, digest, "M")
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if runtime.GOOS != "windows" {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v %v", info.Mode(), err)
		}
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
	m := replay(t, path)
	if d := cmp.Diff(said, talk(t, m, 3, nil)); d != "" {
		t.Error(d)
	}
	if err := m.Leftover(); err != nil {
		t.Error(err)
	}
}

func TestAReplayStopsAtTheFirstMessageThatDiffers(t *testing.T) {
	path, _ := recording(t, threeAnswers, 3)
	for name, tt := range map[string]struct {
		change func(*model.Request)
		want   string
	}{
		"changed": {func(r *model.Request) {
			r.Messages[3] = jsontext.Value(`{"role":"tool","content":"another result"}`)
		}, "error: model answered bad_request: script entry 2 (r.yaml:10) was recorded for another request at step 1/2: " +
			"message 4 differs: recorded tool:…, now tool:…, which begins \"another result\""},
		"added": {func(r *model.Request) {
			r.Messages = append(r.Messages, jsontext.Value(`{"role":"user","content":"sk-abcdefghijklmnopqrst and"}`))
		}, "error: model answered bad_request: script entry 2 (r.yaml:10) was recorded for another request at step 1/2: " +
			"message 5 (user) was not there: the request has 5 messages, the recorded one had 4; it begins \"[redacted] and\""},
		"missing": {
			func(r *model.Request) { r.Messages = r.Messages[:3] },
			"error: model answered bad_request: script entry 2 (r.yaml:10) was recorded for another request at step 1/2: " +
				"message 4 (tool) is missing: the request has 3 messages, the recorded one had 4",
		},
		"tools": {
			func(r *model.Request) { r.Tools = r.Tools[1:] },
			"error: model answered bad_request: script entry 2 (r.yaml:10) was recorded for another request at step 1/2: " +
				"the messages are the same, but the tools differ: recorded ",
		},
		"another model": {func(r *model.Request) { r.Profile.Model = "other" }, ""},
		"forms of reasoning": {func(r *model.Request) {
			r.Messages[2] = jsontext.Value(`{"role":"assistant","content":"one","reasoning":"hm","_sealed":{"by":"x"}}`)
		}, ""},
		"cache marks": {func(r *model.Request) {
			r.Messages[0] = jsontext.Value(`{"content":[{"type":"text","text":"s","cache_control":{"type":"ephemeral"}}],"role":"system"}`)
			r.Messages[1] = jsontext.Value(`{"role": "user", "cache_control": {}, "content": "d\u006f it"}`)
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := talk(t, replay(t, path), 3, func(r *model.Request) {
				if r.Step == "1/2" {
					r.Messages = append([]jsontext.Value(nil), r.Messages...)
					tt.change(r)
				}
			})
			if tt.want == "" {
				if d := cmp.Diff([]string{"one", "two", "three"}, got); d != "" {
					t.Error(d)
				}
				return
			}
			last := got[len(got)-1]
			last = regexp.MustCompile(`tool:[0-9a-f]{16}`).ReplaceAllString(last, "tool:…")
			if len(got) != 2 || !strings.HasPrefix(last, tt.want) {
				t.Errorf("got  %s\nwant %s", last, tt.want)
			}
		})
	}
}

func TestAStepAskedAgainGetsItsOwnAnswer(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.yaml")
	r := Record(New(mustParse(t, threeAnswers), clock.NewVirtual(Epoch)), path, Epoch)
	// One step of three asks: the first two of the same request.
	asks := []string{"1/1 same", "1/1 same", "1/1 other"}
	check(t, r, asks, []string{"one", "two", "three"})

	check(t, replay(t, path), asks, []string{"one", "two", "three"})
	// A process that died in the third ask, and did not tell of the others.
	check(t, replay(t, path), []string{"1/1 other"}, []string{"three"})
	// One that died in the second ask.
	m := replay(t, path)
	m.Answered("1/1", "script-1")
	check(t, m, asks[1:], []string{"two", "three"})
	// One ask more than was recorded.
	check(t, replay(t, path), append(asks, "1/1 same")[:4], []string{
		"one", "two", "three",
		"error: model answered bad_request: script r.yaml has no entry for step 1/1: all of its entries are used up to the last, entry 3",
	})
}

func TestFailuresAreRecorded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.yaml")
	inner := New(mustParse(t, `
version: 1
entries:
  - {fail: {kind: error, error: overloaded, message: "key sk-abcdefghijklmnopqrst is busy"}}
  - {fail: {kind: timeout}}
  - {fail: {kind: error, error: cancelled}}
  - {fail: {kind: hang}, stream: [soon]}
  - {text: at last}
`), clock.NewVirtual(Epoch))
	r := Record(inner, path, Epoch)
	check(t, r, []string{"1/1", "1/1", "1/1"}, []string{
		"error: model answered overloaded: key sk-abcdefghijklmnopqrst is busy",
		"error: model answered timeout: the script says so",
		"error: model answered cancelled: the script says so",
	})
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := r.Respond(ctx, says("1/1", ""), func(model.Delta) { cancel() }); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	check(t, r, []string{"1/1"}, []string{"at last"})
	check(t, replay(t, path), []string{"1/1", "1/1", "1/1"}, []string{
		"error: model answered overloaded: key [redacted] is busy",
		"error: model answered timeout: the script says so",
		"at last",
	})
}

// oneReply is a model with one reply.
type oneReply model.Response

func (a oneReply) Respond(context.Context, model.Request, func(model.Delta)) (model.Response, error) {
	return model.Response(a), nil
}

func TestARecordingHoldsNoSecret(t *testing.T) {
	const given = `pa"ss` + "\n" + `word`
	shapes := []string{
		"sk-proj-AbCdEfGhIjKlMnOp0123", "sk-ant-api03-AbCdEfGhIjKlMnOp", "ghp_AbCdEfGhIjKlMnOpQrStUvWx", "AKIAABCDEFGHIJKLMNOP",
		"AIzaAbCdEfGhIjKlMnOpQrStUvWxYz0123456", "xoxb-1234567890-abcdef", "eyJhbGciOiJI.eyJzdWIiOiIx.AbCdEfGhIjKl",
		"-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----",
	}
	all := given + " " + strings.Join(shapes, " ") + " Bearer AbCdEfGhIjKlMnOp0123=="
	arguments, err := jsontext.AppendQuote([]byte(`{"path":`), all)
	if err != nil {
		t.Fatal(err)
	}
	arguments = append(arguments, '}')
	a := oneReply{
		Text: &all, Reasoning: &all, Finish: all, ProviderID: all,
		Calls: []model.FunctionCall{{ID: all, Name: all, Arguments: string(arguments)}},
	}
	path := filepath.Join(t.TempDir(), "r.yaml")
	r := Record(a, path, Epoch, given, "")
	req := says("1/1", all)
	if _, err := r.Respond(t.Context(), req, nil); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range append(shapes, "word", "MIIE", "AbCdEfGhIjKl") {
		if strings.Contains(string(data), s) {
			t.Errorf("%s is in\n%s", s, data)
		}
	}
	// What a replay repeats is without secrets, and so is the fingerprint.
	clean := strings.TrimSuffix(strings.Repeat(Redacted+" ", 10), " ")
	resp, err := replay(t, path).Respond(t.Context(), says("1/1", clean), nil)
	if err != nil {
		t.Fatal(err)
	}
	if *resp.Text != clean || resp.Calls[0].Arguments != `{"path":"`+clean+`"}` {
		t.Errorf("%s %s", *resp.Text, resp.Calls[0].Arguments)
	}
}

func TestARecordingKeepsWhatTheProviderSealed(t *testing.T) {
	for sealed, want := range map[string]string{`{"by":"m","parts":[1,null]}`: `{"by":"m","parts":[1,null]}`, `{"by":"sk-abcdefghijklmnopqrst"}`: "", "{": "", "": ""} {
		a := oneReply{Text: new("x"), Finish: "stop", ProviderID: "always the same", Sealed: jsontext.Value(sealed)}
		path := filepath.Join(t.TempDir(), "r.yaml")
		r := Record(a, path, Epoch)
		check(t, r, []string{"1/1 a", "1/2 b"}, []string{"x", "x"})
		m := replay(t, path)
		for _, req := range []model.Request{says("1/1", "a"), says("1/2", "b")} {
			resp, err := m.Respond(t.Context(), req, nil)
			if err != nil || string(resp.Sealed) != want || resp.ProviderID != a.ProviderID {
				t.Errorf("%s is replayed as %+v, %v", sealed, resp, err)
			}
		}
	}
}

func TestARecordingGoesOnInAnotherProcess(t *testing.T) {
	whole, said := recording(t, threeAnswers, 3)
	path, _ := recording(t, threeAnswers, 1)
	inner := New(mustParse(t, threeAnswers), clock.NewVirtual(Epoch))
	r, err := Continue(inner, path)
	if err != nil {
		t.Fatal(err)
	}
	r.Answered("1/1", "script-1")
	var first sync.Once
	talk(t, skipping{r, &first}, 3, nil)
	if d := cmp.Diff(said, talk(t, replay(t, path), 3, nil)); d != "" {
		t.Error(d)
	}
	a, errA := os.ReadFile(whole)
	b, errB := os.ReadFile(path)
	if d := cmp.Diff(string(a), string(b)); d != "" || errA != nil || errB != nil {
		t.Error(d, errA, errB)
	}
	if _, err := Continue(inner, filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// skipping returns the first ask itself: the one before the other process.
type skipping struct {
	model.Model
	once *sync.Once
}

func (s skipping) Respond(ctx context.Context, req model.Request, delta func(model.Delta)) (resp model.Response, err error) {
	first := false
	s.once.Do(func() { first = true })
	if first {
		return model.Response{Text: new("one")}, nil
	}
	return s.Model.Respond(ctx, req, delta)
}

func TestAnUnwritableRecordingKeepsTheAnswer(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none", "r.yaml")
	r := Record(New(mustParse(t, threeAnswers), clock.NewVirtual(Epoch)), path, Epoch)
	check(t, r, []string{"1/1"}, []string{"one"})
	if err := r.Err(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(r.Save(), r.Err()); err != nil {
		t.Error(err)
	}
	check(t, replay(t, path), []string{"1/1"}, []string{"one"})
}

func TestARecordingStaysSmall(t *testing.T) {
	const rounds = 60
	inner := "version: 1\nentries:\n" + strings.Repeat("  - {text: a}\n", rounds)
	path, _ := recording(t, inner, rounds)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if perEntry := info.Size() / rounds; perEntry > 250 {
		t.Errorf("%d bytes an entry", perEntry)
	}
}

func FuzzEveryTextSurvivesTheFile(f *testing.F) {
	for _, s := range []string{"", "a", "a\nb", "a\nb\n", "a\n\nb\n\n", " a\nb", "a \nb", "a\r\nb", "\ta\nb", "- a\n- b: c # d\n", "a\u2028b\u0085\ufeff", "|-\n  x", "---\n...\n", "\x00\x7f", "🦊\nx", "a\n \nb", "~\nnull", "a\n\tb", "'\"\\\n"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		a, b = strings.ToValidUTF8(a, "?"), strings.ToValidUTF8(b, "?")
		sealed, _ := jsontext.AppendQuote(nil, a)
		e := &Entry{When: "1/1", Text: &a, Sealed: sealed, Reasoning: &b, Finish: a, Calls: []model.FunctionCall{{ID: "i", Name: b, Arguments: a}, {Arguments: b}}, ProviderID: "p"}
		if e.Finish == "" {
			e.Finish = "tool_calls"
		}
		data := appendEntry(appendHead(nil, Epoch), e, &known{})
		s, err := Parse("f", data)
		if err != nil {
			t.Fatalf("%v in\n%s", err, data)
		}
		e.Line = 4
		if d := cmp.Diff(*e, s.Entries[0]); d != "" {
			t.Errorf("%s in\n%s", d, data)
		}
	})
}
