package tools

import (
	"io/fs"
	"os"
)

// links is two for any file: the system does not tell it cheaply.
func links(fs.FileInfo) uint64 { return 2 }

// keepOwner does nothing: a new file inherits its directory's rights.
func keepOwner(*os.File, fs.FileInfo) {}
