package checker

// PHP names PHP projects, whose check is their whole build: that is too dear
// to run after every edit.
const PHP = "php"

func php() ecosystem {
	return ecosystem{
		name:    PHP,
		markers: []string{"composer.json"},
		toolchain: fixed(Toolchain{
			Manager: "composer",
			Install: argv("composer install"),
			Test:    argv("composer test"),
			Lint:    argv("composer lint"),
			Run:     argv("php -S 127.0.0.1:8000"),
		}),
	}
}
