package session

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/session/event"
	"github.com/agent-lsp/agent-lsp/session/history"
	"github.com/agent-lsp/agent-lsp/session/model"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
)

// drawn is a PNG of that many pixels and bytes; its last byte is missing when it
// is cut.
func drawn(width, height uint32, size int, cut bool) string {
	b := []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR")
	b = binary.BigEndian.AppendUint32(b, width)
	b = append(binary.BigEndian.AppendUint32(b, height), 8, 2, 0, 0, 0, 0, 0, 0, 0)
	const end = "\x00\x00\x00\x00IEND\xaeB`\x82"
	b = append(b, bytes.Repeat([]byte{0xaa}, max(0, size-len(b)-len(end)))...)
	if !cut {
		b = append(b, end...)
	}
	return string(b)
}

func dataURL(png string) string {
	return "data:image/png;base64," + base64.StdEncoding.EncodeToString([]byte(png))
}

// show prompts with files that the person points at.
func (r *rig) show(text string, paths ...string) (uuid.UUID, TurnResult) {
	r.t.Helper()
	p := Prompt{Root: r.dir, Text: text}
	for _, path := range paths {
		p.Context = append(p.Context, event.Context{Path: path})
	}
	id, turn, err := r.Prompt(r.t.Context(), p)
	if err != nil {
		r.t.Fatal(err)
	}
	return id, r.result(id, turn)
}

// seeing makes the rig's one profile take images, and keeps its requests.
func seeing(t *testing.T, r *rig, vision bool, entries string) *listening {
	t.Helper()
	r.Shutdown()
	heard := &listening{}
	inner := providers(t, map[string]string{"demo": entries})
	r.cfg.Provider = func(ctx context.Context, p model.Profile, env ProviderEnv) (model.Model, error) {
		var err error
		heard.Model, err = inner(ctx, p, env)
		return heard, err
	}
	r.cfg.Settings.Profiles = map[string]model.Profile{"demo": {Provider: "script", Vision: vision}}
	r.Manager = NewManager(r.cfg, r)
	return heard
}

func TestAPromptShowsThePicturesItPointsAt(t *testing.T) {
	small := drawn(90, 10, 80, false)
	files := map[string]string{
		"a.png": small, "b.jpg": small, "c.bmp": "BM\x00\x00............", "cut.png": drawn(90, 10, 80, true),
		"wide.png": drawn(9000, 10, 80, false), "fits.png": drawn(90, 10, 3<<20, false), "big.png": drawn(90, 10, 4000000, false),
		"notes.txt": "plain\n", "sub/d.png": small,
	}
	var forty []string
	for i := range 40 {
		name := fmt.Sprintf("n%02d.png", i)
		files[name], forty = small, append(forty, name)
	}
	for name, c := range map[string]struct {
		paths []string
		blind bool // a profile without vision
		shown []string
		notes []string
	}{
		"a picture":             {paths: []string{"a.png"}, shown: []string{"a.png"}},
		"twice the same":        {paths: []string{"a.png", "a.png"}, shown: []string{"a.png"}},
		"several":               {paths: []string{"sub/d.png", "notes.txt", "a.png"}, shown: []string{"sub/d.png", "a.png"}},
		"under another's name":  {paths: []string{"b.jpg"}, shown: []string{"b.jpg"}},
		"of no known type":      {paths: []string{"c.bmp"}, notes: []string{"[c.bmp is not shown: its type is not supported]"}},
		"cut short":             {paths: []string{"cut.png"}, notes: []string{"[cut.png is not shown: it is cut short]"}},
		"too wide":              {paths: []string{"wide.png"}, notes: []string{"[wide.png is not shown: it is 9000 by 10 pixels, the limit of a side is 8000]"}},
		"3 MiB":                 {paths: []string{"fits.png"}, shown: []string{"fits.png"}},
		"4 MB":                  {paths: []string{"big.png", "a.png"}, shown: []string{"a.png"}, notes: []string{"[big.png is not shown: it has 5333336 bytes encoded, the limit is 5242880]"}},
		"text, missing, folder": {paths: []string{"notes.txt", "gone.png", "sub", "../a.png", "untitled:x"}},
		"without vision":        {paths: []string{"a.png"}, blind: true},
		"forty":                 {paths: forty, shown: forty[:4]},
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, files, "version: 1\nentries: []\n")
			heard := seeing(t, r, !c.blind, "{text: Seen.}")
			if _, res := r.show("look", c.paths...); res.Text != "Seen." {
				t.Fatalf("turn ended %+v", res)
			}
			got := string(heard.requests[0].Messages[len(heard.requests[0].Messages)-1])
			at := 0
			for _, path := range c.shown {
				url := `{"type":"image_url","image_url":{"url":"` + dataURL(files[path]) + `"}}`
				i := strings.Index(got[at:], url)
				if i < 0 {
					t.Fatalf("%s is not shown, or not in its place: %.300s", path, got)
				}
				at += i + len(url)
			}
			if n := strings.Count(got, ";base64,"); n != len(c.shown) {
				t.Errorf("%d pictures are shown, want %d", n, len(c.shown))
			}
			if name == "forty" {
				for _, path := range forty[4:] {
					c.notes = append(c.notes, "["+path+" is not shown: a turn shows at most 4 files]")
				}
			}
			text := "look\n\n" + strings.Join(c.paths, "\n\n")
			if len(c.notes) > 0 {
				text += "\n" + strings.Join(c.notes, "\n")
			}
			if want := `"` + strings.ReplaceAll(text, "\n", `\n`) + `"`; !strings.Contains(got, want) {
				t.Errorf("the text %s is not in %.400s", want, got)
			}
		})
	}
}

