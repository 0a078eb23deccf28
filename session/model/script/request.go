package script

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
)

// request is a Print in a file. A session's requests repeat each other's
// messages, so a run of messages that were written out before, here or in an
// earlier entry, is written as first-last, by their numbers in the order of
// writing.
type request Print

// UnmarshalYAML implements yaml.NodeUnmarshaler. Numbers are resolved by expand.
func (p *request) UnmarshalYAML(n ast.Node) error {
	var f struct {
		Tools    string `yaml:"tools"`
		Messages string `yaml:"messages"`
	}
	if err := yaml.NodeToValue(n, &f, yaml.Strict()); err != nil {
		return err
	}
	p.Tools, p.Messages = f.Tools, strings.Fields(f.Messages)
	return nil
}

// known is the messages that a file writes out, in order. The first has the
// number 1.
type known struct {
	digests []string
	places  map[string][]int // from 0
}

func (k *known) add(digest string) {
	if k.places == nil {
		k.places = map[string][]int{}
	}
	k.places[digest] = append(k.places[digest], len(k.digests))
	k.digests = append(k.digests, digest)
}

// expand replaces numbers by the digests that they stand for.
func (k *known) expand(fields []string) ([]string, error) {
	var out []string
	for _, f := range fields {
		if strings.Contains(f, ":") {
			k.add(f)
			out = append(out, f)
			continue
		}
		a, b, isRun := strings.Cut(f, "-")
		if !isRun {
			b = a
		}
		first, err1 := strconv.Atoi(a)
		last, err2 := strconv.Atoi(b)
		if err1 != nil || err2 != nil || first < 1 || last < first || last > len(k.digests) {
			return nil, fmt.Errorf("request names the message %q: it is role:digest, or numbers of messages written before, of which there are %d", f, len(k.digests))
		}
		out = append(out, k.digests[first-1:last]...)
		if len(out) > maxMessages {
			return nil, fmt.Errorf("request has more than %d messages", maxMessages)
		}
	}
	return out, nil
}

// maxMessages bounds what a few numbers in a file can expand to.
const maxMessages = 1 << 16

// compact is the inverse of expand. A message that stands alone is written out
// again: the next request then finds it in one run with its neighbours.
func (k *known) compact(digests []string) string {
	var fields []string
	for i := 0; i < len(digests); {
		first, n := k.longest(digests[i:])
		if n < 2 {
			fields = append(fields, digests[i])
			k.add(digests[i])
			i++
			continue
		}
		fields = append(fields, strconv.Itoa(first+1)+"-"+strconv.Itoa(first+n))
		i += n
	}
	return strings.Join(fields, " ")
}

// longest finds the longest run that digests begin with, among the first and the
// last few places of their first one.
func (k *known) longest(digests []string) (first, n int) {
	const few = 8
	places := k.places[digests[0]]
	if len(places) > 2*few {
		places = append(places[:few:few], places[len(places)-few:]...)
	}
	for _, p := range places {
		m := 0
		for m < len(digests) && p+m < len(k.digests) && k.digests[p+m] == digests[m] {
			m++
		}
		if m > n {
			first, n = p, m
		}
	}
	return first, n
}
