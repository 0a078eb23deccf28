package tools

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	htmltomarkdown "github.com/JohannesKaufmann/html-to-markdown/v2"
	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"golang.org/x/net/html/charset"

	"github.com/agent-lsp/agent-lsp/workspace"
)

// maxHops bounds how many redirects are followed.
const maxHops = 5

// errPrivate says that an address may not be dialled.
var errPrivate = errors.New("the address is a private one, which is not allowed")

// browseTool is the tool browse.
type browseTool struct{ *Executor }

type browseArgs struct {
	URL  string  `json:"url" about:"http or https"`
	Body *string `json:"body,omitzero" about:"sent by POST when given, else GET"`
}

func (browseTool) Definition() Definition {
	return Define[browseArgs]("browse", "Fetch a web page as Markdown, or a text resource as it is.", Run)
}

func (t browseTool) Decide(_ context.Context, c Call) Decision {
	return t.decide(Arguments[browseArgs](c))
}

func (t browseTool) Run(ctx context.Context, c Call) Outcome {
	return t.run(ctx, Arguments[browseArgs](c))
}

func (t browseTool) decide(op browseArgs) Decision {
	d := Decision{Title: "Fetch " + clip(op.URL), Detail: "GET " + op.URL, Lasting: lastingFetch(op), Verdict: Ask, Effect: Run}
	if op.Body != nil {
		d.Title, d.Detail = "Post to "+clip(op.URL), "POST "+op.URL+"\n\n"+*op.Body
	}
	if t.policy().Mode == ModeAll {
		d.Verdict = Allow
	}
	if err := checkURL(op.URL); err != nil {
		d.Verdict, d.Reason = Deny, err.Error()
		return d
	}
	return t.decider().applyRules(d, op.subject(), "")
}

func (op browseArgs) subject() subject {
	return subject{family: FamilyBrowse, url: op.URL, post: op.Body != nil}
}

// lastingFetch returns what a lasting permission for a request covers: every one of
// its method to the host.
func lastingFetch(op browseArgs) Lasting {
	host, method := hostOf(op.URL), "GET"
	match := host
	if op.Body != nil {
		method, match = "POST", "POST "+host
	}
	return Lasting{Words: "every " + method + " request to " + host + " and the hosts below it", Rule: Rule{FamilyBrowse, []string{match}}}
}

