package pyjson

import (
	"iter"
	"slices"
)

// Object is a JSON object whose keys keep the order in which they were first
// set, like a Python dict. The zero value is empty and ready to use; a nil
// *Object reads as empty. It is not safe for use by several goroutines while
// one of them changes it.
//
// Values are nil, bool, int64, *big.Int, float64, string, []any and *Object.
// A string is UTF-8, or WTF-8 where it holds lone surrogates.
type Object struct {
	keys   []string       // each key of values once, in order of first Set
	values map[string]any // nil when empty
}

// Member is one key of an object with its value.
type Member struct {
	Key   string
	Value any
}

// NewObject returns an object with these members; of equal keys the last wins.
func NewObject(members ...Member) *Object {
	o := &Object{}
	for _, m := range members {
		o.Set(m.Key, m.Value)
	}
	return o
}

// Len is the number of keys.
func (o *Object) Len() int {
	if o == nil {
		return 0
	}
	return len(o.keys)
}

// Get returns the value of key, and whether the object has it.
func (o *Object) Get(key string) (any, bool) {
	if o == nil {
		return nil, false
	}
	v, ok := o.values[key]
	return v, ok
}

// Set gives key a value. A key that was there keeps its place.
func (o *Object) Set(key string, value any) {
	if o.values == nil {
		o.values = make(map[string]any)
	}
	if _, ok := o.values[key]; !ok {
		o.keys = append(o.keys, key)
	}
	o.values[key] = value
}

// Delete removes key, if it is there.
func (o *Object) Delete(key string) {
	if _, ok := o.Get(key); !ok {
		return
	}
	delete(o.values, key)
	o.keys = slices.DeleteFunc(o.keys, func(k string) bool { return k == key })
}

// Keys returns a copy of the keys, in order.
func (o *Object) Keys() []string {
	if o == nil {
		return nil
	}
	return slices.Clone(o.keys)
}

// All yields the members in order. The object must not be changed meanwhile.
func (o *Object) All() iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		if o == nil {
			return
		}
		for _, k := range o.keys {
			if !yield(k, o.values[k]) {
				return
			}
		}
	}
}

// Merge sets every member of other, as Python's dict.update: nested objects
// are replaced, not merged.
func (o *Object) Merge(other *Object) {
	for k, v := range other.All() {
		o.Set(k, v)
	}
}

// Clone returns a copy that shares the values.
func (o *Object) Clone() *Object {
	c := &Object{}
	c.Merge(o)
	return c
}

// Text returns the value of key if it is a string, else "".
func (o *Object) Text(key string) string {
	v, _ := o.Get(key)
	s, _ := v.(string)
	return s
}

// MarshalJSON writes the object as Valid does, for use by encoding/json.
func (o *Object) MarshalJSON() ([]byte, error) {
	if o == nil {
		return []byte("null"), nil
	}
	return Valid(o), nil
}

// UnmarshalJSON replaces the object by the one in data.
func (o *Object) UnmarshalJSON(data []byte) error {
	parsed, err := UnmarshalObject(data)
	if err != nil {
		return err
	}
	*o = *parsed
	return nil
}