func TestAPictureStaysAsItWasForItsTurnAndIsGoneInTheNext(t *testing.T) {
	first, second := drawn(9, 9, 80, false), drawn(7, 7, 90, false)
	r := start(t, map[string]string{"a.png": first, "b.png": second}, "version: 1\nentries: []\n")
	heard := seeing(t, r, true, `{calls: [{exec: {argv: [cp, b.png, a.png]}}]}, {text: Copied.}, {text: Next.}, {text: Again.}`)
	if _, res := r.show("look", "a.png"); res.Text != "Copied." {
		t.Fatalf("turn ended %+v:\n%s", res, r.kinds())
	}
	r.run("and now?")
	r.show("look again", "a.png")
	var shown []string
	for _, req := range heard.requests {
		all := ""
		for _, m := range req.Messages {
			all += string(m)
		}
		shown = append(shown, fmt.Sprint(strings.Count(all, dataURL(first)), strings.Count(all, dataURL(second))))
	}
	if d := cmp.Diff([]string{"1 0", "1 0", "0 0", "0 1"}, shown); d != "" {
		t.Errorf("the first and the second picture, by request:\n%s", d)
	}
	before, after := heard.requests[0].Messages, heard.requests[1].Messages
	for i := range before {
		if !bytes.Equal(before[i], after[i]) {
			t.Errorf("message %d changed within the turn", i)
		}
	}
	s, err := r.session(uuid.NewSHA1(uuid.NameSpaceOID, []byte("session 1")))
	if err != nil {
		t.Fatal(err)
	}
	if len(s.requests.pictures.files) != 0 {
		t.Error("the pictures of a turn that is over are still held")
	}
}

// A picture's text is not what a model counts.
func TestAPictureDoesNotFillTheWindow(t *testing.T) {
	r := start(t, map[string]string{"a.png": drawn(9, 9, 1<<20, false)}, "version: 1\nentries: []\n")
	heard := seeing(t, r, true, "{text: Hello.}, {text: Seen., usage: {input: 3000}}, {text: Bye.}")
	profile := r.cfg.Settings.Profiles["demo"]
	profile.Context, profile.MaxOutput = 8000, 100
	r.cfg.Settings.Profiles["demo"] = profile
	r.Configure(r.cfg.Settings)
	r.run("hello")
	id, res := r.show("look", "a.png")
	if res.Text != "Seen." {
		t.Fatalf("turn ended %+v", res)
	}
	if len(summaries(r)) != 0 || len(heard.requests) != 2 {
		t.Errorf("the conversation was summarized because of a picture:\n%s", r.kinds())
	}
	s, err := r.session(id)
	if err != nil {
		t.Fatal(err)
	}
	if per := s.requests.perToken(); per > 6 {
		t.Errorf("a token is taken for %.1f bytes", per)
	}
}

func TestOnlyWholeFilesOfTheRunningTurnAreLookedAt(t *testing.T) {
	r := start(t, map[string]string{"a.png": drawn(9, 9, 80, false)}, "version: 1\nentries: []\n")
	for context, want := range map[string]int{`{"path":"a.png"}`: 1, `{"path":"a.png","first":1,"last":2}`: 0} {
		for turn := range uint64(3) {
			g := requestPictures{pictures: &pictures{}, work: &workspace{Workspace: r.disk}}
			g.pictures.begin(2)
			got := g.MessageMedia(t.Context(), history.Message{Turn: turn, Metadata: jsontext.Value(`{"context":[` + context + `]}`)})
			now := want
			if turn != 2 {
				now = 0
			}
			if len(got) != now || len(g.pictures.files) != now {
				t.Errorf("%s of turn %d: %d pictures, %d files looked at, want %d", context, turn, len(got), len(g.pictures.files), now)
			}
		}
	}
}
