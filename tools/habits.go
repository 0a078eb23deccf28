package tools

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// habits are the names by which models call tools from habit, with the tool that is
// meant. They are written as plainHabit returns them.
var habits = byWord(map[string]string{
	"read": "readfile view viewfile openfile cat getfile getfilecontents viewsource " +
		"ls listdir listdirectory listfiles list dir",
	"search":   "grep grepsearch ripgrep rg searchfiles searchfilecontent searchcode searchtext searchforpattern",
	"find":     "glob findfile findfiles filesearch globfilesearch searchfilesbyname findbyname",
	"edit":     "strreplace strreplaceeditor strreplacebasededittool editfile replace replaceinfile searchreplace searchandreplace stringreplace",
	"write":    "writefile create createfile savefile writetofile newfile",
	"patch":    "applypatch applydiff patchfile",
	"exec":     "bash shell sh runterminalcmd runcommand executecommand terminal run runshellcommand shellcommand localshell execute cmd command runinterminal containerexec",
	"browse":   "webfetch fetch fetchurl fetchwebpage readurl openurl httpget geturl",
	"todo":     "todowrite writetodos updateplan updatetodolist todolist managetodolist",
	"question": "askuser askquestion askfollowupquestion askuserquestion",
	"job":      "bashoutput shelloutput killshell killbash readoutput",
})

// byWord turns a table of words around.
func byWord(words map[string]string) map[string]string {
	out := map[string]string{}
	for meant, names := range words {
		for name := range strings.FieldsSeq(names) {
			out[name] = meant
		}
	}
	return out
}

// lists are names of habit that list a directory, the root when they name none.
var lists = []string{"ls", "listdir", "listdirectory", "listfiles", "list", "dir"}

// members of habit, by the member that is meant; written as plainHabit returns them.
// Each counts only for a tool that has the member.
var memberHabits = map[string]string{
	"path": "filepath file filename targetfile directory dir dirpath directorypath targetdirectory folder relativeworkspacepath absolutepath relativepath workspacepath",
	"text": "content contents filetext filecontent newcontent data",
	"old":  "oldstring oldstr oldtext search find searchstring original",
	"new":  "newstring newstr newtext replace replacement replacestring",
	"all":  "replaceall allowmultiple global",
	"diff": "patch input patchtext unifieddiff patchcontent changes",
	"argv": "command cmd commandline args script",
	"cwd":  "workdir workingdirectory workingdir directory dir",

	"pattern": "query regex regexp searchpattern searchterm term q",
	"glob":    "include includepattern filepattern globpattern fileglob pattern name query includes filter",
	"context": "contextlines c",
	"max":     "maxresults headlimit limit maxcount numresults",
	"literal": "fixedstrings isliteral fixedstring",

	"offset":     "startline linestart start lineoffset fromline startlineoneindexed",
	"limit":      "numlines linecount lines maxlines",
	"url":        "uri link href",
	"background": "runinbackground isbackground",
	"items":      "todos plan todolist tasks",
	"id":         "bashid shellid jobid processid",
	"options":    "choices suggestions",
}

// idle are members that say something to nobody, which a call of habit may have.
var idle = []string{"explanation", "description", "reason", "justification", "thought", "requireuserapproval", "shouldreadentirefile", "requiresapproval", "n", "linenumbers"}

// plainHabit returns a name without case, separators and what some models write
// before the name of a tool.
func plainHabit(name string) string {
	for _, before := range []string{"functions.", "function.", "default_api.", "tools.", "tool."} {
		name = strings.TrimPrefix(name, before)
	}
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("_-. ", r) {
			return -1
		}
		return r
	}, strings.ToLower(name))
}

// taken is a call of habit as it is understood.
type taken struct {
	tool      Tool
	arguments string
	notes     []string // what was taken for what, as clauses
}

// note is what the result of such a call says.
func (c taken) note() string {
	if len(c.notes) == 0 {
		return ""
	}
	return "[" + strings.Join(c.notes, "; ") + "]"
}

// understand finds the tool that a call names, from habit perhaps, and its arguments
// as that tool has them.
func (r *Registry) understand(name, arguments string) (taken, error) {
	c := taken{arguments: arguments}
	t, ok := r.Lookup(name)
	plain := plainHabit(name)
	for _, meant := range []string{plain, habits[plain]} {
		if ok {
			break
		}
		if t, ok = r.Lookup(meant); ok {
			c.notes = append(c.notes, fmt.Sprintf("%s is called %s here", name, meant))
		}
	}
	if !ok {
		return c, fmt.Errorf("there is no tool %s; the tools are %s", quoted(name), r.names())
	}
	c.tool = t
	d := t.Definition()
	if d.members == nil {
		return c, nil
	}
	if _, err := d.parse(arguments); err == nil {
		return c, nil
	}
	object, err := mended(&c)
	if err != nil {
		return c, nil // the tool's own reading says what is wrong
	}
	h := habit{taken: &c, members: d.members, object: object}
	if slices.Contains(lists, plain) && len(object) == 0 {
		h.set("path", jsontext.Value(`"."`))
	}
	h.translate()
	text, err := json.Marshal(h.object, json.Deterministic(true))
	if err != nil {
		return c, nil
	}
	c.arguments = string(text)
	return c, nil
}

// habit is an object of arguments on its way to what a tool takes.
type habit struct {
	*taken
	members []member
	object  map[string]jsontext.Value
}

