package proc

// Main must be called first by a program that uses Run, before anything else
// happens, flags and logs included. In the process that a person or an editor
// started it returns at once. Programs are run through another process of the
// same file, which outlives the one that asked by just the time that it takes to
// end what it watches; in that one Main does that work and exits. Where Main was
// never called, programs are run directly: then they die with the server only as
// far as the system itself sees to that, and a Sandbox is refused.
func Main() {}
