package checker

import "strings"

// toolchain fills in an ecosystem's commands. names are the files beside the
// marker: a lockfile tells which package manager is in use.
func toolchain(ecosystem string, names map[string]bool) Toolchain {
	switch ecosystem {
	case Node:
		return nodeToolchain(names)
	case Python:
		return pythonToolchain(names)
	}
	tc := plainToolchains[ecosystem]
	tc.Ecosystem = ecosystem
	return tc
}

func argv(line string) []string { return strings.Fields(line) }

func nodeToolchain(names map[string]bool) Toolchain {
	manager := "npm"
	for _, lock := range []struct{ file, manager string }{
		{"bun.lockb", "bun"},
		{"bun.lock", "bun"},
		{"pnpm-lock.yaml", "pnpm"},
		{"yarn.lock", "yarn"},
	} {
		if names[lock.file] {
			manager = lock.manager
			break
		}
	}
	return Toolchain{
		Ecosystem: Node,
		Manager:   manager,
		Install:   []string{manager, "install"},
		Check:     argv("tsc --noEmit"),
		Build:     []string{manager, "run", "build"},
		Test:      []string{manager, "test"},
		Lint:      []string{manager, "run", "lint"},
		Format:    []string{manager, "run", "format"},
		Run:       []string{manager, "start"},
	}
}

func pythonToolchain(names map[string]bool) Toolchain {
	tc := Toolchain{
		Ecosystem: Python,
		Manager:   "pip",
		Install:   argv("python -m pip install -e ."),
		Check:     argv("pyright"),
	}
	prefix := "python -m "
	module := "python -m main"
	switch {
	case names["uv.lock"]:
		tc.Manager, tc.Install, prefix = "uv", argv("uv sync"), "uv run "
		module = "uv run python -m main"
	case names["poetry.lock"]:
		tc.Manager, tc.Install, prefix = "poetry", argv("poetry install"), "poetry run "
		module = "poetry run python -m main"
	}
	tc.Test = argv(prefix + "pytest")
	tc.Lint = argv(prefix + "ruff check")
	tc.Format = argv(prefix + "ruff format")
	tc.Run = argv(module)
	return tc
}

var plainToolchains = map[string]Toolchain{
	Cargo: {
		Manager: "cargo",
		Install: argv("cargo fetch"),
		Check:   argv("cargo check --message-format=json"),
		Build:   argv("cargo build"),
		Test:    argv("cargo test"),
		Lint:    argv("cargo clippy --all-targets"),
		Format:  argv("cargo fmt"),
		Run:     argv("cargo run"),
	},
	Deno: {
		Manager: "deno",
		Check:   argv("deno check ."),
		Build:   argv("deno check ."),
		Test:    argv("deno test"),
		Lint:    argv("deno lint"),
		Format:  argv("deno fmt"),
		Run:     argv("deno task start"),
	},
	Go: {
		Manager: "go",
		Check:   argv("go build ./..."),
		Build:   argv("go build ./..."),
		Test:    argv("go test ./..."),
		Lint:    argv("go vet ./..."),
		Format:  argv("gofmt -w ."),
		Run:     argv("go run ."),
	},
	Maven: {
		Manager: "mvn",
		Install: argv("mvn -B dependency:go-offline"),
		Build:   argv("mvn -B compile"),
		Test:    argv("mvn -B test"),
		Format:  argv("mvn -B formatter:format"),
		Run:     argv("mvn -B exec:java"),
	},
	Gradle: {
		Manager: "gradle",
		Build:   argv("gradle build"),
		Test:    argv("gradle test"),
		Lint:    argv("gradle check"),
		Run:     argv("gradle run"),
	},
	Elixir: {
		Manager: "mix",
		Install: argv("mix deps.get"),
		Build:   argv("mix compile"),
		Test:    argv("mix test"),
		Lint:    argv("mix credo"),
		Format:  argv("mix format"),
		Run:     argv("mix run"),
	},
	Ruby: {
		Manager: "bundler",
		Install: argv("bundle install"),
		Test:    argv("bundle exec rake test"),
		Lint:    argv("bundle exec rubocop"),
		Format:  argv("bundle exec rubocop -a"),
		Run:     argv("bundle exec ruby main.rb"),
	},
	PHP: {
		Manager: "composer",
		Install: argv("composer install"),
		Test:    argv("composer test"),
		Lint:    argv("composer lint"),
		Run:     argv("php -S 127.0.0.1:8000"),
	},
	Swift: {
		Manager: "swift",
		Install: argv("swift package resolve"),
		Build:   argv("swift build"),
		Test:    argv("swift test"),
		Format:  argv("swift-format -i -r Sources"),
		Run:     argv("swift run"),
	},
	CMake: {
		Manager: "cmake",
		Build:   argv("cmake --build build"),
		Test:    argv("ctest --test-dir build"),
	},
	Dotnet: {
		Manager: "dotnet",
		Install: argv("dotnet restore"),
		Build:   argv("dotnet build"),
		Test:    argv("dotnet test"),
		Lint:    argv("dotnet format --verify-no-changes"),
		Format:  argv("dotnet format"),
		Run:     argv("dotnet run"),
	},
	Make: {
		Manager: "make",
		Build:   argv("make"),
		Test:    argv("make test"),
		Lint:    argv("make lint"),
		Format:  argv("make format"),
		Run:     argv("make run"),
	},
}
