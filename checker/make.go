package checker

// Make names make projects, whose check is their whole build: that is too dear
// to run after every edit.
const Make = "make"

func makefile() ecosystem {
	return ecosystem{
		name:    Make,
		markers: []string{"Makefile"},
		toolchain: fixed(Toolchain{
			Manager: "make",
			Build:   argv("make"),
			Test:    argv("make test"),
			Lint:    argv("make lint"),
			Format:  argv("make format"),
			Run:     argv("make run"),
		}),
	}
}
