package lsptest

import (
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/agent-lsp/agent-lsp/lsp/text"
	"github.com/go-json-experiment/json/jsontext"
	"go.lsp.dev/protocol"
)

// list is a flag that may be given several times.
type list []string

func (l *list) String() string     { return strings.Join(*l, ",") }
func (l *list) Set(v string) error { *l = append(*l, v); return nil }

// clients are the habits of real ones.
var clients = map[string]Options{
	"neovim": {
		Encodings: []text.Encoding{text.UTF8, text.UTF16, text.UTF32}, Edits: EditStaleTrue,
		VersionStep: 5, ZeroVersion: true, EmptyLine: true, NoContent: true,
		// It takes documentChanges and does not say so.
		Capabilities: jsontext.Value(`{"workspace":{"workspaceEdit":{"documentChanges":false,"failureHandling":null},"didChangeWatchedFiles":{"dynamicRegistration":false}}}`),
	},
	"vscode": {Edits: EditAfter},
	"helix":  {Encodings: []text.Encoding{text.UTF8, text.UTF32, text.UTF16}, NoContent: true},
	"eglot": {
		Encodings: []text.Encoding{text.UTF32, text.UTF8, text.UTF16}, NoCreate: true, NoContent: true,
		Capabilities: jsontext.Value(`{"workspace":{"workspaceEdit":{"failureHandling":null}}}`),
	},
}

// Client is the habits of a real editor: neovim, vscode, helix or eglot.
func Client(name string) (o Options, ok bool) {
	o, ok = clients[name]
	return o, ok
}

// startFlags are those of "lsp start", as they were given.
type startFlags struct {
	folders, env                      list
	client, encodings, no             string
	edits, questions, creates         string
	options, settings, capabilities   string
	transcript, approvals, saves, raw bool
	step                              int
}

func (x *startFlags) parse(args []string) (rest []string, err error) {
	f := flag.NewFlagSet("lsp start", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.Var(&x.folders, "folder", "")
	f.Var(&x.env, "env", "")
	for name, to := range map[string]*string{
		"client": &x.client, "encoding": &x.encodings, "no": &x.no,
		"edits": &x.edits, "questions": &x.questions, "progress": &x.creates,
		"options": &x.options, "settings": &x.settings, "capabilities": &x.capabilities,
	} {
		f.StringVar(to, name, "", "")
	}
	for name, to := range map[string]*bool{"transcript": &x.transcript, "approvals": &x.approvals, "saves": &x.saves, "uninitialized": &x.raw} {
		f.BoolVar(to, name, false, "")
	}
	f.IntVar(&x.step, "step", 0, "")
	err = f.Parse(args)
	return f.Args(), err
}

// start is "lsp start".
func (s *script) start(args []string) {
	if s.editors[s.name] != nil {
		s.ts.Fatalf("editor %q is running", s.name)
	}
	var x startFlags
	command, err := x.parse(args)
	s.ts.Check(err)
	e := Start(s.ts, s.command(command, x.env), s.options(x))
	s.editors[s.name] = e
	if !x.raw {
		s.print(pretty(e.Initialize()))
	}
}

// options makes an editor of flags, beginning with a client's habits.
func (s *script) options(x startFlags) Options {
	var o Options
	if x.client != "" {
		var ok bool
		if o, ok = Client(x.client); !ok {
			s.ts.Fatalf("unknown client %q", x.client)
		}
	}
	if x.encodings != "" {
		o.Encodings = nil
	}
	for _, name := range split(x.encodings) {
		e, err := text.ParseEncoding(protocol.PositionEncodingKind(name))
		s.ts.Check(err)
		o.Encodings = append(o.Encodings, e)
	}
	for _, name := range split(x.no) {
		lack, ok := o.lacks()[name]
		if !ok {
			s.ts.Fatalf("nothing is called %q that an editor may lack", name)
		}
		*lack = true
	}
	o.Transcript, o.Approvals, o.SavesEdits = x.transcript, x.approvals, x.saves
	o.Creates = ProgressAnswer(x.creates)
	if x.edits != "" {
		o.Edits = EditAnswer(x.edits)
	}
	for _, q := range split(x.questions) {
		o.Questions = append(o.Questions, QuestionAnswer(q))
	}
	if x.step != 0 {
		o.VersionStep = int32(x.step)
	}
	if x.options != "" {
		o.InitializationOptions = s.json([]string{x.options})
	}
	if x.settings != "" {
		s.decodeInto(s.json([]string{x.settings}), &o.Settings)
	}
	if x.capabilities != "" {
		o.Capabilities = s.json([]string{x.capabilities})
	}
	o.Folders = s.folders(x.folders)
	return o
}

func (s *script) folders(dirs []string) []string {
	if len(dirs) == 0 {
		return []string{s.work}
	}
	var out []string
	for _, d := range dirs {
		if d != "none" {
			out = append(out, filepath.Clean(s.path(d)))
		}
	}
	return out
}

func (o *Options) lacks() map[string]*bool {
	return map[string]*bool{
		"applyEdit": &o.NoApplyEdit, "documentChanges": &o.NoDocumentChanges, "create": &o.NoCreate,
		"progress": &o.NoProgress, "showDocument": &o.NoShowDocument, "content": &o.NoContent,
		"configuration": &o.NoConfiguration, "registration": &o.NoRegistration,
	}
}

func split(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, ",")
}

// command is the server's, found on the script's path.
func (s *script) command(args []string, env []string) *exec.Cmd {
	if len(args) == 0 {
		args = []string{"agent-lsp"}
	}
	name := args[0]
	if !strings.ContainsAny(name, `/\`) {
		for _, dir := range filepath.SplitList(s.ts.Getenv("PATH")) {
			for _, ext := range []string{"", ".exe"} {
				full := filepath.Join(dir, name+ext)
				if st, err := os.Stat(full); err == nil && !st.IsDir() && name == args[0] {
					name = full
				}
			}
		}
	}
	cmd := exec.Command(name, args[1:]...)
	cmd.Dir = s.work
	for _, v := range s.env {
		cmd.Env = append(cmd.Env, v+"="+s.ts.Getenv(v))
	}
	cmd.Env = append(cmd.Env, env...)
	return cmd
}
