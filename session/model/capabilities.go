package model

// Capabilities are what a provider accepts beyond text, calls and their results.
type Capabilities struct {
	// Sealed says that it accepts the Sealed of its earlier responses.
	Sealed bool
}

// Capable is a Model that reports its capabilities with a profile. A model that
// does not implement it has none.
type Capable interface {
	Capabilities(p Profile) Capabilities
}

// CapabilitiesOf returns the capabilities of a model with a profile.
func CapabilitiesOf(m Model, p Profile) Capabilities {
	if c, ok := m.(Capable); ok {
		return c.Capabilities(p)
	}
	return Capabilities{}
}
