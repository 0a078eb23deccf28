package event

import (
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/agent-lsp/agent-lsp/workspace"
	"github.com/go-json-experiment/json/jsontext"
)

// Valid makes every string that the struct v points at reaches valid UTF-8, so
// that it can be stored, sent to the core and to a model: as Text does, or as Name
// does for the members tagged `text:"name"`. Raw JSON that is none becomes nil.
// Nothing that v shares with others changes: slices and pointers are replaced.
func Valid(v any) {
	if at := reflect.ValueOf(v).Elem(); !valid(at) {
		mend(at, false)
	}
}

// Text is a text in which each run of bytes that are not UTF-8 is one U+FFFD.
func Text(text string) string { return strings.ToValidUTF8(text, "\ufffd") }

// Name is a file's name in which each byte that is not UTF-8 is spelled like \xE9,
// so that names that differ in such bytes stay apart.
func Name(name string) string { return workspace.Spelled(name) }

var rawJSON = reflect.TypeFor[jsontext.Value]()

// valid reports whether everything that v reaches can be encoded.
func valid(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.String:
		return utf8.ValidString(v.String())
	case reflect.Pointer:
		return v.IsNil() || valid(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() && !valid(v.Field(i)) {
				return false
			}
		}
	case reflect.Slice:
		if v.Type() == rawJSON {
			return v.IsNil() || jsontext.Value(v.Bytes()).IsValid()
		}
		for i := range v.Len() {
			if !valid(v.Index(i)) {
				return false
			}
		}
	}
	return true
}

// mend makes v valid; name says that its strings are names of files.
func mend(v reflect.Value, name bool) {
	switch v.Kind() {
	case reflect.String:
		if name {
			v.SetString(Name(v.String()))
		} else {
			v.SetString(Text(v.String()))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			own := reflect.New(v.Type().Elem())
			own.Elem().Set(v.Elem())
			mend(own.Elem(), name)
			v.Set(own)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				mend(v.Field(i), f.Tag.Get("text") == "name")
			}
		}
	case reflect.Slice:
		if v.Type() == rawJSON {
			if !valid(v) {
				v.SetZero()
			}
			return
		}
		own := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(own, v)
		for i := range own.Len() {
			mend(own.Index(i), name)
		}
		if !v.IsNil() {
			v.Set(own)
		}
	}
}
