package session

import (
	"fmt"
	"strings"

	"github.com/agent-lsp/agent-lsp/session/model"
)

// maxText bounds one result and one reply, in bytes, whatever the model's window
// is: the core keeps a whole conversation in 16 MiB.
const maxText = 2 << 20

// bound is how many bytes of one result or one reply enter the transcript and the
// core: a quarter of a profile's window, with four bytes a token, and at most
// maxText.
func bound(p model.Profile) int {
	if p.Context <= 0 {
		return maxText
	}
	return min(maxText, p.Context/4*4)
}

// cut leaves the beginning and the end of a text that is over limit, and says what
// it left out. What it returns is at most limit bytes, unless limit is too small to
// say that.
func cut(text string, limit int, what string) string {
	if len(text) <= limit {
		return text
	}
	note := fmt.Sprintf("\n[... %s of %d bytes is cut here: at most %d bytes enter the conversation ...]\n", what, len(text), limit)
	room := max(limit-len(note), 0)
	head := strings.ToValidUTF8(text[:room*3/4], "")
	tail := strings.ToValidUTF8(text[len(text)-room/4:], "")
	return head + note + tail
}

// cutReply bounds a reply of a model. It returns a text for the model when calls
// had to be cut, which are not run then.
func cutReply(r *model.Response, limit int) (fault string) {
	for _, text := range []**string{&r.Text, &r.Reasoning} {
		if *text != nil && len(**text) > limit {
			*text = new(cut(**text, limit, "a reply"))
		}
	}
	if len(r.Sealed) > limit {
		r.Sealed = nil
	}
	size := 0
	for _, c := range r.Calls {
		size += len(c.Arguments) + len(c.Name)
	}
	if size <= limit {
		return ""
	}
	for i := range r.Calls {
		c := &r.Calls[i]
		c.Arguments = cut(c.Arguments, limit/len(r.Calls), "an argument")
		c.Name = cut(c.Name, limit/len(r.Calls), "a name")
	}
	return fmt.Sprintf("not run: the calls of this reply are %d bytes long, and at most %d are taken; make the change in smaller steps", size, limit)
}
