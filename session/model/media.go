package model

import "regexp"

// files are the words of a provider that speaks of a picture or another file.
var files = regexp.MustCompile(`(?i)image|picture|\bphoto|\bvision\b|\bmedia\b|media_?type|\bmime\b|multi-?modal|video|\bpdfs?\b|base64|content must be a string`)

// AboutMedia tells from a provider's text that it did not take a file in the
// request, or that its model takes none. It says much about a request that holds
// files, and nothing about any other.
func AboutMedia(text string) bool { return files.MatchString(text) }
