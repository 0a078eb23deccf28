package projection

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/agent-lsp/agent-lsp/session/history"
	"github.com/google/go-cmp/cmp"
)

// file is a Blob that counts how often it was asked anything.
type file struct {
	name  string
	data  []byte
	size  int64 // declared; -1 for unknown
	blind bool  // returns nothing
	asked *int
}

func (f file) Name() string { return f.name }

func (f file) Size(context.Context) (int64, bool) {
	f.count()
	if f.size != 0 {
		return f.size, f.size > 0
	}
	return int64(len(f.data)), !f.blind
}

func (f file) Head(context.Context) ([]byte, bool) {
	f.count()
	return f.data[:min(16, len(f.data))], !f.blind
}

func (f file) ReadAll(context.Context) ([]byte, bool) {
	f.count()
	return f.data, !f.blind
}

func (f file) count() {
	if f.asked != nil {
		*f.asked++
	}
}

// barred is a file that may not be shown, and may not be asked for either.
type barred struct{ file }

func (barred) Barred(context.Context) (string, bool) { return "it was refused", true }

func (barred) ReadAll(context.Context) ([]byte, bool) { panic("read") }

// shots are files by the text of a user's message and by the name of a call.
type shots map[string][]Blob

func (s shots) MessageMedia(_ context.Context, m history.Message) []Blob { return s[m.Text] }

func (s shots) CallMedia(_ context.Context, calls []history.Call) []Blob {
	var out []Blob
	for _, c := range calls {
		out = append(out, s[c.Name]...)
	}
	return out
}

// skippedNote appends how many files were skipped, and the user's text before.
type skippedNote struct{}

func (skippedNote) AppendedText(_ context.Context, m history.Message, prev *history.Message, skipped []int) (string, bool) {
	out := ""
	if len(skipped) > 0 {
		out = fmt.Sprintf("\n[files: %v]", skipped)
	}
	if strings.HasPrefix(m.Text, "after") {
		out += "\n[after nothing]"
		if prev != nil {
			out = strings.Replace(out, "nothing", prev.Text, 1)
		}
	}
	return out, out != ""
}

func png(n int) []byte {
	return append([]byte("\x89PNG\r\n\x1a\n"), bytes.Repeat([]byte{0xaa}, n-8)...)
}

func b64(data []byte) string { return base64.StdEncoding.EncodeToString(data) }

func image(data []byte) string {
	return `{"type":"image_url","image_url":{"url":"data:image/png;base64,` + b64(data) + `"}}`
}

var (
	sees    = Model{Capabilities: []string{"document", "video", "vision"}}
	pixels  = png(20)
	shot    = file{name: "shot.png", data: pixels}
	clip    = file{name: "clip.mp4", data: []byte("\x00\x00\x00\x18ftypmp42........")}
	paper   = file{name: "a \"b\".pdf", data: []byte("%PDF-1.7 ........")}
	nothing = file{name: "secret.png", blind: true}
)

func TestMediaIsShownInTheCurrentTurn(t *testing.T) {
	asked := 0
	old := file{name: "old.png", data: pixels, asked: &asked}
	media := shots{"old picture": {old}, "new picture": {shot, clip, paper}}
	h := talk(say("old picture"), reply("seen"), say("new picture"))
	check(t, given{history: h, model: sees, hooks: Hooks{Media: media, Extras: skippedNote{}}}, `
{"role":"user","content":"old picture\n[files: [0]]"}
{"role":"assistant","content":"seen"}
{"role":"user","content":[{"type":"text","text":"new picture"},`+image(pixels)+`,{"type":"video_url","video_url":{"url":"data:video/mp4;base64,`+b64(clip.data)+`"}},{"type":"file","file":{"filename":"a \"b\".pdf","file_data":"data:application/pdf;base64,`+b64(paper.data)+`"}}]}`)
	if asked != 0 {
		t.Errorf("a file of a previous turn was asked %d times", asked)
	}
	h.Messages = append(h.Messages, reply("", call("c1", "x", history.Done, "r")), reply("", call("c2", "x", history.Done, "r")))
	if got := wireOf(t, given{history: h, model: sees, hooks: Hooks{Media: media}})[2]; !strings.Contains(got, image(pixels)) {
		t.Errorf("the picture is gone in a later round: %s", got)
	}
}

