//go:build !linux

package main

// helpers are programs that only Linux needs: without them scripts are skipped.
var helpers map[string]func()
