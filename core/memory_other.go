//go:build !unix && !windows

package core

import "errors"

func reserve(int) ([]byte, error) { return nil, errors.ErrUnsupported }
func commit([]byte) bool          { return true }
func empty([]byte)                {}
func release([]byte)              {}