func TestAPromptQueuedInMidTurnDoesNotHideTheTurnsMedia(t *testing.T) {
	h := talk(say("picture"), reply("", call("c1", "x", history.Done, "r")), say("and hurry"), reply("", call("c2", "x", history.Done, "r")))
	media := Hooks{Media: shots{"picture": {shot}}}
	shown := func() bool {
		return strings.Contains(wireOf(t, given{history: h, model: sees, hooks: media})[0], image(pixels))
	}
	if !shown() {
		t.Error("a message in mid-turn hides the picture")
	}
	h.Messages[1].Calls[0].State = history.Cancelled
	if shown() {
		t.Error("a turn that was cancelled still shows its picture")
	}
	h.Messages[1].Calls[0].State = history.Done
	for i, turn := range []uint64{1, 1, 2, 2} {
		h.Messages[i].Turn = turn
	}
	if shown() {
		t.Error("the turn before still shows its picture")
	}
}

func TestCapabilitiesGateEachKind(t *testing.T) {
	media := Hooks{Media: shots{"look": {shot, clip, paper, nothing}}, Extras: skippedNote{}}
	for _, c := range []struct{ capabilities, want string }{
		{"", `{"role":"user","content":"look\n[files: [0 1 2 3]]"}`},
		{"audio", `{"role":"user","content":"look\n[files: [0 1 2 3]]"}`},
		{"vision", `{"role":"user","content":[{"type":"text","text":"look\n[files: [1 2 3]]"},` + image(pixels) + `]}`},
		{"video", `{"role":"user","content":[{"type":"text","text":"look\n[files: [0 2 3]]"},{"type":"video_url","video_url":{"url":"data:video/mp4;base64,` + b64(clip.data) + `"}}]}`},
		{"document", `{"role":"user","content":[{"type":"text","text":"look\n[files: [0 1 3]]"},{"type":"file","file":{"filename":"a \"b\".pdf","file_data":"data:application/pdf;base64,` + b64(paper.data) + `"}}]}`},
	} {
		check(t, given{history: talk(say("look")), model: Model{Capabilities: []string{c.capabilities}}, hooks: media}, c.want)
	}
	asked := 0
	media = Hooks{Media: shots{"look": {file{name: "a.png", data: pixels, asked: &asked}}}}
	check(t, given{history: talk(say("look")), hooks: media}, `{"role":"user","content":"look"}`)
	if asked != 0 {
		t.Errorf("a file that the model cannot see was asked %d times", asked)
	}
}

func TestToolMediaFollowsTheResults(t *testing.T) {
	media := Hooks{Media: shots{"screenshot": {shot, nothing}, "after": {shot}}}
	h := talk(say("go"), reply("", call("c1", "screenshot", history.Done, "image"), call("c2", "x", history.Done, "r")))
	h.Activations = []history.Activation{activation(2, "send")}
	const head = `
{"role":"user","content":"go"}
{"role":"assistant","content":"","tool_calls":[{"id":"c1","type":"function","function":{"name":"screenshot","arguments":"{}"}},{"id":"c2","type":"function","function":{"name":"x","arguments":"{}"}}]}
{"role":"tool","tool_call_id":"c1","content":"image"}
{"role":"tool","tool_call_id":"c2","content":"r"}`
	check(t, given{history: h, model: sees, hooks: media}, head+`
{"role":"user","content":[`+image(pixels)+`]}`)
	block := sees
	block.Rendering = SystemToolBlock
	check(t, given{history: h, model: block, hooks: media}, head+`
{"role":"user","content":[`+image(pixels)+`]}
{"role":"system","tools":[{"type":"function","function":{"name":"send"}}]}`)
	check(t, given{history: h, hooks: media}, head)
	// A message in mid-turn joins the pictures, its text first.
	h.Messages = append(h.Messages, say("after"), say("and more"))
	check(t, given{history: h, model: sees, hooks: media}, head+`
{"role":"user","content":[{"type":"text","text":"after\n\nand more"},`+image(pixels)+`,`+image(pixels)+`]}`)
	h.Messages = append(h.Messages, reply("done"), say("next"))
	check(t, given{history: h, model: sees, hooks: media}, head+`
{"role":"user","content":"after\n\nand more"}
{"role":"assistant","content":"done"}
{"role":"user","content":"next"}`)
}

