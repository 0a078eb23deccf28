package checker

import (
	"path/filepath"
	"slices"
	"strings"
)

// cargoLooked is the files that a run of cargo compiled: rustc lists them beside each
// artifact.
type cargoLooked struct {
	base    string   // where rustc's names start
	deps    []string // the dependency files of this run's artifacts
	failed  []string // directories of targets with errors, which leave no artifact
	untried string   // why tests, examples and benches were not compiled, "" when they were
	files   fileSet  // nil until it is needed
}

// parse reads the check itself.
func (l *cargoLooked) parse(out output) report {
	l.note(out)
	return parseCargo(out)
}

// targets adds what the check of all targets found besides, which are the errors
// of tests, examples and benches. Where these cannot be built at all, as without a
// test harness or with dependencies missing that only they have, nothing is found.
func (l *cargoLooked) targets(rep *report, out output) {
	all := parseCargo(out)
	if all.broken != "" || all.partial != "" {
		l.untried, _, _ = strings.Cut(all.broken+cargoStderr(out.stderr), "\n")
		return
	}
	if slices.ContainsFunc(all.blocks, withoutHarness) {
		l.untried = "the crate has no test harness"
		return
	}
	l.note(out)
	had := make(map[string]bool, len(rep.blocks))
	for _, b := range rep.blocks {
		had[b.text] = true
	}
	for _, b := range all.blocks {
		if !had[b.text] {
			rep.blocks = append(rep.blocks, b)
			rep.also = true
		}
	}
}

// withoutHarness reports whether a block is the error of a crate without the
// standard library that was to be compiled as a test.
func withoutHarness(b block) bool {
	return strings.Contains(b.text, "can't find crate for `test`") ||
		strings.Contains(b.text, "duplicate lang item `panic_impl`") || strings.Contains(b.text, "found duplicate lang item")
}

// note stores the artifacts of a run, and its targets that have none.
func (l *cargoLooked) note(out output) {
	for line := range cargoLines(out.stdout) {
		if !strings.Contains(line.Package, "path+file://") {
			continue // a dependency from elsewhere
		}
		switch {
		case line.Reason == "compiler-artifact":
			l.deps = append(l.deps, depFiles(line.Files)...)
		case line.Message != nil && line.Message.Level == "error":
			l.failed = append(l.failed, filepath.Dir(line.Target.Src))
		}
	}
}

// depFiles names the dependency files that belong to an artifact's files.
func depFiles(artifact []string) []string {
	var deps []string
	for _, file := range artifact {
		dir, name := filepath.Split(file)
		name = strings.TrimSuffix(name, filepath.Ext(name))
		for _, stem := range []string{strings.TrimPrefix(name, "lib"), name} {
			if dep := filepath.Join(dir, stem+".d"); isFile(dep) {
				return []string{dep}
			}
		}
		// A build script has a directory of its own.
		if found, err := filepath.Glob(filepath.Join(dir, "*.d")); err == nil && filepath.Base(filepath.Dir(filepath.Clean(dir))) == "build" {
			deps = append(deps, found...)
		}
	}
	return deps
}

func (l *cargoLooked) whyNot(path string) string {
	if l.files == nil {
		l.files = fileSet{}
		for _, dep := range l.deps {
			l.read(dep)
		}
	}
	if l.files.has(path) || slices.ContainsFunc(l.failed, func(dir string) bool { return within(dir, path) }) {
		return ""
	}
	if l.untried != "" {
		return "is not looked at by `cargo check`, and its tests, examples and benches could not be built (" + headAndTail(l.untried, 200) + ")"
	}
	return notBuilt
}

// read takes the files of a dependency file, in which each has a line of its own
// that ends with a colon.
func (l *cargoLooked) read(dep string) {
	text, err := readText(dep)
	if err != nil {
		return // the files that it names count as not read
	}
	for line := range lines(plain(string(text))) {
		name, is := strings.CutSuffix(line, ":")
		if !is {
			continue
		}
		name = filepath.FromSlash(strings.ReplaceAll(name, "\\ ", " "))
		if !filepath.IsAbs(name) {
			name = filepath.Join(l.base, name)
		}
		l.files[filepath.Clean(name)] = true
	}
}
