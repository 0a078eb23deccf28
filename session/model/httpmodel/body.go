package httpmodel

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Lenient reads JSON as servers write it: doubled members and text that is not
// UTF-8 pass.
var Lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// complaint is what an error's body says, whoever wrote it.
type complaint struct {
	message string
	codes   []string // types, codes and statuses, lower case
	param   string   // the member of the request that is meant
	empty   bool     // the body has no error
}

// fields are the members under which servers put it.
type fields struct {
	Error    jsontext.Value `json:"error"`
	Errors   jsontext.Value `json:"errors"`
	Message  Text           `json:"message"`
	Msg      Text           `json:"msg"`
	Detail   Text           `json:"detail"`
	Type     Text           `json:"type"`
	Code     Text           `json:"code"`
	Status   Text           `json:"status"`
	Param    Text           `json:"param"`
	Metadata struct {
		Raw Text `json:"raw"`
	} `json:"metadata"`
	Details jsontext.Value `json:"details"`
}

// complain reads a body. One that is no JSON is its own message.
func complain(body []byte) complaint {
	body = []byte(strings.TrimSpace(string(body)))
	var c complaint
	if len(body) == 0 || (body[0] != '{' && body[0] != '[' && body[0] != '"') || !c.read(body, 0) {
		return complaint{message: plain(string(body))}
	}
	if c.message == "" && len(c.codes) > 0 {
		c.message = strings.Join(c.codes, ", ")
	}
	if c.message == "" {
		c.message = plain(string(body))
	}
	return c
}

// read takes what is said from a value, the innermost message first. It is false
// for what is no JSON.
func (c *complaint) read(raw jsontext.Value, depth int) bool {
	if depth > 4 {
		return true
	}
	switch raw.Kind() {
	case '"':
		var text Text
		if json.Unmarshal(raw, &text, Lenient) != nil {
			return false
		}
		c.say(string(text))
	case '[':
		var list []jsontext.Value
		if json.Unmarshal(raw, &list, Lenient) != nil {
			return false
		}
		if len(list) > 0 {
			return c.read(list[0], depth+1)
		}
	case '{':
		var f fields
		if json.Unmarshal(raw, &f, Lenient) != nil {
			return false
		}
		for _, inner := range []jsontext.Value{f.Error, f.Errors} {
			if inner != nil {
				c.read(inner, depth+1)
			}
		}
		for _, code := range []Text{f.Type, f.Code, f.Status} {
			if code != "" && code != "error" {
				c.codes = append(c.codes, strings.ToLower(string(code)))
			}
		}
		c.codes = append(c.codes, reasons(f.Details)...)
		if f.Param != "" && c.param == "" {
			c.param = plain(string(f.Param))
		}
		c.say(string(f.Message), string(f.Msg), string(f.Detail))
		if f.Metadata.Raw != "" {
			c.message += " (" + plain(string(f.Metadata.Raw)) + ")"
		}
	}
	return true
}

// reasons are the reasons among an error's details, where those are a list of objects.
func reasons(details jsontext.Value) []string {
	var list []struct {
		Reason Text `json:"reason"`
	}
	if json.Unmarshal(details, &list, Lenient) != nil {
		return nil
	}
	var out []string
	for _, d := range list {
		if d.Reason != "" {
			out = append(out, strings.ToLower(string(d.Reason)))
		}
	}
	return out
}

func (c *complaint) say(texts ...string) {
	for _, text := range texts {
		if c.message == "" {
			c.message = plain(text)
		}
	}
}

const maxMessage = 1000 // code points of a provider's text that are shown

// plain makes one readable line of a provider's text: no markup, no control
// characters, not too long.
func plain(text string) string {
	if i := strings.IndexByte(text, '<'); i >= 0 && strings.Contains(strings.ToLower(text), "<html") {
		text = withoutTags(text)
	}
	var b strings.Builder
	space, n := false, 0
	for _, r := range text {
		if unicode.IsSpace(r) || unicode.IsControl(r) || r == utf8.RuneError {
			space = b.Len() > 0
			continue
		}
		if n++; n > maxMessage {
			b.WriteString("…")
			break
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(r)
	}
	return b.String()
}

// withoutTags is a page's text, as far as a one-line message needs it.
func withoutTags(page string) string {
	var b strings.Builder
	for page != "" {
		text, rest, tag := strings.Cut(page, "<")
		b.WriteString(text)
		if !tag {
			break
		}
		name := strings.ToLower(rest)
		for _, skip := range []string{"style", "script"} {
			if strings.HasPrefix(name, skip) {
				if i := strings.Index(name, "</"+skip); i >= 0 {
					rest = rest[i:]
				}
			}
		}
		_, page, _ = strings.Cut(rest, ">")
		b.WriteByte(' ')
	}
	return b.String()
}
