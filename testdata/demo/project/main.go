// Command hello greets whoever is named on its command line.
package main

import (
	"fmt"
	"os"

	"example.test/hello/greet"
)

func main() {
	name := "world"
	if len(os.Args) > 1 {
		name = os.Args[1]
	}
	fmt.Println(greet.Hello(name, greet.Loud))
}
