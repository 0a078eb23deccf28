package model

import "regexp"

// files are the words of a provider that speaks of a picture or another file.
var files = regexp.MustCompile(`(?i)image|picture|\bphoto|\bvision\b|\bmedia\b|media_?type|\bmime\b|multi-?modal|video|\bpdfs?\b|base64|content must be a string`)

// AboutMedia reports whether a provider's error text says that it did not accept a
// file in the request, or that its model accepts none. The result means something
// only for a request that has files.
func AboutMedia(text string) bool { return files.MatchString(text) }
