package diff

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// disturb is one way in which models malform a diff; "" when a diff gives no occasion.
type disturb struct {
	name string
	of   func(r scribe, before, patch string) string
}

// eachLine rewrites the lines of hunks; op is 0 for other lines.
func eachLine(patch string, f func(op byte, l string) string) string {
	lines := strings.Split(strings.TrimSuffix(patch, "\n"), "\n")
	inside := false
	for i, l := range lines {
		switch {
		case strings.HasPrefix(l, "@@"):
			inside = true
			lines[i] = f('@', l)
		case inside && l != "":
			lines[i] = f(l[0], l)
		case !inside:
			lines[i] = f(0, l)
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

var indents = regexp.MustCompile(`^\t+`)

// spaced returns a line of a hunk with spaces for the tabs of its indentation.
func spaced(l string, n int) string {
	return l[:1] + indents.ReplaceAllStringFunc(l[1:], func(tabs string) string { return strings.Repeat(" ", n*len(tabs)) })
}

func pick(r scribe, of ...string) string { return of[r.IntN(len(of))] }

// disturbances are the ways of spec and rule: each diff stays one that a reader would
// know how to apply.
var disturbances = []disturb{
	{"fence and prose", func(r scribe, _, p string) string {
		return pick(r, "Here is the change:\n\n", "I will\n\n- do this\n+ and that\n\n", "") + "```diff\n" + p + "```\n" + pick(r, "", "\nThat is all, it should work now.\n")
	}},
	{"mail", func(_ scribe, _, p string) string {
		return "From 123 Mon Sep 17 00:00:00 2001\nFrom: A <a@x>\nSubject: [PATCH] it\n\n---\n f.go | 2 +-\n\n" + p + "-- \n2.39.5\n"
	}},
	{"shell", func(r scribe, _, p string) string {
		return pick(r, "git apply <<'EOF'\n", "cat > x.patch <<EOF\n", "patch -p1 << \"EOF\"\n") + p + "EOF\n"
	}},
	{"malformed @@", func(r scribe, _, p string) string {
		form := r.IntN(5)
		return eachLine(p, func(op byte, l string) string {
			m := hunkHeader.FindStringSubmatch(l)
			if op != '@' || m == nil {
				return l
			}
			return []string{"@@", "@@ ... @@", "@@ @@", fmt.Sprintf("@@ -%s,%s @@", m[1], m[2]), strings.TrimSuffix(strings.TrimSpace(strings.SplitN(l, " @@", 2)[0]), "@@")}[form]
		})
	}},
	{"names", func(r scribe, _, p string) string {
		_, hunks, _ := strings.Cut(p, "\n@@")
		return pick(r, "--- a/f.go\n", "+++ b/f.go\n", "--- f.go (old)\n+++ f.go (new)\n", "--- original\n+++ modified\n", "--- i/f.go\n+++ w/f.go\n", "") + "@@" + hunks
	}},
	{"blank lines without sign", func(_ scribe, _, p string) string {
		return eachLine(p, func(op byte, l string) string {
			if blank(l[min(1, len(l)):]) && (op == ' ' || op == '+' || op == '-') {
				return ""
			}
			return l
		})
	}},
	{"one blank line too many", func(r scribe, _, p string) string {
		first := true
		if r.IntN(2) == 0 {
			return p + " \n"
		}
		return eachLine(p, func(op byte, l string) string {
			if op == '@' && first {
				first = false
				return l + "\n "
			}
			return l
		})
	}},
	{"context without its space", func(_ scribe, _, p string) string {
		return eachLine(p, func(op byte, l string) string {
			if op == ' ' {
				return l[1:]
			}
			return l
		})
	}},
	{"tabs as spaces", func(r scribe, _, p string) string {
		n := 2 + 2*r.IntN(2)
		return eachLine(p, func(op byte, l string) string {
			if op == ' ' || op == '+' || op == '-' {
				return spaced(l, n)
			}
			return l
		})
	}},
	{"outdented", func(_ scribe, _, p string) string {
		ok := true
		out := eachLine(p, func(op byte, l string) string {
			if op != ' ' && op != '+' && op != '-' || blank(l[1:]) {
				return l
			}
			ok = ok && l[1] == '\t'
			return l[:1] + strings.TrimPrefix(l[1:], "\t")
		})
		if !ok {
			return ""
		}
		return out
	}},
	{"typographic context", func(_ scribe, _, p string) string {
		return eachLine(p, func(op byte, l string) string {
			if op == ' ' {
				return strings.NewReplacer(`"`, "”", "-", "–").Replace(l)
			}
			return l
		})
	}},
	{"trailing blanks", func(r scribe, _, p string) string {
		return eachLine(p, func(op byte, l string) string {
			if op == ' ' || op == '-' {
				return l + pick(r, "", " ", "\t", "  ")
			}
			return l
		})
	}},
	{"hunk repeated", func(_ scribe, _, p string) string {
		at := strings.LastIndex(p, "\n@@")
		return p + p[at+1:]
	}},
}

// TestDisturbedDiffsLand: an honest diff that was malformed in one of the ways that
// are forgiven lands as it would have, and never elsewhere.
func TestDisturbedDiffsLand(t *testing.T) {
	r := scribe{rand.New(rand.NewPCG(3, 4))}
	count := map[string]map[string]int{}
	right, all := 0, 0
	for i := 0; all < 3000; i++ {
		d := disturbances[i%len(disturbances)]
		before := r.program("\t")
		after := r.edited(before, "\t", 1+r.IntN(3))
		patch := honest(before, after, 3)
		if before == after {
			continue
		}
		if patch = d.of(r, before, patch); patch == "" {
			continue
		}
		got := outcomeOf(t, before, after, patch)
		if count[d.name] == nil {
			count[d.name] = map[string]int{}
		}
		count[d.name][got]++
		all++
		switch got {
		case "right":
			right++
		case "wrong":
			t.Errorf("%s: the diff\n%s\nlands wrongly in\n%s", d.name, patch, before)
		default:
			if count[d.name][got] < 3 && testing.Verbose() {
				_, _, err := apply1(before, patch)
				t.Logf("%s: refused, %v:\n%s", d.name, err, patch)
			}
		}
	}
	for _, d := range disturbances {
		t.Logf("%s: %v", d.name, count[d.name])
	}
	if 100*right < 97*all {
		t.Errorf("only %d of %d land", right, all)
	}
}

// TestHunksAgainstTheResultOfThoseBeforeLand: the second of two diffs stands behind the
// first in one patch.
func TestHunksAgainstTheResultOfThoseBeforeLand(t *testing.T) {
	r := scribe{rand.New(rand.NewPCG(5, 6))}
	count := map[string]int{}
	for range 500 {
		before := r.program("\t")
		between := r.edited(before, "\t", 1)
		after := r.edited(between, "\t", 1)
		second := honest(between, after, 3)
		if before == between || between == after {
			continue
		}
		patch := honest(before, between, 3) + second[strings.Index(second, "@@"):]
		got := outcomeOf(t, before, after, patch)
		count[got]++
		if got == "wrong" {
			t.Errorf("the diff\n%s\nlands wrongly in\n%s", patch, before)
		}
	}
	t.Log(count)
	if 100*count["right"] < 95*(count["right"]+count["refused"]) {
		t.Errorf("too many are refused: %v", count)
	}
}

func apply1(before, patch string) (string, []string, error) {
	files, err := Parse(patch)
	if err != nil {
		return "", nil, err
	}
	return Apply(before, Merge(files))
}
