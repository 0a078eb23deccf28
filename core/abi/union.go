//go:build !wasip1

package abi

import (
	"github.com/go-json-experiment/json/jsontext"
)

// The unions marshal themselves for github.com/go-json-experiment/json, in the
// same shape as the codec of this package and as strictly. The guest has only
// the codec.

// MarshalJSONTo writes v as AppendEvent does.
func (v Event) MarshalJSONTo(enc *jsontext.Encoder) error { return put(enc, v, (*encoder).event) }

// UnmarshalJSONFrom reads v as DecodeEvent does.
func (v *Event) UnmarshalJSONFrom(dec *jsontext.Decoder) error { return get(dec, v, (*Reader).event) }

// MarshalJSONTo writes v with its one variant.
func (v Op) MarshalJSONTo(enc *jsontext.Encoder) error { return put(enc, v, (*encoder).op) }

// UnmarshalJSONFrom reads v, which must name one variant that an Op has.
func (v *Op) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return get(dec, v, func(r *Reader) Op { return r.op(new(Decoder)) })
}

// MarshalJSONTo writes v with its one variant.
func (v Call) MarshalJSONTo(enc *jsontext.Encoder) error { return put(enc, v, (*encoder).call) }

// UnmarshalJSONFrom reads v, which must name one variant that a Call has.
func (v *Call) UnmarshalJSONFrom(dec *jsontext.Decoder) error { return get(dec, v, (*Reader).call) }

// MarshalJSONTo writes v as AppendMessage does.
func (v Message) MarshalJSONTo(enc *jsontext.Encoder) error { return put(enc, v, (*encoder).message) }

// UnmarshalJSONFrom reads v as DecodeMessage does.
func (v *Message) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return get(dec, v, (*Reader).message)
}

// MarshalJSONTo writes v as the bare name of its variant.
func (v Outcome) MarshalJSONTo(enc *jsontext.Encoder) error { return put(enc, v, (*encoder).outcome) }

// UnmarshalJSONFrom reads v, which must name one variant that an Outcome has.
func (v *Outcome) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return get(dec, v, (*Reader).outcome)
}

func put[T any](enc *jsontext.Encoder, v T, write func(*encoder, T)) error {
	var e encoder
	write(&e, v)
	encoded, err := e.done()
	if err != nil {
		return err
	}
	return enc.WriteValue(encoded)
}

func get[T any](dec *jsontext.Decoder, v *T, read func(*Reader) T) error {
	data, err := dec.ReadValue()
	if err != nil {
		return err
	}
	r := NewReader(data)
	got := read(&r)
	if err := r.End(); err != nil {
		return err
	}
	*v = got
	return nil
}
