package diff

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/aymanbagabas/go-udiff"
)

// honest returns the diff that git makes of two texts, headings included.
func honest(before, after string, context int) string {
	unified, err := udiff.ToUnified("a/f.go", "b/f.go", before, udiff.Lines(before, after), context)
	if err != nil {
		panic(err)
	}
	file := Texts(Split(before))
	out := strings.Split(unified, "\n")
	for i, l := range out {
		m := hunkHeader.FindStringSubmatch(l)
		if m == nil {
			continue
		}
		start, heading := number(m[1], 0), ""
		for at := min(start, len(file)) - 2; at >= 0; at-- {
			if l := file[at]; l != "" && (l[0] == '_' || l[0] >= 'a' && l[0] <= 'z') {
				heading = " " + l
				break
			}
		}
		if m[2] == "0" { // git counts from the line before
			out[i] = fmt.Sprintf("@@ -%d,0 +%s", start-insertShift, strings.SplitN(l, "+", 2)[1])
		}
		out[i] += heading
	}
	return strings.Join(out, "\n")
}

// insertShift is 1 where the library counts the line behind an insertion.
var insertShift = func() int {
	unified, _ := udiff.ToUnified("a", "b", "1\n2\n3\n", udiff.Lines("1\n2\n3\n", "1\n2\nx\n3\n"), 0)
	m := regexp.MustCompile(`@@ -(\d+)`).FindStringSubmatch(unified)
	return number(m[1], 0) - 2
}()

// source of random texts.
type scribe struct{ *rand.Rand }

// repetitive returns a text in which most lines stand several times.
func (r scribe) repetitive() string {
	var b strings.Builder
	for range 2 + r.IntN(6) {
		fmt.Fprintf(&b, "func f%d() {\n", r.IntN(3))
		for range 1 + r.IntN(5) {
			b.WriteString([]string{"\tx++\n", "\tlog(x)\n", "\n", "\treturn nil\n", "\tif x {\n\t\ty()\n\t}\n", fmt.Sprintf("\tv%d()\n", r.IntN(9))}[r.IntN(6)])
		}
		b.WriteString("}\n\n")
	}
	return b.String()
}

// program returns a text like a program's: most lines are unlike the others.
func (r scribe) program(indent string) string {
	var b strings.Builder
	for f := range 6 + r.IntN(6) {
		fmt.Fprintf(&b, "func name%d(a int) error {\n", f)
		for range 2 + r.IntN(4) {
			fmt.Fprintf(&b, "%sv%d := call%d(a, \"text-%d\")\n", indent, r.IntN(50), r.IntN(50), r.IntN(1000))
			switch r.IntN(4) {
			case 0:
				fmt.Fprintf(&b, "%sif v%d != nil {\n%s%sreturn err\n%s}\n", indent, r.IntN(50), indent, indent, indent)
			case 1:
				b.WriteString("\n")
			}
		}
		fmt.Fprintf(&b, "%sreturn nil\n}\n\n", indent)
	}
	return b.String()
}

// edited returns a text with some of its lines deleted, changed and added.
func (r scribe) edited(text, indent string, n int) string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for range n {
		at := r.IntN(len(lines))
		fresh := fmt.Sprintf("%snew%d()", indent, r.IntN(10000))
		switch r.IntN(4) {
		case 0:
			if len(lines) > 1 {
				lines = append(lines[:at], lines[at+1:]...)
			}
		case 1:
			lines[at] = fresh
		case 2:
			lines = append(lines[:at], append([]string{fresh}, lines[at:]...)...)
		case 3:
			lines = append(lines[:at], append([]string{fresh, "", fresh + " // again"}, lines[at:]...)...)
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

// outcomeOf applies a patch and says whether the result is right, wrong or refused.
func outcomeOf(t *testing.T, before, after, patch string) string {
	t.Helper()
	files, err := Parse(patch)
	got := ""
	if err == nil {
		got, _, err = Apply(before, Merge(files))
	}
	switch {
	case errors.Is(err, ErrApplied):
		t.Errorf("a patch that is not applied is taken for it:\n%s\nof\n%s", patch, before)
		return "wrong"
	case err != nil:
		return "refused"
	case got != after:
		return "wrong"
	}
	return "right"
}

// TestHonestDiffsOfRepetitiveFilesNeverLandInAWrongPlace: what git itself makes is
// applied rightly, or refused where its lines stand in several places.
func TestHonestDiffsOfRepetitiveFilesNeverLandInAWrongPlace(t *testing.T) {
	r := scribe{rand.New(rand.NewPCG(1, 2))}
	var count [4]map[string]int
	for i := range 1500 {
		before := r.repetitive()
		after := r.edited(before, "\t", 1+r.IntN(3))
		if before == after {
			continue
		}
		context := i % 4
		patch := honest(before, after, context)
		if count[context] == nil {
			count[context] = map[string]int{}
		}
		got := outcomeOf(t, before, after, patch)
		count[context][got]++
		if got == "wrong" {
			t.Errorf("the diff -U%d\n%s\nlands wrongly in\n%s", context, patch, before)
		}
	}
	for context, c := range count {
		t.Logf("-U%d: %v", context, c)
		if c["right"] == 0 {
			t.Errorf("none with -U%d lands", context)
		}
	}
	if c := count[3]; 10*c["right"] < 9*(c["right"]+c["refused"]) {
		t.Errorf("too many of -U3 are refused: %v", c)
	}
}
