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
		Capabilities: jsontext.Value(`{"workspace":{"workspaceEdit":{"documentChanges":false},"didChangeWatchedFiles":{"dynamicRegistration":false}}}`),
	},
	"vscode": {Edits: EditAfter},
	"helix":  {Encodings: []text.Encoding{text.UTF8, text.UTF32, text.UTF16}, NoContent: true},
	"eglot":  {Encodings: []text.Encoding{text.UTF32, text.UTF8, text.UTF16}, NoCreate: true, NoContent: true},
}

// Client is the habits of a real editor: neovim, vscode, helix or eglot.
func Client(name string) (o Options, ok bool) {
	o, ok = clients[name]
	return o, ok
}

// start is "lsp start".
func (s *script) start(args []string) {
	if s.editors[s.name] != nil {
		s.ts.Fatalf("editor %q is running", s.name)
	}
	var folders, env list
	var client, encodings, no, edits, questions, creates, options, settings, capabilities string
	var o Options
	f := flag.NewFlagSet("lsp start", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.Var(&folders, "folder", "")
	f.Var(&env, "env", "")
	f.StringVar(&client, "client", "", "")
	f.StringVar(&encodings, "encoding", "", "")
	f.StringVar(&no, "no", "", "")
	f.StringVar(&edits, "edits", "", "")
	f.StringVar(&questions, "questions", "", "")
	f.StringVar(&creates, "progress", "", "")
	f.StringVar(&options, "options", "", "")
	f.StringVar(&settings, "settings", "", "")
	f.StringVar(&capabilities, "capabilities", "", "")
	transcript := f.Bool("transcript", false, "")
	approvals := f.Bool("approvals", false, "")
	saves := f.Bool("saves", false, "")
	step := f.Int("step", 0, "")
	uninitialized := f.Bool("uninitialized", false, "")
	s.ts.Check(f.Parse(args))
	if client != "" {
		var ok bool
		if o, ok = Client(client); !ok {
			s.ts.Fatalf("unknown client %q", client)
		}
	}
	for _, name := range split(encodings) {
		e, err := text.ParseEncoding(protocol.PositionEncodingKind(name))
		s.ts.Check(err)
		o.Encodings = append(o.Encodings, e)
	}
	for _, name := range split(no) {
		lack, ok := o.lacks()[name]
		if !ok {
			s.ts.Fatalf("nothing is called %q that an editor may lack", name)
		}
		*lack = true
	}
	o.Transcript, o.Approvals, o.SavesEdits = *transcript, *approvals, *saves
	if edits != "" {
		o.Edits = EditAnswer(edits)
	}
	for _, q := range split(questions) {
		o.Questions = append(o.Questions, QuestionAnswer(q))
	}
	o.Creates = ProgressAnswer(creates)
	if *step != 0 {
		o.VersionStep = int32(*step)
	}
	if options != "" {
		o.InitializationOptions = s.json([]string{options})
	}
	if settings != "" {
		s.decodeInto(s.json([]string{settings}), &o.Settings)
	}
	if capabilities != "" {
		o.Capabilities = s.json([]string{capabilities})
	}
	for _, d := range folders {
		if d != "none" {
			o.Folders = append(o.Folders, filepath.Clean(s.path(d)))
		}
	}
	if len(folders) == 0 {
		o.Folders = []string{s.work}
	}
	e := Start(s.ts, s.command(f.Args(), env), o)
	s.editors[s.name] = e
	if !*uninitialized {
		s.print(pretty(e.Initialize()))
	}
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
