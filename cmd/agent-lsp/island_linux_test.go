package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/net/dns/dnsmessage"
	"golang.org/x/sys/unix"
)

// helpers are programs that tests and scripts run beside the server.
var helpers = map[string]func(){"island": island, "greedy": greedy}

// The addresses of an island, besides the loopback ones.
var (
	islandPublic = netip.MustParseAddr("11.22.33.44") // taken for one outside, and on the island alone
	islandZone   = map[string][]netip.Addr{
		"pages.example.":  {islandPublic},
		"inside.example.": {netip.MustParseAddr("127.0.0.1")},
		"six.example.":    {netip.MustParseAddr("::1")},
		"mapped.example.": {netip.MustParseAddr("::ffff:127.0.0.1")},
		"both.example.":   {netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("::1")},
	}
)

// island runs a command in a network of its own, which knows a web site outside
// (pages.example, rebind.example the first time it is asked for) and a web server
// inside (on every loopback address, by several names). What the one inside was
// asked for is in the file "asked-inside". The network's names, addresses and ports
// are the same every time, so what a server fetches there can be compared.
//
//	/page          a page in HTML
//	/to?URL        a redirect there; a POST is to be repeated
func island() {
	if os.Getenv("ISLAND") == "" {
		os.Exit(ferry())
	}
	cmd, err := land()
	if err != nil {
		fmt.Fprintln(os.Stderr, "island:", err)
		os.Exit(125)
	}
	os.Exit(pass(cmd.Run()))
}

// ferry starts this program again where it can make a network.
func ferry() int {
	cmd := exec.Command("/proc/self/exe")
	cmd.Args = os.Args
	cmd.Env = append(os.Environ(), "ISLAND=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	if os.Geteuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Geteuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getegid(), Size: 1}}
	}
	return pass(cmd.Run())
}

func pass(err error) int {
	if ended, ok := errors.AsType[*exec.ExitError](err); ok {
		return ended.ExitCode()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "island:", err)
		return 125
	}
	return 0
}

// land makes the network and answers the command that is to run in it.
func land() (*exec.Cmd, error) {
	if err := addresses(); err != nil {
		return nil, fmt.Errorf("give the network its addresses: %w", err)
	}
	resolver := filepath.Join(os.TempDir(), fmt.Sprintf("island-%d.conf", os.Getpid()))
	if err := os.WriteFile(resolver, []byte("nameserver 127.0.0.1\n"), 0o644); err != nil {
		return nil, err
	}
	defer os.Remove(resolver)
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return nil, fmt.Errorf("keep mounts to itself: %w", err)
	}
	if err := unix.Mount(resolver, "/etc/resolv.conf", "", unix.MS_BIND, ""); err != nil {
		return nil, fmt.Errorf("name the name server: %w", err)
	}
	names, err := net.ListenPacket("udp", "127.0.0.1:53")
	if err != nil {
		return nil, err
	}
	go serveNames(names)
	for _, port := range []string{":80", ":8080"} {
		l, err := net.Listen("tcp", port)
		if err != nil {
			return nil, err
		}
		go http.Serve(l, http.HandlerFunc(islandPages))
	}
	if len(os.Args) < 2 {
		return nil, errors.New("no command is named")
	}
	cmd := exec.Command(os.Args[1], os.Args[2:]...)
	cmd.Env = append(os.Environ(), "GODEBUG=netdns=go", "ISLAND=")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd, nil
}

// addresses brings the loopback device up, with the address outside on it too.
func addresses() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	lo.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo); err != nil {
		return err
	}
	more, err := unix.NewIfreq("lo:1")
	if err != nil {
		return err
	}
	if err := more.SetInet4Addr(islandPublic.AsSlice()); err != nil {
		return err
	}
	return unix.IoctlIfreq(fd, unix.SIOCSIFADDR, more)
}

func islandPages(w http.ResponseWriter, r *http.Request) {
	to, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if at := netip.MustParseAddrPort(to.String()).Addr().Unmap(); at != islandPublic {
		f, err := os.OpenFile("asked-inside", os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
		if err == nil {
			_, err = fmt.Fprintln(f, r.Method, r.Host, r.URL)
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		fmt.Fprint(w, "what is inside")
		return
	}
	switch r.URL.Path {
	case "/page":
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<html><body><script>alert(1)</script><h1>Title</h1><p>A <a href='/b'>link</a> and <b>more</b>.</p></body></html>")
	case "/to":
		http.Redirect(w, r, r.URL.RawQuery, http.StatusTemporaryRedirect)
	default:
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s%s %s", r.Method, r.Host, r.URL, body)
	}
}

// serveNames answers what the zone holds. The name rebind.example is outside the
// first time that its address is asked for and inside from then on.
func serveNames(c net.PacketConn) {
	var rebound sync.Once
	buf := make([]byte, 1500)
	for {
		n, from, err := c.ReadFrom(buf)
		if err != nil {
			return
		}
		var m dnsmessage.Message
		if m.Unpack(buf[:n]) != nil || len(m.Questions) != 1 {
			continue
		}
		q := m.Questions[0]
		name := strings.ToLower(q.Name.String())
		found, known := islandZone[name]
		if name == "rebind.example." {
			found, known = islandZone["inside.example."], true
			if q.Type == dnsmessage.TypeA {
				rebound.Do(func() { found = islandZone["pages.example."] })
			}
		}
		m.Response, m.Authoritative, m.RecursionAvailable, m.Additionals = true, true, true, nil
		if !known {
			m.RCode = dnsmessage.RCodeNameError
		}
		for _, a := range found {
			h := dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class}
			switch {
			case a.Is4() && q.Type == dnsmessage.TypeA:
				m.Answers = append(m.Answers, dnsmessage.Resource{Header: h, Body: &dnsmessage.AResource{A: a.As4()}})
			case !a.Is4() && q.Type == dnsmessage.TypeAAAA:
				m.Answers = append(m.Answers, dnsmessage.Resource{Header: h, Body: &dnsmessage.AAAAResource{AAAA: a.As16()}})
			}
		}
		if out, err := m.Pack(); err == nil {
			_, _ = c.WriteTo(out, from)
		}
	}
}
