package tools

// Lines is a place in a text: line numbers from 1, Last included. Last is below
// First where lines are missing before First.
type Lines struct{ First, Last int }

// Merge merges two edits of base, ours and theirs, line by line. Where both changed
// the same lines nothing is merged and clashes are those lines of ours.
func Merge(base, ours, theirs string) (merged string, clashes []Lines) {
	merged, clash := merge3(base, ours, theirs)
	for _, c := range clash {
		clashes = append(clashes, Lines{First: c.newStart + 1, Last: c.newEnd})
	}
	return merged, clashes
}

// Revert undoes the edit from before to after in a text that may have changed further
// since: later changes to other lines stay. Where they changed the same lines nothing
// is reverted and clashes are those lines of the text.
func Revert(text, before, after string) (reverted string, clashes []Lines) {
	return Merge(after, text, before)
}
