package model

// Capabilities are what a provider takes beyond text, calls and their results.
type Capabilities struct {
	// Sealed says that it takes back the Sealed of its responses.
	Sealed bool
}

// Capable is a Model that says what it can do with a profile. A model that does
// not say takes nothing beyond.
type Capable interface {
	Capabilities(p Profile) Capabilities
}

// CapabilitiesOf asks a model what it can do with a profile.
func CapabilitiesOf(m Model, p Profile) Capabilities {
	if c, ok := m.(Capable); ok {
		return c.Capabilities(p)
	}
	return Capabilities{}
}
