package tools

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/agent-lsp/agent-lsp/core/abi"
	"golang.org/x/net/dns/dnsmessage"
)

// newServer serves pages on loopback: a text that starts with "->" redirects,
// three digits are a status.
func newServer(t *testing.T, pages map[string]string) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page, ok := pages[r.URL.Path]
		if !ok {
			page = pages["/"]
		}
		var status int
		if to, ok := strings.CutPrefix(page, "->"); ok {
			http.Redirect(w, r, to, http.StatusFound)
		} else if n, _ := fmt.Sscanf(page, "%3d", &status); n == 1 && len(page) == 3 {
			w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
			w.WriteHeader(status)
		} else {
			body, _ := io.ReadAll(r.Body)
			w.Header().Set("Content-Type", http.DetectContentType([]byte(page)))
			if strings.HasPrefix(page, "{") {
				w.Header().Set("Content-Type", "application/json")
			}
			fmt.Fprintf(w, "%s%s", page, body)
		}
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

func browseOp(url string, body ...string) Op {
	op := &abi.Browse{URL: url}
	if len(body) > 0 {
		op.Body = &body[0]
	}
	return Op{Browse: op}
}

func private(c *Config) { c.Browse.AllowPrivate = true }

func TestBrowseMakesPagesReadable(t *testing.T) {
	w := newWorld(t, nil, private, func(c *Config) { c.Browse.Output, c.Browse.MaxBytes = 500, 5000 })
	long := "<p>" + strings.Repeat("word ", 3000)
	srv := newServer(t, map[string]string{
		"/html": "<html><head><title>x</title><script>bad()</script></head><body><h1>Title</h1><p>A <a href=\"/b\">link</a>.</p></body></html>",
		"/json": `{"a": 1}`, "/text": "plain", "/png": "\x89PNG\x0D\x0A\x1A\x0A....", "/gone": "410", "/hop": "->/text", "/loop": "->/loop", "/long": "<html>" + long,
	})
	for path, tt := range map[string]struct {
		state State
		text  string
	}{
		"/html": {Completed, srv + "/html 200\n# Title\n\nA [link](" + srv + "/b)."}, "/json": {Completed, srv + "/json 200\n{\"a\": 1}"}, "/text": {Completed, srv + "/text 200\nplain"},
		"/png": {Completed, srv + "/png 200\n[image/png, 12 bytes: not shown]"}, "/gone": {Failed, srv + "/gone 410\n"}, "/hop": {Completed, srv + "/text 200\nplain"},
		"/loop": {Failed, srv + "/loop was not fetched: more than 5 redirects"},
	} {
		if got := w.run(browseOp(srv + path)); got.State != tt.state || got.Text != tt.text {
			t.Errorf("%s gave %s %q, want %s %q", path, got.State, got.Text, tt.state, tt.text)
		}
	}
	want(t, w.run(browseOp(srv+"/text", `{"q":1}`)), Completed, `plain{"q":1}`)
	want(t, w.run(browseOp(srv+"/long")), Completed, "[only the first 5000 bytes were read]", "characters elided")
}

