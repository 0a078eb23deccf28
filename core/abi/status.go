package abi

// Status is what the module's functions return.
type Status = int32

// The statuses.
const (
	OK        Status = 0
	Handle    Status = -1 // no session has this handle
	Malformed Status = -2 // the bytes are not what they should be
	Poison    Status = -3 // the session panicked in an earlier call
	Panic     Status = -4 // the session panicked in this call
	Null      Status = -5 // a pointer is null or to memory that was not lent
	Busy      Status = -6 // the session's last result was not returned yet
	Full      Status = -7 // the module has as many sessions as it can
)

// Refused is what the model reads about a call whose path, as the model gave
// it, is not inside the workspace.
func Refused(path string) string { return "refused: " + path + " is not inside the workspace" }
