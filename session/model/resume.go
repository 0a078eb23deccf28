package model

// Resumer is a Model whose replies have a position, such as a script. A process
// that resumes a session reports the earlier replies, so that the model continues
// where it stopped.
type Resumer interface {
	// Answered records that a request of this step has its reply: the response
	// with this ProviderID, or a failure when the id is empty. It is called once
	// for each finished request, in order, before the first Respond.
	Answered(step, providerID string)
}
