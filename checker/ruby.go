package checker

// Ruby names Ruby projects, whose check is their whole build: that is too dear
// to run after every edit.
const Ruby = "ruby"

func ruby() ecosystem {
	return ecosystem{
		name:    Ruby,
		markers: []string{"Gemfile"},
		toolchain: fixed(Toolchain{
			Manager: "bundler",
			Install: argv("bundle install"),
			Test:    argv("bundle exec rake test"),
			Lint:    argv("bundle exec rubocop"),
			Format:  argv("bundle exec rubocop -a"),
			Run:     argv("bundle exec ruby main.rb"),
		}),
	}
}
