package checker

// Elixir names Elixir projects, whose check is their whole build: that is too dear
// to run after every edit.
const Elixir = "elixir"

func elixir() ecosystem {
	return ecosystem{
		name:    Elixir,
		markers: []string{"mix.exs"},
		toolchain: fixed(Toolchain{
			Manager: "mix",
			Install: argv("mix deps.get"),
			Build:   argv("mix compile"),
			Test:    argv("mix test"),
			Lint:    argv("mix credo"),
			Format:  argv("mix format"),
			Run:     argv("mix run"),
		}),
	}
}
