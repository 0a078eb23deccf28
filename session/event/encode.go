package event

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Encode writes a payload as one JSON object that starts with its kind. Equal
// payloads give equal bytes.
func Encode(p Payload) ([]byte, error) {
	if u, ok := p.(*Unknown); ok {
		return u.Raw, nil
	}
	body, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("encode %s event: %w", p.Kind(), err)
	}
	out := append([]byte(`{"kind":"`), p.Kind()...)
	out = append(out, '"')
	if len(body) > 2 {
		out = append(out, ',')
	}
	return append(out, body[1:]...), nil
}

// Decode reads a payload. A kind that this program does not know becomes *Unknown.
// An approval with an edit, which is how programs before the kind intent recorded
// one, becomes *Intent.
func Decode(data []byte) (Payload, error) {
	var head struct {
		Kind Kind `json:"kind"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, fmt.Errorf("decode event: %w", err)
	}
	make, known := kinds[head.Kind]
	if !known {
		return &Unknown{Name: head.Kind, Raw: jsontext.Value(data).Clone()}, nil
	}
	p := make()
	if err := json.Unmarshal(data, p); err != nil {
		return nil, fmt.Errorf("decode %s event: %w", head.Kind, err)
	}
	if a, ok := p.(*Approval); ok {
		return a.orIntent(data)
	}
	return p, nil
}

// orIntent returns a, or the intent that data is in the form of older programs: an
// approval with an edit, whose detail is the text of the result.
func (a *Approval) orIntent(data []byte) (Payload, error) {
	var old struct {
		Edit *Edit `json:"edit"`
	}
	if err := json.Unmarshal(data, &old); err != nil {
		return nil, fmt.Errorf("decode the edit of an %s event: %w", KindApproval, err)
	}
	if old.Edit == nil {
		return a, nil
	}
	return &Intent{Turn: a.Turn, ID: a.ID, Text: a.Detail, Edit: old.Edit}, nil
}