func (t browseTool) run(ctx context.Context, op browseArgs) Outcome {
	if err := checkURL(op.URL); err != nil {
		return failf("not fetched: %s", err)
	}
	ctx, stop := context.WithTimeout(ctx, t.cfg.Browse.Timeout)
	defer stop()
	method, body := http.MethodGet, io.Reader(nil)
	if op.Body != nil {
		method, body = http.MethodPost, strings.NewReader(*op.Body)
	}
	req, err := http.NewRequestWithContext(ctx, method, op.URL, body)
	if err != nil {
		return failf("not fetched: %s", err)
	}
	req.Header.Set("User-Agent", "agent-lsp")
	req.Header.Set("Accept", "text/html, text/markdown, text/plain, application/json;q=0.9, */*;q=0.5")
	if op.Body != nil {
		req.Header.Set("Content-Type", bodyType(*op.Body))
	}
	client := t.client(op)
	defer client.CloseIdleConnections()
	resp, err := client.Do(req)
	if err != nil {
		return t.failed(ctx, op.URL, err)
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(io.LimitReader(resp.Body, t.cfg.Browse.MaxBytes+1))
	if err != nil {
		return t.failed(ctx, op.URL, err)
	}
	cut := int64(len(data)) > t.cfg.Browse.MaxBytes
	if cut {
		data = data[:t.cfg.Browse.MaxBytes]
	}
	return t.page(resp, data, cut)
}

// client returns an HTTP client that checks each address when it dials it. That
// covers names that resolve to private addresses, or differently the second time,
// and redirects. No proxy is used, since a proxy would dial unchecked.
func (t browseTool) client(op browseArgs) *http.Client {
	dialer := &net.Dialer{Timeout: t.cfg.Browse.Timeout, Control: func(_, address string, _ syscall.RawConn) error {
		return t.dial(address)
	}}
	return &http.Client{
		Transport: &http.Transport{
			DialContext: dialer.DialContext, ForceAttemptHTTP2: true, TLSHandshakeTimeout: 10 * time.Second,
			MaxResponseHeaderBytes: 256 << 10,
		},
		CheckRedirect: func(req *http.Request, via []*http.Request) error {
			if len(via) > maxHops {
				return fmt.Errorf("more than %d redirects", maxHops)
			}
			if len(via) > 0 && via[0].Method == http.MethodPost && req.Method == http.MethodPost && req.URL.Host != via[0].URL.Host {
				return errors.New("a redirect to another host would send it the body")
			}
			return t.mayFollow(op, req)
		},
	}
}

// mayFollow decides about a redirect as about a first request. Nobody can be asked in
// the middle of one: the model is told to request the address itself. What a person
// allowed once may go on within its host.
func (t browseTool) mayFollow(op browseArgs, req *http.Request) error {
	to := req.URL.String()
	s := subject{family: FamilyBrowse, url: to, post: req.Method == http.MethodPost}
	if r, ok := t.policy().denied(s); ok {
		return fmt.Errorf("it redirects to %s, and a rule of the configuration denies that (%s)", clip(to), r)
	}
	if err := checkURL(to); err != nil || t.policy().Mode == ModeAll || t.decider().allows(s) {
		return err
	}
	if from, err := url.Parse(op.URL); err == nil && sameHost(from, req.URL) && !t.decider().allows(op.subject()) {
		return nil
	}
	if err := t.reachable(req); err != nil {
		return err // no permission would help
	}
	return fmt.Errorf("it redirects to %s, which needs a permission of its own: call browse with that address", to)
}

// reachable returns why a redirect's host could not be dialled at all.
func (t browseTool) reachable(req *http.Request) error {
	ips, err := net.DefaultResolver.LookupNetIP(req.Context(), "ip", req.URL.Hostname())
	if err != nil {
		return err
	}
	for _, ip := range ips {
		if err = t.dial(net.JoinHostPort(ip.Unmap().String(), portOf(req.URL))); err == nil {
			return nil
		}
	}
	return err
}

// sameHost reports whether two addresses are of one host and port; the default ports of
// http and https count as one.
func sameHost(a, b *url.URL) bool {
	return plainHost(a) == plainHost(b) && (portOf(a) == portOf(b) || a.Port() == "" && b.Port() == "")
}

// mayDial fails for private addresses unless the configuration allows them.
func (c BrowseConfig) mayDial(address string) error {
	if c.AllowPrivate {
		return nil
	}
	ap, err := netip.ParseAddrPort(address)
	if err != nil || !isPublic(ap.Addr()) {
		return errPrivate
	}
	return nil
}

// notPublic are ranges that lead to the machine itself, its neighbours, or
// nowhere; those that carry an IPv4 address inside are judged by it.
var notPublic = prefixes(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24",
	"168.63.129.16/32", // what a cloud's machines ask about themselves
	"192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
	"2001::/23", "2001:db8::/32", "3fff::/20",
)

func prefixes(list ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(list))
	for i, s := range list {
		out[i] = netip.MustParsePrefix(s)
	}
	return out
}

var (
	allocated = netip.MustParsePrefix("2000::/3") // all that is routed of IPv6
	nat64     = netip.MustParsePrefix("64:ff9b::/96")
	sixToFour = netip.MustParsePrefix("2002::/16")
)

func isPublic(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	if !a.IsValid() {
		return false
	}
	if a.Is6() {
		b := a.As16()
		if nat64.Contains(a) {
			return isPublic(netip.AddrFrom4([4]byte(b[12:16])))
		}
		if sixToFour.Contains(a) {
			return isPublic(netip.AddrFrom4([4]byte(b[2:6])))
		}
		if !allocated.Contains(a) {
			return false
		}
	}
	for _, p := range notPublic {
		if p.Contains(a) {
			return false
		}
	}
	return true
}

// checkURL fails for what is not a plain web address.
func checkURL(raw string) error {
	u, err := url.Parse(raw)
	if err != nil {
		return fmt.Errorf("%q is no URL", clip(raw))
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("only http and https URLs can be fetched, not %q", clip(raw))
	case u.Hostname() == "":
		return fmt.Errorf("the URL %q names no host", clip(raw))
	case u.User != nil:
		return errors.New("a URL with a user name or password in it is not fetched")
	}
	return nil
}

