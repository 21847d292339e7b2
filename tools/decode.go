package tools

import (
	"encoding/json"
	"reflect"
	"strings"
)

// decode reads input into an In. The schema has checked the names as they are
// written, so a member counts only under the exact name of a field: package json
// alone would take "Path" for "path", which the schema has not looked at.
func decode[In any](name string, in json.RawMessage) (In, error) {
	var v In
	in, err := exact(in, reflect.TypeFor[In]())
	if err == nil {
		err = json.Unmarshal(in, &v)
	}
	if err != nil {
		return v, Publicf("input of %s does not fit: %w", name, err)
	}
	return v, nil
}

// exact returns value without the members that no field of t is called like, at
// every depth. What is no struct in t stays as it is.
func exact(value json.RawMessage, t reflect.Type) (json.RawMessage, error) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()):
		return value, nil // the type reads its own names
	case t.Kind() == reflect.Struct:
		return exactObject(value, t)
	case t.Kind() == reflect.Slice:
		return exactItems(value, t.Elem())
	}
	return value, nil
}

func exactObject(value json.RawMessage, t reflect.Type) (json.RawMessage, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(value, &members); err != nil || members == nil {
		return value, nil // what does not fit is told by the decoding into t
	}
	kept := make(map[string]json.RawMessage, len(members))
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" {
			name = f.Name
		}
		member, ok := members[name]
		if !ok {
			continue
		}
		member, err := exact(member, f.Type)
		if err != nil {
			return nil, err
		}
		kept[name] = member
	}
	return json.Marshal(kept)
}

func exactItems(value json.RawMessage, t reflect.Type) (json.RawMessage, error) {
	if t.Kind() == reflect.Uint8 {
		return value, nil // bytes are a string
	}
	var items []json.RawMessage
	if err := json.Unmarshal(value, &items); err != nil || items == nil {
		return value, nil // as above
	}
	for i, item := range items {
		var err error
		if items[i], err = exact(item, t); err != nil {
			return nil, err
		}
	}
	return json.Marshal(items)
}
