package dataset

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
)

// jsonGuess is what the values of one column have been so far.
type jsonGuess struct {
	kind   string // "" = nothing but null; boolean, integer, real, string, array, object
	item   *jsonGuess
	names  []string // of an object, in the order in which they were first seen
	fields map[string]*jsonGuess
}

// inferJSON guesses columns from the objects of a block. Strings stay text, also
// where they hold dates: a schema says otherwise.
func inferJSON(block []byte) (*arrow.Schema, error) {
	rows := &jsonGuess{kind: "object", fields: make(map[string]*jsonGuess)}
	if err := eachObject(block, func(_ int64, d *jsonText) error { return rows.object(d) }); err != nil {
		return nil, err
	}
	kind, err := rows.dataType("a row")
	if err != nil {
		return nil, err
	}
	return arrow.NewSchema(kind.(*arrow.StructType).Fields(), nil), nil
}

func (g *jsonGuess) object(d *jsonText) error {
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return err
		}
		name, _ := token.(string) // the decoder takes nothing else here
		field := g.fields[name]
		if field == nil {
			field = new(jsonGuess)
			g.fields[name] = field
			g.names = append(g.names, name)
		}
		if err := field.value(d); err != nil {
			return within(name, err)
		}
	}
	_, err := d.Token() // the brace
	return err
}

func (g *jsonGuess) value(d *jsonText) error {
	token, err := d.Token()
	if err != nil || token == nil {
		return err
	}
	kind, err := kindOf(token)
	if err != nil {
		return err
	}
	if err := g.become(kind); err != nil {
		return err
	}
	switch token {
	case json.Delim('['):
		for n := 0; d.More(); n++ {
			if err := g.item.value(d); err != nil {
				return within(fmt.Sprintf("[%d]", n), err)
			}
		}
		_, err = d.Token() // the bracket
	case json.Delim('{'):
		err = g.object(d)
	}
	return err
}

func kindOf(token json.Token) (string, error) {
	switch value := token.(type) {
	case bool:
		return "boolean", nil
	case string:
		return "string", nil
	case json.Number:
		if integers(64, func(int64) {})([]byte(value)) {
			return "integer", nil
		}
		if !looksReal([]byte(value)) {
			return "", &rowError{value: value.String(), err: errors.New("no type is inferred for so long a number; a schema (--schema) would name one")}
		}
		return "real", nil
	}
	if token == json.Delim('[') {
		return "array", nil
	}
	return "object", nil
}

// become widens what the values are so that another kind fits, if one does.
func (g *jsonGuess) become(kind string) error {
	switch {
	case g.kind == kind, g.kind == "real" && kind == "integer":
		return nil
	case g.kind == "integer" && kind == "real":
		g.kind = kind
		return nil
	case g.kind != "":
		return &rowError{err: fmt.Errorf("the first rows hold both %s and %s; a schema (--schema) would say which is meant", g.kind, kind)}
	}
	g.kind = kind
	g.item, g.fields = new(jsonGuess), make(map[string]*jsonGuess)
	return nil
}

// dataType is text for what has been null in all rows.
func (g *jsonGuess) dataType(name string) (arrow.DataType, error) {
	switch g.kind {
	case "boolean":
		return arrow.FixedWidthTypes.Boolean, nil
	case "integer":
		return arrow.PrimitiveTypes.Int64, nil
	case "real":
		return arrow.PrimitiveTypes.Float64, nil
	case "array":
		item, err := g.item.dataType(name)
		if err != nil {
			return nil, err
		}
		return arrow.ListOf(item), nil
	case "object":
		return g.structure(name)
	}
	return arrow.BinaryTypes.String, nil
}

func (g *jsonGuess) structure(name string) (arrow.DataType, error) {
	if len(g.names) == 0 {
		return nil, fmt.Errorf("the objects of %s are empty", name)
	}
	var list []arrow.Field
	for _, field := range g.names {
		kind, err := g.fields[field].dataType(fmt.Sprintf("column %q", field))
		if err != nil {
			return nil, err
		}
		list = append(list, arrow.Field{Name: field, Type: kind, Nullable: true})
	}
	return arrow.StructOf(list...), nil
}
