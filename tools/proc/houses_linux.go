package proc

import (
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// house is a session's sandbox as the server sees it.
type house struct {
	key    string
	link   *link
	err    error
	built  chan struct{} // closed when link or err is set
	guests int           // supervisors in it; guarded by houses
	used   time.Time     // when the last one came or went; guarded by houses
}

// housesMost bounds how many houses are kept when nothing runs in them. Each has two
// small processes and the programs' loopback.
const housesMost = 6

// houses stores the houses that were built. They end with this process at the latest.
var houses struct {
	sync.Mutex
	list []*house
}

// newConfinedLink starts a supervisor in the house of a sandbox, which is built if
// there is none.
func newConfinedLink(s Sandbox) (*link, error) {
	for tries := 0; ; tries++ {
		h := enterHouse(s)
		<-h.built
		if h.err != nil {
			leaveHouse(h, true)
			return nil, h.err
		}
		l, err := h.newSupervisor()
		if err == nil {
			return l, nil
		}
		leaveHouse(h, true)
		if tries == 1 {
			return nil, err // a house can have been killed once
		}
	}
}

// enterHouse returns a sandbox's house and counts one more user of it.
func enterHouse(s Sandbox) *house {
	key := s.base().key()
	houses.Lock()
	defer houses.Unlock()
	for _, h := range houses.list {
		if h.key == key {
			h.guests++
			return h
		}
	}
	evict()
	h := &house{key: key, built: make(chan struct{}), guests: 1}
	houses.list = append(houses.list, h)
	go func() {
		defer close(h.built)
		h.link, h.err = build(s.base())
	}()
	return h
}

// evict ends the least recently used house without users when there are too many.
// The caller has houses locked.
func evict() {
	if len(houses.list) < housesMost {
		return
	}
	oldest := -1
	for i, h := range houses.list {
		if h.guests == 0 && (oldest < 0 || h.used.Before(houses.list[oldest].used)) {
			oldest = i
		}
	}
	if oldest >= 0 {
		houses.list[oldest].link.close()
		houses.list = append(houses.list[:oldest], houses.list[oldest+1:]...)
	}
}

// leaveHouse counts one user of a house less; a broken house is ended.
func leaveHouse(h *house, broken bool) {
	houses.Lock()
	defer houses.Unlock()
	h.guests--
	h.used = time.Now()
	if !broken {
		return
	}
	for i, other := range houses.list {
		if other == h {
			houses.list = append(houses.list[:i], houses.list[i+1:]...)
			if h.link != nil {
				h.link.close()
			}
			return
		}
	}
}

// endHouse ends the house of a sandbox when it was only tried.
func endHouse(s Sandbox) {
	houses.Lock()
	defer houses.Unlock()
	key := s.base().key()
	for i, h := range houses.list {
		if h.key == key && h.link != nil {
			h.link.close()
			houses.list = append(houses.list[:i], houses.list[i+1:]...)
			return
		}
	}
}

// build starts a house and waits until it is ready.
func build(s Sandbox) (*link, error) {
	name := houseOffline
	if s.Network {
		name = houseOnline
	}
	l, err := newLink(name)
	if err != nil {
		return nil, err
	}
	b, err := frame(order{House: &s})
	if err == nil {
		err = l.send(b, nil)
	}
	listeners, reported := enter(l.conn)
	if reported != nil {
		err = reported // the reason from the house says more than a failed write
	}
	if err == nil {
		err = l.forward(listeners, s.Loopback)
	}
	if err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

// newSupervisor starts a supervisor in the house.
func (h *house) newSupervisor() (*link, error) {
	ours, theirs, err := socketPair()
	if err != nil {
		return nil, err
	}
	defer func() { _ = theirs.Close() }()
	conn, err := unixConn(ours)
	if err != nil {
		return nil, err
	}
	b, err := frame(order{})
	if err == nil {
		err = h.link.send(b, unix.UnixRights(int(theirs.Fd())))
	}
	if err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("reach the sandbox's process: %w", err)
	}
	return &link{conn: conn, end: sync.OnceFunc(func() { leaveHouse(h, false) })}, nil
}

// tryHouse fails when namespaces cannot be used here. It runs a program in some.
func tryHouse() error {
	if os.Getenv(noNamespaces) != "" {
		return fmt.Errorf("%s is set", noNamespaces)
	}
	l, err := newConfinedLink(Sandbox{Mechanism: Namespaces})
	if err != nil {
		return err
	}
	defer l.close()
	defer endHouse(Sandbox{Mechanism: Namespaces})
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer func() { _ = null.Close() }()
	b, err := frame(order{Job: &job{"/proc/self/exe", []string{nobodyName}, "/", []string{}, &Sandbox{Mechanism: Namespaces}}})
	if err == nil {
		err = l.send(b, unix.UnixRights(int(null.Fd()), int(null.Fd())))
	}
	if err != nil {
		return err
	}
	_, err = enter(l.conn)
	return err
}

// noNamespaces names a variable that has Landlock used where there are namespaces,
// for tests of that.
const noNamespaces = "AGENT_LSP_TEST_NO_NAMESPACES"

// nobodyName is the command line of a process that ends at once.
const nobodyName = "agent-lsp-nobody"
