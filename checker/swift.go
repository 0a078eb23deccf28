package checker

// Swift names Swift projects, whose check is their whole build: that is too dear
// to run after every edit.
const Swift = "swift"

func swift() ecosystem {
	return ecosystem{
		name:    Swift,
		markers: []string{"Package.swift"},
		toolchain: fixed(Toolchain{
			Manager: "swift",
			Install: argv("swift package resolve"),
			Build:   argv("swift build"),
			Test:    argv("swift test"),
			Format:  argv("swift-format -i -r Sources"),
			Run:     argv("swift run"),
		}),
	}
}
