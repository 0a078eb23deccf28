package httpmodel

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"

	"github.com/agent-lsp/agent-lsp/session/model"
)

var (
	// money is what no other key helps against.
	money = regexp.MustCompile(`(?i)quota|billing|credit|payment|balance`)
	// noModel is how servers say that they do not have a model.
	noModel = regexp.MustCompile(`(?i)model_not_found|(unknown|no such|invalid|not a valid) model|\bmodel\b.{0,80}(not found|not exist|not available|not supported|no access|not have access)|\bmodel: `)
)

// advise puts before a failure's text what failed, by the profile's own words, and
// behind it what to do about it.
func advise(e *model.Error, p model.Profile, endpoint *url.URL) {
	status := ""
	if e.Status != 0 {
		status = fmt.Sprintf(" (%d)", e.Status)
	}
	switch {
	case e.Kind == model.Auth && money.MatchString(e.Message):
		e.Message += "; see to the account at " + endpoint.Host + ", or pick another profile"
	case e.Kind == model.Auth && p.APIKeyEnv == "":
		e.Message = fmt.Sprintf("%s refused a request without a key%s: %s; name the environment variable that holds the key in api_key_env of profile %s",
			endpoint.Host, status, e.Message, p.Name)
	case e.Kind == model.Auth:
		e.Message = fmt.Sprintf("%s was refused by %s%s: %s; put a valid key there, and start the server again", p.APIKeyEnv, endpoint.Host, status, e.Message)
	case e.Kind == model.BadRequest && (e.Status == http.StatusNotFound || noModel.MatchString(e.Message)) && !model.AboutMedia(e.Message):
		e.Message = fmt.Sprintf("%s does not serve model %q%s: %s; correct model, or base_url, of profile %s", endpoint.Host, p.Model, status, e.Message, p.Name)
	}
}
