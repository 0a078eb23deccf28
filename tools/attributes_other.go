//go:build !linux && !darwin

package tools

import "os"

// attributes returns none: they are not known on this system.
func attributes(*os.File) (map[string][]byte, error) { return nil, nil }

func setAttributes(*os.File, map[string][]byte) error { return nil }