// TestABodyIsReadInTheEncodingThatIsDeclared serves bytes under headers that fit them
// and that do not.
func TestABodyIsReadInTheEncodingThatIsDeclared(t *testing.T) {
	const (
		iso2022 = "\x1b$BF|K\\\x1b(B" // 日本; every byte is ASCII
		sjis    = "\x93\xfa\x96\x7b"
		utf16   = "\xff\xfe\xe5\x65\x2c\x67"
	)
	for _, tt := range []struct{ name, kind, packed, body, want string }{
		{"plain UTF-8", "text/plain", "", "日本", "日本"},
		{"UTF-8 with a mark", "text/plain; charset=utf-8", "", "\ufeff日本", "日本"},
		{"ISO-2022-JP, declared", "text/plain; charset=ISO-2022-JP", "", iso2022, "日本"},
		{"ISO-2022-JP, of a page", "text/html; charset=iso-2022-jp", "", "<p>" + iso2022 + "</p>", "日本"},
		{"ISO-2022-JP, by the page", "text/html", "", "<meta charset=iso-2022-jp><p>" + iso2022 + "</p>", "日本"},
		{"Shift-JIS, declared", "application/json; charset=shift_jis", "", `{"a":"` + sjis + `"}`, `{"a":"日本"}`},
		{"Shift-JIS, by the page", "text/html", "", "<meta charset=shift_jis><p>" + sjis + "</p>", "日本"},
		{"Latin-1 that could be UTF-8", "text/plain; charset=iso-8859-1", "", "\xc3\xa9", "Ã©"},
		{"Latin-1, not declared", "text/plain", "", "caf\xe9", "café"},
		{"text that speaks of encodings", "text/plain", "", "<meta charset=iso-2022-jp> é", "<meta charset=iso-2022-jp> é"},
		{"UTF-16 with a mark", "text/plain", "", utf16, "日本"},
		{"UTF-16, declared", "text/plain; charset=utf-16le", "", utf16[2:], "日本"},
		{"an unknown encoding", "text/plain; charset=klingon-8", "", "é", "[its encoding is said to be \"klingon-8\", which is not known]\né"},
		{"one that hides text", "text/plain; charset=hz-gb-2312", "", "a~{<:Ky2;QN2~}", "[its encoding is one that is not decoded"},
		{"brotli, not asked for", "text/plain", "br", "\x0b\x02\x80hello\x03", `[text/plain, 9 bytes: not shown, for the server sent it packed as "br"`},
		{"packed twice", "text/html", "deflate, br", "\x0b", `[text/html, 1 bytes: not shown, for the server sent it packed as "deflate, br"`},
		{"identity", "text/plain", "identity", "é", "é"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", tt.kind)
				if tt.packed != "" {
					w.Header().Set("Content-Encoding", tt.packed)
				}
				_, _ = io.WriteString(w, tt.body)
			}))
			defer srv.Close()
			out := newWorld(t, nil, private).run(browseOp(srv.URL + "/"))
			want(t, out, Completed, srv.URL+"/ 200\n"+tt.want)
			if utf8.ValidString(tt.want) && strings.Contains(out.Text, "\ufffd") {
				t.Errorf("characters are lost: %q", out.Text)
			}
		})
	}
}

func TestBrowseReachesNothingInside(t *testing.T) {
	var hits atomic.Int64
	inner := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits.Add(1) }))
	defer inner.Close()
	_, port, _ := net.SplitHostPort(inner.Listener.Addr().String())
	w := newWorld(t, nil)
	for _, u := range []string{
		inner.URL, "http://localhost:" + port, "http://127.1:" + port, "http://2130706433:" + port, "http://0x7f000001:" + port, "http://0:" + port, "http://0.0.0.0:" + port,
		"http://[::1]:" + port, "http://[::ffff:127.0.0.1]:" + port, "http://[::ffff:7f00:1]:" + port, "http://[64:ff9b::7f00:1]:" + port, "http://[::]:" + port,
		"http://10.0.0.1", "http://169.254.169.254/latest/meta-data", "http://[fe80::1]", "http://[fd00::1]", "http://192.168.0.1", "http://[2002:7f00:1::]",
	} {
		got := w.run(browseOp(u))
		want(t, got, Failed, "was not fetched")
	}
	for _, u := range []string{"file:///etc/passwd", "ftp://example.org/", "gopher://x", "http://", "javascript:x", "//x", "", "http://user:pw@example.org/", "http://x\n/", "data:text/plain,x", "unix:///x"} {
		want(t, w.run(browseOp(u)), Failed, "not fetched")
		if d := w.Decide(t.Context(), browseOp(u)); d.Verdict != Deny {
			t.Errorf("%q: %+v", u, d)
		}
	}
	if n := hits.Load(); n > 0 {
		t.Errorf("the server inside was asked %d times", n)
	}
}

func TestEveryHopIsChecked(t *testing.T) {
	var hits atomic.Int64
	inner := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits.Add(1) }))
	defer inner.Close()
	outer := newServer(t, map[string]string{"/": "->" + inner.URL, "/file": "->file:///etc/passwd"})
	w := newWorld(t, nil)
	// For this test the outer server's port stands for an address outside.
	w.dial = func(address string) error {
		if "http://"+address == outer {
			return nil
		}
		return w.cfg.Browse.mayDial(address)
	}
	want(t, w.run(browseOp(outer)), Failed, "private")
	want(t, w.run(browseOp(outer+"/file")), Failed, "only http and https")
	var hops atomic.Int64
	loop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hops.Add(1)
		http.Redirect(w, r, "/again", http.StatusFound)
	}))
	defer loop.Close()
	want(t, newWorld(t, nil, private).run(browseOp(loop.URL)), Failed, "more than 5 redirects")
	if n := hops.Load(); n != 1+maxHops {
		t.Errorf("%d pages were fetched, want the first and %d more", n, maxHops)
	}
	if n := hits.Load(); n > 0 {
		t.Errorf("the server inside was asked %d times", n)
	}
}

