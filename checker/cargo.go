package checker

// Cargo names Rust projects.
const Cargo = "cargo"

func cargo() ecosystem {
	return ecosystem{
		name:    Cargo,
		markers: []string{"Cargo.toml"},
		sources: []string{".rs"},
		toolchain: fixed(Toolchain{
			Manager: "cargo",
			Install: argv("cargo fetch"),
			Check:   argv("cargo check --message-format=json"),
			Build:   argv("cargo build"),
			Test:    argv("cargo test"),
			Lint:    argv("cargo clippy --all-targets"),
			Format:  argv("cargo fmt"),
			Run:     argv("cargo run"),
		}),
		plan:  (*Checker).cargoPlan,
		parse: func(job, string) parser { return parseCargoAny },
		home:  (*Checker).cargoWorkspace,
	}
}