func bodyType(body string) string {
	if s := strings.TrimSpace(body); strings.HasPrefix(s, "{") || strings.HasPrefix(s, "[") {
		return "application/json"
	}
	return "application/x-www-form-urlencoded"
}

// failed returns the outcome of a fetch that failed. Its text has no numbers that
// differ from run to run.
func (t browseTool) failed(ctx context.Context, raw string, err error) Outcome {
	if errors.Is(ctx.Err(), context.Canceled) {
		return cancelled()
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return failf("%s was not fetched within %gs", clip(raw), t.cfg.Browse.Timeout.Seconds())
	}
	if errors.Is(err, errPrivate) {
		return failf("%s was not fetched: %s", clip(raw), errPrivate)
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return failf("%s was not fetched: the host %s cannot be found", clip(raw), dns.Name)
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
		err = fmt.Errorf("no connection: %w", op.Err)
	} else if ue, ok := errors.AsType[*url.Error](err); ok {
		err = ue.Err
	}
	return failf("%s was not fetched: %s", clip(raw), err)
}

// page converts a response to an outcome: HTML becomes Markdown, other text stays as
// it is, and bytes that are no text are not shown.
func (t browseTool) page(resp *http.Response, data []byte, cut bool) Outcome {
	declared := resp.Header.Get("Content-Type")
	kind, _, _ := mime.ParseMediaType(declared)
	if kind == "" {
		kind, _, _ = mime.ParseMediaType(http.DetectContentType(data))
	}
	head := fmt.Sprintf("%s %d", resp.Request.URL, resp.StatusCode)
	if cut {
		head += fmt.Sprintf(" [only the first %d bytes were read]", t.cfg.Browse.MaxBytes)
	}
	out := Outcome{State: Completed}
	if resp.StatusCode >= 400 {
		out.State = Failed
	}
	if packed := resp.Header.Get("Content-Encoding"); packed != "" && !strings.EqualFold(packed, "identity") {
		out.Text = fmt.Sprintf("%s\n[%s, %d bytes: not shown, for the server sent it packed as %q, which was not asked for and cannot be read]", head, kind, len(data), clip(packed))
		return out
	}
	if !isText(kind) {
		out.Text = fmt.Sprintf("%s\n[%s, %d bytes: not shown]", head, kind, len(data))
		return out
	}
	html := kind == "text/html" || kind == "application/xhtml+xml"
	text, note := decodedBody(data, declared, html)
	if note != "" {
		head += "\n[" + note + "]"
	}
	if html {
		base := resp.Request.URL.Scheme + "://" + resp.Request.URL.Host
		if md, err := htmltomarkdown.ConvertString(text, converter.WithDomain(base)); err == nil {
			text = md
		}
	}
	out.Text = head + "\n" + headTail(plainText([]byte(text)), t.cfg.Browse.Output)
	return out
}

// decodedBody returns a body as UTF-8: in the encoding that a mark or the header
// declares, even where the bytes could be UTF-8, else in one that an HTML page names
// itself, else as what it looks like. The note says what could not be decoded.
func decodedBody(data []byte, contentType string, html bool) (text, note string) {
	const guessed = "windows-1252" // for bytes that are no UTF-8 and of which nothing is known
	begin := data
	if !html && utf8.Valid(data) {
		begin = data[:min(len(data), len(workspace.ByteOrderMark))] // only a mark: other text declares nothing
	}
	enc, name, declared := charset.DetermineEncoding(begin, contentType)
	if _, params, err := mime.ParseMediaType(contentType); err == nil && !declared && params["charset"] != "" {
		note = fmt.Sprintf("its encoding is said to be %q, which is not known", clip(params["charset"]))
	}
	if name == "utf-8" || name == guessed && !declared && utf8.Valid(data) {
		return strings.TrimPrefix(string(data), workspace.ByteOrderMark), note
	}
	decoded, err := enc.NewDecoder().Bytes(data)
	if name == "replacement" || err != nil {
		return string(data), "its encoding is one that is not decoded, for it can hide what a text says"
	}
	return strings.TrimPrefix(string(decoded), workspace.ByteOrderMark), note
}

func isText(kind string) bool {
	return strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "+json") || strings.HasSuffix(kind, "+xml") ||
		kind == "application/json" || kind == "application/xml" || kind == "application/javascript" || kind == "application/yaml" ||
		kind == "application/x-www-form-urlencoded"
}