// resolver answers a name with the addresses given, the first for the first
// question for it, the last from then on.
func resolver(t *testing.T, zone map[string][]netip.Addr) {
	t.Helper()
	pc, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	was, ended := net.DefaultResolver, make(chan struct{})
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", pc.LocalAddr().String())
	}}
	t.Cleanup(func() {
		net.DefaultResolver = was
		pc.Close()
		<-ended
	})
	go func() {
		defer close(ended)
		buf := make([]byte, 1500)
		for {
			n, from, err := pc.ReadFrom(buf)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(buf[:n]) != nil || len(m.Questions) != 1 {
				continue
			}
			q := m.Questions[0]
			m.Response, m.Additionals = true, nil
			name := strings.ToLower(q.Name.String())
			addrs := zone[name]
			if len(addrs) == 0 {
				m.RCode = dnsmessage.RCodeNameError
			} else if a, six := addrs[0], q.Type == dnsmessage.TypeAAAA; a.Is6() == six && (six || q.Type == dnsmessage.TypeA) {
				h := dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class}
				var body dnsmessage.ResourceBody
				if six {
					body = &dnsmessage.AAAAResource{AAAA: a.As16()}
				} else {
					body = &dnsmessage.AResource{A: a.As4()}
				}
				m.Answers = []dnsmessage.Resource{{Header: h, Body: body}}
				if len(addrs) > 1 {
					zone[name] = addrs[1:]
				}
			}
			if out, err := m.Pack(); err == nil {
				_, _ = pc.WriteTo(out, from)
			}
		}
	}()
}

// TestNamesThatLeadInside has names of which the addresses are inside, at once or
// once they are asked for again.
func TestNamesThatLeadInside(t *testing.T) {
	var hits atomic.Int64
	inner := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hits.Add(1)
		http.Redirect(w, r, "http://rebind.test:"+r.URL.Query().Get("port")+"/", http.StatusFound)
	}))
	defer inner.Close()
	_, port, _ := net.SplitHostPort(inner.Listener.Addr().String())
	other := httptest.NewServer(inner.Config.Handler)
	defer other.Close()
	_, otherPort, _ := net.SplitHostPort(other.Listener.Addr().String())
	local, outside := netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("127.0.0.2")
	if runtime.GOOS != "linux" {
		outside = local // there is no other address of this machine
	}
	resolver(t, map[string][]netip.Addr{
		"inside.test.": {local}, "mapped.test.": {netip.MustParseAddr("::ffff:127.0.0.1")}, "six.test.": {netip.MustParseAddr("::1")},
		"unique.test.": {netip.MustParseAddr("fd00::1")}, "nat.test.": {netip.MustParseAddr("64:ff9b::7f00:1")}, "metadata.test.": {netip.MustParseAddr("169.254.169.254")},
		"rebind.test.": {outside, local},
	})
	w := newWorld(t, nil)
	for _, host := range []string{"inside.test", "INSIDE.test.", "mapped.test", "six.test", "unique.test", "nat.test", "metadata.test"} {
		want(t, w.run(browseOp("http://"+host+":"+port+"/")), Failed, "private")
	}
	want(t, w.run(browseOp("http://nowhere.test/")), Failed, "the host nowhere.test cannot be found")
	if n := hits.Load(); n > 0 {
		t.Fatalf("the server inside was asked %d times", n)
	}
	// The first address of rebind.test stands for one outside.
	dialled := 0
	w.dial = func(address string) error {
		if dialled++; dialled == 1 && strings.HasPrefix(address, outside.String()+":") {
			return nil
		}
		return w.cfg.Browse.mayDial(address)
	}
	l, err := net.Listen("tcp", net.JoinHostPort(outside.String(), "0"))
	if err != nil {
		t.Fatal(err)
	}
	first := &http.Server{Handler: inner.Config.Handler}
	go first.Serve(l)
	defer first.Close()
	_, firstPort, _ := net.SplitHostPort(l.Addr().String())
	want(t, w.run(browseOp("http://rebind.test:"+firstPort+"/?port="+otherPort)), Failed, "private")
	if n := hits.Load(); n != 1 {
		t.Errorf("the servers were asked %d times, want the first one once", n)
	}
}

