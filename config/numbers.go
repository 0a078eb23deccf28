package config

import (
	"math"
	"reflect"
	"strconv"
	"strings"
)

func (d *decoder) integer(n *node, v reflect.Value, at spot, tag reflect.StructTag) bool {
	i, err := strconv.Atoi(strings.ReplaceAll(n.text, "_", ""))
	if n.kind != number || err != nil {
		d.warnf(at, "", "this is %s, not a whole number", n.what())
		return false
	}
	if least, _ := strconv.Atoi(tag.Get("min")); i < least {
		d.warnf(at, "", "%d is less than %d", i, least)
		return false
	}
	if most, err := strconv.Atoi(tag.Get("max")); err == nil && i > most {
		d.warnf(at, "", "%d is more than %d", i, most)
		return false
	}
	v.SetInt(int64(i))
	return d.record(at)
}

// integers sets a list of whole numbers.
func (d *decoder) integers(n *node, p *[]int, at spot, tag reflect.StructTag) bool {
	if !d.is(n, list, at, "a list of whole numbers") {
		return false
	}
	out := make([]int, len(n.items))
	for i, item := range n.items {
		if !d.integer(item, reflect.ValueOf(&out[i]).Elem(), at.item(item.place, i), tag) {
			return false
		}
	}
	*p = out
	return d.record(at)
}

func (d *decoder) number(n *node, v reflect.Value, at spot, tag reflect.StructTag) bool {
	x, err := strconv.ParseFloat(strings.ReplaceAll(n.text, "_", ""), 64)
	if n.kind != number || err != nil || math.IsInf(x, 0) || math.IsNaN(x) {
		d.warnf(at, "", "this is %s, not a number", n.what())
		return false
	}
	if least, err := strconv.ParseFloat(tag.Get("min"), 64); err == nil && x < least {
		d.warnf(at, "", "%g is less than %g", x, least)
		return false
	}
	v.SetFloat(x)
	return d.record(at)
}
