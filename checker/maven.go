package checker

// Maven names Maven projects, whose check is their whole build: that is too dear
// to run after every edit.
const Maven = "maven"

func maven() ecosystem {
	return ecosystem{
		name:    Maven,
		markers: []string{"pom.xml"},
		toolchain: fixed(Toolchain{
			Manager: "mvn",
			Install: argv("mvn -B dependency:go-offline"),
			Build:   argv("mvn -B compile"),
			Test:    argv("mvn -B test"),
			Format:  argv("mvn -B formatter:format"),
			Run:     argv("mvn -B exec:java"),
		}),
	}
}
