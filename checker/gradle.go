package checker

// Gradle names Gradle projects, whose check is their whole build: that is too dear
// to run after every edit.
const Gradle = "gradle"

func gradle() ecosystem {
	return ecosystem{
		name:    Gradle,
		markers: []string{"build.gradle", "build.gradle.kts"},
		toolchain: fixed(Toolchain{
			Manager: "gradle",
			Build:   argv("gradle build"),
			Test:    argv("gradle test"),
			Lint:    argv("gradle check"),
			Run:     argv("gradle run"),
		}),
	}
}
