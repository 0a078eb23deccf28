package model

// Resumer is a Model with a place in its answers, such as a script. A process
// that resumes a session tells it what was answered before, so that it goes on
// where it stopped.
type Resumer interface {
	// Answered says that an ask of this step has had its answer: the response
	// with this ProviderID, or a failure when the id is empty. It is called once
	// for each finished ask, in their order, before the first Respond.
	Answered(step, providerID string)
}
