package coretest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"unicode/utf16"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Without returns the JSON text data once for each member of each object in it,
// with that member left out.
func Without(data []byte) (all [][]byte) {
	whole := parse(data)
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, element := range v {
				walk(element)
			}
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(v)) {
				member := v[name]
				delete(v, name)
				all = append(all, respell(func(n int) int { return n - 1 }, nil, whole))
				v[name] = member
				walk(member)
			}
		}
	}
	walk(whole)
	return all
}

// Respell writes the JSON text data with other white space, another order of
// members and other escapes, which mean the same.
func Respell(choose Choose, data []byte) []byte {
	return respell(choose, nil, parse(data))
}

func parse(data []byte) (v any) {
	numbers := json.UnmarshalFromFunc(func(dec *jsontext.Decoder, n *any) error {
		if dec.PeekKind() != '0' {
			return errors.ErrUnsupported
		}
		digits, err := dec.ReadValue()
		*n = number(digits) // not a float, which would lose some of them
		return err
	})
	if err := json.Unmarshal(data, &v, json.WithUnmarshalers(numbers)); err != nil {
		panic(err)
	}
	return v
}

type number string

func respell(choose Choose, dst []byte, v any) []byte {
	blank := func() { dst = append(dst, []string{"", "", " ", "\n\t", "\r"}[choose(5)]...) }
	blank()
	switch v := v.(type) {
	case nil:
		dst = append(dst, "null"...)
	case bool:
		dst = fmt.Append(dst, v)
	case number:
		dst = append(dst, v...)
	case string:
		dst = quote(choose, dst, v)
	case []any:
		dst = append(dst, '[')
		for i, element := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = respell(choose, dst, element)
		}
		blank()
		dst = append(dst, ']')
	case map[string]any:
		dst = append(dst, '{')
		names := slices.Sorted(maps.Keys(v))
		for i := range names {
			if i > 0 {
				dst = append(dst, ',')
			}
			j := i + choose(len(names)-i)
			names[i], names[j] = names[j], names[i]
			blank()
			dst = quote(choose, dst, names[i])
			blank()
			dst = append(dst, ':')
			dst = respell(choose, dst, v[names[i]])
		}
		blank()
		dst = append(dst, '}')
	}
	blank()
	return dst
}

func quote(choose Choose, dst []byte, text string) []byte {
	dst = append(dst, '"')
	for _, c := range text {
		switch {
		case c < 0x20 || c == '"' || c == '\\' || choose(4) == 0:
			for _, unit := range utf16.Encode([]rune{c}) {
				dst = fmt.Appendf(dst, []string{`\u%04x`, `\u%04X`}[choose(2)], unit)
			}
		case c == '/' && choose(2) == 0:
			dst = append(dst, `\/`...)
		default:
			dst = append(dst, string(c)...)
		}
	}
	return append(dst, '"')
}
