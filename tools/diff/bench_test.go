package diff

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkPatchText5000 places a hunk in a text of 5,000 lines, without any file.
func BenchmarkPatchText5000(b *testing.B) {
	var s strings.Builder
	for i := range 1250 {
		fmt.Fprintf(&s, "func f%d() {\n\tcall(%d)\n\treturn\n}\n", i, i)
	}
	text := s.String()
	for name, patch := range map[string]string{ // the first is not to be slower than it ever was
		"exact":              "@@ -2997,4 +2997,4 @@\n func f749() {\n-\tcall(749)\n+\tCALL\n \treturn\n }\n",
		"indented otherwise": "@@\n func f749() {\n-    call(749)\n+    CALL\n     return\n }\n",
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				files, err := Parse(patch)
				if err != nil {
					b.Fatal(err)
				}
				if _, _, err := Apply(text, files[0]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
