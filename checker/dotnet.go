package checker

// Dotnet names .NET projects, whose check is their whole build: that is too dear
// to run after every edit.
const Dotnet = "dotnet"

func dotnet() ecosystem {
	return ecosystem{
		name:    Dotnet,
		markers: []string{"*.csproj", "*.fsproj", "*.sln"},
		toolchain: fixed(Toolchain{
			Manager: "dotnet",
			Install: argv("dotnet restore"),
			Build:   argv("dotnet build"),
			Test:    argv("dotnet test"),
			Lint:    argv("dotnet format --verify-no-changes"),
			Format:  argv("dotnet format"),
			Run:     argv("dotnet run"),
		}),
	}
}
