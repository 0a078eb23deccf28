package checker

import "regexp"

// crash is what runtimes print when a tool itself breaks: Go's, Rust's (deno,
// cargo), Node's (tsc, pyright) and Python's.
var crash = regexp.MustCompile(`(?m)^(?:panic: |fatal error: |runtime: |unexpected fault address|thread '.*' (?:\(\d+\) )?panicked at |Deno has panicked|Node\.js v\d|FATAL ERROR: |Error: Debug Failure|Traceback \(most recent call last\))`)

// noteCrash makes a report of what a tool printed that broke: what it found before
// counts, but is not all, and without any nothing was looked at.
func (r *report) noteCrash(out output) {
	said := joined(out.stderr, out.stdout)
	if out.code == 0 || r.broken != "" || !crash.MatchString(said) {
		return
	}
	if r.findings("") == 0 {
		r.broken = "it crashed:\n" + said
	} else if r.partial == "" {
		r.partial = "the tool crashed"
	}
}
