package tools

// Lines is a place in a text: line numbers from 1, Last included. Last is below
// First where lines are missing before First.
type Lines struct{ First, Last int }

// Revert takes the change that made after of before back in a text that may have
// changed further since: what others did to other lines stays. Where they changed
// the same lines nothing is reverted and clashes are those lines of the text.
func Revert(text, before, after string) (reverted string, clashes []Lines) {
	reverted, clash := merge3(after, text, before)
	for _, c := range clash {
		clashes = append(clashes, Lines{First: c.newStart + 1, Last: c.newEnd})
	}
	return reverted, clashes
}
