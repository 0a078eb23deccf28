// Package greet makes greetings.
package greet

// Hello greets name.
func Hello(name string) string {
	return "Hello, " + name + "!"
}
