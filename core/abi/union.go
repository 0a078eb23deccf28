package abi

// The unions marshal themselves, for packages that keep them within JSON of
// their own: in the same shape as the codec of this package and as strictly.

// MarshalJSON writes v as AppendEvent does.
func (v Event) MarshalJSON() ([]byte, error) { return marshal(v, (*encoder).event) }

// UnmarshalJSON reads v as DecodeEvent does.
func (v *Event) UnmarshalJSON(data []byte) error { return unmarshal(data, v, (*messageReader).event) }

// MarshalJSON writes v, of which one variant must be set.
func (v Op) MarshalJSON() ([]byte, error) { return marshal(v, (*encoder).op) }

// UnmarshalJSON reads v, which must name one variant that an Op has.
func (v *Op) UnmarshalJSON(data []byte) error {
	return unmarshal(data, v, func(r *messageReader) Op { return r.op(new(Decoder)) })
}

// MarshalJSON writes v, of which one variant must be set.
func (v Call) MarshalJSON() ([]byte, error) { return marshal(v, (*encoder).call) }

// UnmarshalJSON reads v, which must name one variant that a Call has.
func (v *Call) UnmarshalJSON(data []byte) error { return unmarshal(data, v, (*messageReader).call) }

// MarshalJSON writes v as AppendMessage does.
func (v Message) MarshalJSON() ([]byte, error) { return marshal(v, (*encoder).message) }

// UnmarshalJSON reads v as DecodeMessage does.
func (v *Message) UnmarshalJSON(data []byte) error {
	return unmarshal(data, v, (*messageReader).message)
}

// MarshalJSON writes v as the bare name of its variant.
func (v Outcome) MarshalJSON() ([]byte, error) { return marshal(v, (*encoder).outcome) }

// UnmarshalJSON reads v, which must name one variant that an Outcome has.
func (v *Outcome) UnmarshalJSON(data []byte) error {
	return unmarshal(data, v, (*messageReader).outcome)
}

func marshal[T any](v T, write func(*encoder, T)) ([]byte, error) {
	var e encoder
	write(&e, v)
	return e.done()
}

func unmarshal[T any](data []byte, v *T, read func(*messageReader) T) error {
	r := newMessageReader(data)
	got := read(&r)
	if err := r.End(); err != nil {
		return err
	}
	*v = got
	return nil
}