func TestTextFoldsIntoTheTextBeforeThePictures(t *testing.T) {
	media := Hooks{Media: shots{"one": {shot}, "": {shot}}}
	check(t, given{history: talk(say("zero"), say("one"), say("two")), model: sees, hooks: media}, `
{"role":"user","content":[{"type":"text","text":"zero\n\none\n\ntwo"},`+image(pixels)+`]}`)
	check(t, given{history: talk(say("")), model: sees, hooks: media}, `{"role":"user","content":[`+image(pixels)+`]}`)
}

func TestTheBudgetHoldsForTheWholeTurn(t *testing.T) {
	six := []Blob{shot, shot, shot, shot, shot, shot}
	check(t, given{history: talk(say("six")), model: sees, hooks: Hooks{Media: shots{"six": six}, Extras: skippedNote{}}}, `
{"role":"user","content":[{"type":"text","text":"six\n[files: [4 5]]"},`+strings.Repeat(image(pixels)+",", 3)+image(pixels)+`]}`)
	count := func(g given) int { return strings.Count(strings.Join(wireOf(t, g), ""), "data:image/png") }
	h := talk(say("three"), reply("", call("c1", "three", history.Done, "r")), reply("", call("c2", "three", history.Done, "r")))
	three := Hooks{Media: shots{"three": six[:3]}}
	if got := count(given{history: h, model: sees, hooks: three}); got != 4 {
		t.Errorf("%d pictures in a turn, want 4", got)
	}
	total := with(func(c *Config) { c.Media.MaxTotal = int64(2*len(pixels) + 1) })
	if got := count(given{history: h, model: sees, hooks: three, config: total}); got != 2 {
		t.Errorf("%d pictures in a turn, want 2", got)
	}
}

