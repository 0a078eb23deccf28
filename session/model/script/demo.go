package script

import (
	_ "embed"
	"fmt"
)

//go:embed demo.yaml
var demo []byte

// demoTurns is how many prompts the demonstration has replies for in one session.
const demoTurns = 1000

// Demo is the script that is played when none is named. It looks at the
// workspace, writes and patches a file, and says how to configure a model; after
// that it only repeats the hint.
func Demo() (*Script, error) {
	s, err := Parse("the built-in demonstration", demo)
	if err != nil {
		return nil, err
	}
	last := s.Entries[len(s.Entries)-1]
	for n := len(s.Entries) + 1; n <= demoTurns; n++ {
		last.ProviderID = fmt.Sprintf("script-%d", n)
		s.Entries = append(s.Entries, last)
	}
	return s, nil
}
