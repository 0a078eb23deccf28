//go:build !unix

package sqlite

import "io/fs"

// Access lists, which Go's modes do not show, decide here; a file gets its
// directory's, and a user's state directory is the user's alone.

func othersMay(fs.FileMode) bool { return false }

func tightenDir(string) error { return nil }
