package checker

import "testing"

// TestAReadOnlyModuleCacheIsNoFailure is about a line that the go command prints on
// success.
func TestAReadOnlyModuleCacheIsNoFailure(t *testing.T) {
	for _, why := range []string{"permission denied", "read-only file system"} {
		r := parseGo(output{stderr: "go: writing stat cache: open /home/me/go/pkg/mod/cache/download/a.test/@v/v1.0.0.info123.tmp: " + why + "\n"})
		if r.broken != "" || len(r.blocks) > 0 {
			t.Errorf("%s: broken %q, %d blocks", why, r.broken, len(r.blocks))
		}
	}
	if r := parseGo(output{stderr: "go: a.test@v1.0.0: permission denied\n"}); r.broken == "" {
		t.Error("another line of the go command is dropped, too")
	}
}