func TestARedirectPassesNoRule(t *testing.T) {
	var hits atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits.Add(1) }))
	defer other.Close()
	first := newServer(t, map[string]string{"/": "->" + other.URL + "/x", "/two": "->/"})
	w := newWorld(t, nil, private, func(c *Config) { c.Policy = Policy{Mode: ModeAll, Deny: []Rule{rule(FamilyBrowse, other.URL)}} })
	for _, u := range []string{first, first + "/two"} {
		want(t, w.run(browseOp(u)), Failed, "it redirects to "+other.URL+"/x, and a rule of the configuration denies that")
	}
	if n := hits.Load(); n > 0 {
		t.Errorf("the denied server was asked %d times", n)
	}
}

// TestARedirectIsDecidedLikeAFirstRequest follows redirects under rules, a grant, an
// approval for one call, and in the mode in which everything runs.
func TestARedirectIsDecidedLikeAFirstRequest(t *testing.T) {
	var came atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		came.Add(1)
		fmt.Fprint(w, "there")
	}))
	t.Cleanup(other.Close)
	srv := newServer(t, map[string]string{
		"/": "here", "/docs/in": "->/docs/page", "/docs/up": "->/private", "/docs/away": "->" + other.URL + "/?q=data", "/docs/twice": "->/docs/away",
	})
	docs := Policy{Allow: []Rule{rule(FamilyBrowse, srv+"/docs/")}}
	both := Policy{Allow: []Rule{rule(FamilyBrowse, srv+"/docs/", other.URL)}}
	for _, tt := range []struct {
		name, path string
		policy     Policy
		post       bool
		grant      bool
		follows    string // "" for a refusal
	}{
		{"a rule", "/docs/in", docs, false, false, "here"},
		{"a rule, out of its path", "/docs/up", docs, false, false, ""},
		{"a rule, another host", "/docs/away", docs, false, false, ""},
		{"a rule, another host at the second hop", "/docs/twice", docs, false, false, ""},
		{"rules for both", "/docs/away", both, false, false, "there"},
		{"allowed once", "/docs/up", Policy{}, false, false, "here"},
		{"allowed once, another host", "/docs/away", Policy{}, false, false, ""},
		{"allowed once, a body", "/docs/away", Policy{}, true, false, ""},
		{"granted for the host", "/docs/up", Policy{}, false, true, "here"},
		{"everything", "/docs/away", Policy{Mode: ModeAll}, false, false, "there"},
	} {
		came.Store(0)
		w := newWorld(t, nil, private, func(c *Config) { c.Policy = tt.policy })
		op := browseOp(srv + tt.path)
		if tt.post {
			op = browseOp(srv+tt.path, "body")
		}
		if tt.grant {
			w.Grant(w.Decide(t.Context(), op).Lasting)
		}
		got := w.Run(t.Context(), op, "")
		if tt.follows == "" && (got.State != Failed || !strings.Contains(got.Text, "needs a permission of its own") || came.Load() != 0) {
			t.Errorf("%s: %+v, and %d requests came", tt.name, got, came.Load())
		}
		if tt.follows != "" && !strings.HasSuffix(got.Text, tt.follows) {
			t.Errorf("%s: %+v", tt.name, got)
		}
	}
}

func TestBrowseEndsInTime(t *testing.T) {
	block := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-block:
		case <-r.Context().Done():
		}
	}))
	defer srv.Close()
	defer close(block)
	w := newWorld(t, nil, private, func(c *Config) { c.Browse.Timeout = 100 * time.Millisecond })
	want(t, w.run(browseOp(srv.URL)), Failed, "was not fetched within 0.1s")
}

func TestPublicAddresses(t *testing.T) {
	for a, public := range map[string]bool{
		"8.8.8.8": true, "1.1.1.1": true, "2606:4700::1111": true, "64:ff9b::808:808": true, "2002:808:808::": true, "::ffff:8.8.8.8": true,
		"127.0.0.1": false, "10.1.2.3": false, "172.31.0.1": false, "172.32.0.1": true, "100.64.0.1": false, "169.254.1.1": false, "0.0.0.0": false, "224.0.0.1": false,
		"255.255.255.255": false, "::1": false, "::": false, "fe80::1%eth0": false, "fc00::1": false, "ff02::1": false, "64:ff9b::a00:1": false, "2002:a00:1::": false,
		"::ffff:10.0.0.1": false, "::7f00:1": false, "2001:db8::1": false, "2001::1": false, "64:ff9b:1::1": false,
		"::ffff:0:7f00:1": false, "1234::1": false, "4000::1": false, "fec0::1": false, "100::1": false, "5f00::1": false, "3fff::1": false, "168.63.129.16": false, "168.63.129.17": true,
	} {
		if got := isPublic(netip.MustParseAddr(a)); got != public {
			t.Errorf("%s is public: %t, want %t", a, got, public)
		}
	}
}