// translate renames members and changes values that are written in another way.
func (h *habit) translate() {
	h.lineRange()
	for _, name := range sortedKeys(h.object) {
		if h.member(name) {
			continue
		}
		plain := plainHabit(name)
		for _, m := range h.members {
			if _, given := h.object[m.name]; !given && (plain == plainHabit(m.name) || slices.Contains(strings.Fields(memberHabits[m.name]), plain)) {
				h.note("%s is called %s", name, m.name)
				h.object[m.name] = h.object[name]
				delete(h.object, name)
				break
			}
		}
	}
	for _, name := range sortedKeys(h.object) {
		if !h.member(name) && slices.Contains(idle, plainHabit(name)) {
			h.note("%s was left out", name)
			delete(h.object, name)
		}
	}
	h.ignoreCase()
	for _, m := range h.members {
		if raw, ok := h.object[m.name]; ok {
			h.value(m, raw)
		}
	}
}

func (h *habit) note(format string, args ...any) {
	h.notes = append(h.notes, fmt.Sprintf(format, args...))
}

func (h *habit) set(name string, raw jsontext.Value) {
	if h.object == nil {
		h.object = map[string]jsontext.Value{}
	}
	h.object[name] = raw
}

func (h *habit) member(name string) bool {
	return slices.ContainsFunc(h.members, func(m member) bool { return m.name == name })
}

// number removes a member that is a whole number, written as one or as a string.
func (h *habit) number(plain string) (int, bool) {
	for _, name := range sortedKeys(h.object) {
		if plainHabit(name) != plain {
			continue
		}
		n, err := strconv.Atoi(strings.Trim(string(h.object[name]), `"`))
		if err == nil {
			delete(h.object, name)
		}
		return n, err == nil
	}
	return 0, false
}

// lineRange makes an offset and a limit of the first and the last line.
func (h *habit) lineRange() {
	if !h.member("offset") {
		return
	}
	first, last := 0, 0
	var both []int
	if json.Unmarshal(h.object["view_range"], &both) == nil && len(both) == 2 {
		delete(h.object, "view_range")
		first, last = both[0], both[1]
	} else {
		for _, name := range []string{"endline", "lineend", "toline", "endlineoneindexed", "endlineoneindexedinclusive"} {
			if n, ok := h.number(name); ok {
				last = n
			}
		}
		if last == 0 {
			return
		}
		for _, name := range strings.Fields(memberHabits["offset"] + " offset") {
			if n, ok := h.number(name); ok {
				first = n
			}
		}
	}
	first = max(first, 1)
	h.note("a range of lines is offset and limit")
	h.set("offset", jsontext.Value(strconv.Itoa(first)))
	if last >= first {
		h.set("limit", jsontext.Value(strconv.Itoa(last-first+1)))
	}
}

// ignoreCase makes a pattern of one that is to be matched without regard to case.
func (h *habit) ignoreCase() {
	for _, name := range sortedKeys(h.object) {
		if plain := plainHabit(name); h.member(name) || plain != "i" && plain != "caseinsensitive" && plain != "ignorecase" && plain != "casesensitive" {
			continue
		} else if (string(h.object[name]) == "true") != (plain == "casesensitive") {
			var pattern string
			if json.Unmarshal(h.object["pattern"], &pattern) != nil {
				return
			}
			raw, _ := jsontext.AppendQuote(nil, "(?i)"+pattern)
			h.object["pattern"] = raw
		}
		h.note("%s is (?i) in the pattern", name)
		delete(h.object, name)
	}
}

// value changes a value that is not of the member's type where it can only mean one.
func (h *habit) value(m member, raw jsontext.Value) {
	if fits(raw, m.typ) {
		if m.name == "items" {
			h.items(raw)
		}
		return
	}
	one := kindOfType(m.typ)
	switch text := strings.Trim(string(raw), `"`); {
	case one.schema == "integer" && raw.Kind() == '"':
		if _, err := strconv.Atoi(text); err == nil {
			h.set(m.name, jsontext.Value(text))
		}
	case one.schema == "boolean" && (text == "true" || text == "false"):
		h.set(m.name, jsontext.Value(text))
	case one.schema == "array" && raw.Kind() == '"':
		h.list(m, raw)
	case m.name == "text" && (raw.Kind() == '{' || raw.Kind() == '['):
		quoted, err := jsontext.AppendQuote(nil, string(raw))
		if err == nil {
			h.note("%s is a string: the JSON in it was taken as its text", m.name)
			h.set(m.name, quoted)
		}
	}
}

// list makes a list of a string that is a list's JSON.
func (h *habit) list(m member, raw jsontext.Value) {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return
	}
	if inner := jsontext.Value(text); inner.Kind() == '[' && inner.IsValid() {
		h.note("%s is a list, not a string with one", m.name)
		h.set(m.name, inner)
		return
	}
}

// items translates the entries of a list of things to do.
func (h *habit) items(raw jsontext.Value) {
	var items []map[string]jsontext.Value
	if json.Unmarshal(raw, &items) != nil {
		return
	}
	out := make([]map[string]jsontext.Value, len(items))
	for i, item := range items {
		out[i] = map[string]jsontext.Value{}
		for name, v := range item {
			switch plainHabit(name) {
			case "text", "content", "step", "task", "title":
				out[i]["text"] = v
			case "state", "status":
				switch plainHabit(strings.Trim(string(v), `"`)) {
				case "inprogress", "active":
					v = jsontext.Value(`"active"`)
				case "completed", "done", "cancelled":
					v = jsontext.Value(`"done"`)
				case "notstarted":
					v = jsontext.Value(`"pending"`)
				}
				out[i]["state"] = v
			}
		}
	}
	if list, err := json.Marshal(out, json.Deterministic(true)); err == nil {
		h.set("items", list)
	}
}

func sortedKeys(object map[string]jsontext.Value) []string {
	var out []string
	for name := range object {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}
