package server

import "os"

// markUsed marks nothing: nothing confines programs here, which then have no directories
// of their own.
func markUsed(string) (*os.File, error) { return nil, nil }

func sweep(string) {}