func TestOverLimitMediaBecomesANote(t *testing.T) {
	big, small := file{name: "big.png", data: png(72)}, file{name: "small.png", data: png(20)}
	budget := func(change func(*MediaBudget)) *Config { return with(func(c *Config) { change(&c.Media) }) }
	for _, c := range []struct {
		name   string
		files  []Blob
		config *Config
		shown  int
		note   string
	}{
		{"of a kind", []Blob{big, small}, budget(func(b *MediaBudget) { b.MaxImage = 71 }), 1, `\n[big.png is not shown: it has 72 bytes, the limit is 71]`},
		{"at the limit", []Blob{big, small}, budget(func(b *MediaBudget) { b.MaxImage = 72 }), 2, ``},
		{"encoded", []Blob{big, small}, budget(func(b *MediaBudget) { b.MaxEncoded = 95 }), 1, `\n[big.png is not shown: it has 96 bytes encoded, the limit is 95]`},
		{"encoded, at the limit", []Blob{big, small}, budget(func(b *MediaBudget) { b.MaxEncoded = 96 }), 2, ``},
		{"total; a smaller one still fits", []Blob{big, big, small}, budget(func(b *MediaBudget) { b.MaxTotal = 100 }), 2, `\n[big.png is not shown: the files of a turn have at most 100 bytes]`},
		{"count", []Blob{small, small}, budget(func(b *MediaBudget) { b.MaxParts = 1 }), 1, `\n[small.png is not shown: a turn shows at most 1 files]`},
		{"grown since", []Blob{file{name: "g.png", data: png(72), size: 20}}, budget(func(b *MediaBudget) { b.MaxImage = 71 }), 0, `\n[g.png is not shown: it has 72 bytes, the limit is 71]`},
		{"barred", []Blob{barred{file{name: "x.png", data: png(20)}}, small}, budget(func(b *MediaBudget) { b.MaxParts = 1 }), 1, `\n[x.png is not shown: it was refused]`},
		{"unknown size", []Blob{file{name: "u.png", data: png(72), size: -1}}, nil, 0, ``},
		{"no answers", []Blob{nothing, nil}, nil, 0, ``},
		{"of no known type", []Blob{file{name: "a\n.bmp", data: []byte("BM..............")}}, nil, 0, `\n[\"a\\n.bmp\" is not shown: its type is not supported]`},
		{"a still in a video's clothes", []Blob{file{name: "a.heic", data: []byte("\x00\x00\x00\x18ftypheic........")}}, nil, 0, `\n[a.heic is not shown: its type is not supported]`},
		{"too wide", []Blob{file{name: "w.png", data: header(9000, 10, true)}}, nil, 0, `\n[w.png is not shown: it is 9000 by 10 pixels, the limit of a side is 8000]`},
		{"cut short", []Blob{file{name: "t.png", data: header(90, 10, false)}}, nil, 0, `\n[t.png is not shown: it is cut short]`},
		{"by its content, whatever its name", []Blob{file{name: "a.jpg", data: header(90, 10, true)}}, nil, 1, ``},
	} {
		t.Run(c.name, func(t *testing.T) {
			silent := with(func(cfg *Config) {
				if c.config != nil {
					*cfg = *c.config
				}
			})
			cfg := with(func(cfg *Config) { *cfg = *silent; cfg.Media.Notes = true })
			g := given{history: talk(say("look")), model: sees, config: cfg, hooks: Hooks{Media: shots{"look": c.files}}}
			got := wireOf(t, g)[0]
			if n := strings.Count(got, "data:image/png;base64,"); n != c.shown {
				t.Errorf("%d pictures, want %d: %s", n, c.shown, got)
			}
			if !strings.Contains(got, `"look`+c.note+`"`) {
				t.Errorf("note %s is not in %s", c.note, got)
			}
			g.config = silent
			if got := wireOf(t, g)[0]; !strings.Contains(got, `"look"`) {
				t.Errorf("a note that nobody wanted: %s", got)
			}
			// A tool's file is told in the last result.
			g = given{history: talk(say("go"), reply("", call("c1", "look", history.Done, "r"))), model: sees, config: cfg, hooks: g.hooks}
			if got := wireOf(t, g)[2]; !strings.Contains(got, `"content":"r`+c.note+`"`) {
				t.Errorf("note %s is not in %s", c.note, got)
			}
			if c.shown == 0 {
				if diff := cmp.Diff(3, len(wireOf(t, g))); diff != "" {
					t.Errorf("messages without a picture (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// header is a PNG of that size, with or without its end.
func header(width, height uint32, whole bool) []byte {
	b := []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR")
	b = binary.BigEndian.AppendUint32(b, width)
	b = append(binary.BigEndian.AppendUint32(b, height), 8, 2, 0, 0, 0, 0, 0, 0, 0)
	if whole {
		b = append(b, "\x00\x00\x00\x00IEND\xaeB`\x82"...)
	}
	return b
}

func TestSniff(t *testing.T) {
	for _, c := range []struct{ head, want string }{
		{"\x89PNG\r\n\x1a\n", "image/png"},
		{"\x89PNG\r\n\x1a", ""},
		{"\xff\xd8\xff\xe0", "image/jpeg"},
		{"GIF87a..", "image/gif"},
		{"GIF89a..", "image/gif"},
		{"GIF88a..", ""},
		{"RIFF....WEBPVP8 ", "image/webp"},
		{"RIFF....AVI LIST", "video/x-msvideo"},
		{"RIFF....WAVE", ""},
		{"RIFF....WEB", ""},
		{"....ftyp3gp5....", "video/3gpp"},
		{"....ftyp3g2a....", "video/3gpp"},
		{"....ftypqt  ....", "video/quicktime"},
		{"....ftypisom....", "video/mp4"},
		{"....ftypavif....", ""},
		{"....ftypheix....", ""},
		{"....ftyp", ""},
		{"\x1a\x45\xdf\xa3", "video/webm"},
		{"FLV\x01", "video/x-flv"},
		{"\x00\x00\x01\xba", "video/mpeg"},
		{"\x00\x00\x01\xb3", "video/mpeg"},
		{"%PDF-1.4", "application/pdf"},
		{"BM......", ""},
		{"", ""},
	} {
		if _, mime, _ := sniff([]byte(c.head)); mime != c.want {
			t.Errorf("sniff(%q) = %q, want %q", c.head, mime, c.want)
		}
	}
}

func TestDimensions(t *testing.T) {
	jpeg := "\xff\xd8\xff\xe0\x00\x04AB\xff\xff\xc0\x00\x11\x08\x00\x0a\x23\x28\x03"
	for _, c := range []struct {
		name, data    string
		width, height int
		cut           bool
	}{
		{"png", string(header(9, 7, true)), 9, 7, false},
		{"png without its end", string(header(9, 7, false)), 9, 7, true},
		{"png without a header", string(png(40)), 0, 0, false},
		{"jpeg", jpeg + "\xff\xd9", 9000, 10, false},
		{"jpeg without its end", jpeg, 9000, 10, true},
		{"jpeg without a frame", "\xff\xd8\xff\xe0\x00\x04AB", 0, 0, false},
		{"jpeg with a bad length", "\xff\xd8\xff\xe0\x00\x01ABCDEF", 0, 0, false},
		{"gif", "GIF89a\x28\x23\x0a\x00", 9000, 10, false},
		{"webp, extended", "RIFF....WEBPVP8X........\x27\x23\x00\x09\x00\x00", 9000, 10, false},
		{"webp, lossless", "RIFF....WEBPVP8L....\x2f\x27\xe3\x02\x00.....", 9000, 12, false},
		{"webp, lossy", "RIFF....WEBPVP8 ..........\x28\x23\x0a\x00", 9000, 10, false},
		{"webp, other", "RIFF....WEBPABCD..........\x28\x23\x0a\x00", 0, 0, false},
		{"nothing", "", 0, 0, false},
	} {
		if w, h, cut := dimensions([]byte(c.data)); w != c.width || h != c.height || cut != c.cut {
			t.Errorf("%s: %d by %d, cut %t, want %d by %d, cut %t", c.name, w, h, cut, c.width, c.height, c.cut)
		}
	}
}

func TestExtrasSeeTheUsersMessageBefore(t *testing.T) {
	h := talk(say("after a"), reply("x"), say("after b"), reply("y"), history.Message{Role: history.Agent, Text: "c"}, say("after d"))
	extras := Hooks{Extras: skippedNote{}}
	check(t, given{history: h, hooks: extras}, `
{"role":"user","content":"after a\n[after nothing]"}
{"role":"assistant","content":"x"}
{"role":"user","content":"after b\n[after after a]"}
{"role":"assistant","content":"y"}
{"role":"user","content":"c\n\nafter d\n[after c]"}`)
	// The first one that is shown has none before it.
	h.Summary = &history.Summary{Text: "s", CoveredUpTo: 2}
	check(t, given{history: h, hooks: extras, config: with(func(c *Config) { c.SummaryPrefix = "" })}, `
{"role":"system","content":"s"}
{"role":"user","content":"after b\n[after nothing]"}
{"role":"assistant","content":"y"}
{"role":"user","content":"c\n\nafter d\n[after c]"}`)
}

func TestAContextThatEndedGivesNoMessages(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Project(ctx, talk(say("look")), System{}, sees, Default(), Hooks{Media: shots{}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Project = %v, want %v", err, context.Canceled)
	}
	if _, err := Project(ctx, talk(say("look")), System{}, sees, Default(), Hooks{}); err != nil {
		t.Errorf("Project without hooks: %v", err)
	}
}
