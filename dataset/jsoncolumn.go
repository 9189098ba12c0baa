package dataset

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// jsonFields takes the objects of a column of structs, or the rows themselves.
type jsonFields struct {
	names    map[string]int
	children []*jsonColumn
	seen     []int64 // by child: the object that it was last seen in
	object   int64
}

func (o *jsonFields) add(builder array.Builder, field arrow.Field) error {
	child, err := newJSONColumn(builder, field)
	o.names[field.Name] = len(o.children)
	o.children = append(o.children, child)
	o.seen = append(o.seen, 0)
	return err
}

// read appends an object whose brace has been read. A field that is missing is null.
func (o *jsonFields) read(d *jsonText) error {
	o.object++
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return err
		}
		name, _ := token.(string) // the decoder takes nothing else here
		at, ok := o.names[name]
		if !ok {
			return &rowError{column: name, err: errors.New("the schema has no such column")}
		}
		if o.seen[at] == o.object {
			return &rowError{column: name, err: errors.New("it is there twice")}
		}
		o.seen[at] = o.object
		if err := o.children[at].read(d); err != nil {
			return within(name, err)
		}
	}
	for i, child := range o.children {
		if o.seen[i] == o.object {
			continue
		}
		if err := child.null(); err != nil {
			return &rowError{column: child.field.Name, err: fmt.Errorf("it is missing: %w", err)}
		}
	}
	_, err := d.Token() // the brace
	return err
}

// within names the column that an error lies in.
func within(name string, err error) error {
	var bad *rowError
	if !errors.As(err, &bad) {
		return err
	}
	if bad.column == "" {
		bad.column = name
	} else {
		bad.column = name + "." + bad.column
	}
	return bad
}

// jsonColumn takes the values of one column, or of what lies within one.
type jsonColumn struct {
	textColumn
	item   *jsonColumn // of a list
	length int         // of a list of fixed size; 0 = any
	fields *jsonFields // of a struct
}

func newJSONColumn(builder array.Builder, field arrow.Field) (*jsonColumn, error) {
	c := &jsonColumn{textColumn: textColumn{field: field, builder: builder}}
	var err error
	switch b := builder.(type) {
	case *array.ListBuilder:
		c.item, err = newJSONColumn(b.ValueBuilder(), b.Type().(*arrow.ListType).ElemField())
	case *array.FixedSizeListBuilder:
		kind := b.Type().(*arrow.FixedSizeListType)
		c.length = int(kind.Len())
		c.item, err = newJSONColumn(b.ValueBuilder(), kind.ElemField())
	case *array.StructBuilder:
		c.fields = &jsonFields{names: make(map[string]int)}
		for i, child := range b.Type().(*arrow.StructType).Fields() {
			if err := c.fields.add(b.FieldBuilder(i), child); err != nil {
				return nil, err
			}
		}
	default:
		c.textColumn, err = newTextColumn(builder, field)
	}
	return c, err
}

// read appends the value that comes next.
func (c *jsonColumn) read(d *jsonText) error {
	token, err := d.Token()
	if err != nil {
		return err
	}
	switch value := token.(type) {
	case nil:
		if err := c.null(); err != nil {
			return &rowError{err: err}
		}
		return nil
	case json.Delim:
		return c.nested(d, value)
	case bool:
		if b, ok := c.builder.(*array.BooleanBuilder); ok {
			b.Append(value)
			return nil
		}
	case json.Number:
		if c.takesNumbers() {
			return c.scalar(value.String())
		}
	case string:
		if c.takesStrings() {
			return c.scalar(value)
		}
	}
	return &rowError{value: fmt.Sprint(token), err: fmt.Errorf("a JSON %s is no %s", jsonKind(token), c.field.Type)}
}

func (c *jsonColumn) scalar(value string) error {
	if err := c.text([]byte(value)); err != nil {
		return &rowError{value: value, err: err}
	}
	return nil
}

func (c *jsonColumn) takesNumbers() bool {
	switch c.field.Type.ID() {
	case arrow.BOOL, arrow.STRING, arrow.DATE32, arrow.TIMESTAMP:
		return false
	}
	return c.append != nil
}

func (c *jsonColumn) takesStrings() bool {
	switch c.field.Type.ID() {
	case arrow.STRING, arrow.DATE32, arrow.TIMESTAMP, arrow.DECIMAL128:
		return true
	}
	return false
}

func jsonKind(token json.Token) string {
	switch token.(type) {
	case bool:
		return "boolean"
	case json.Number:
		return "number"
	}
	return "string"
}

// nested appends a list or an object, whose first delimiter has been read.
func (c *jsonColumn) nested(d *jsonText, begin json.Delim) error {
	switch {
	case begin == '{' && c.fields != nil:
		c.builder.(*array.StructBuilder).Append(true)
		return c.fields.read(d)
	case begin == '[' && c.item != nil:
		return c.list(d)
	}
	kind := "object"
	if begin == '[' {
		kind = "array"
	}
	return &rowError{err: fmt.Errorf("a JSON %s is no %s", kind, c.field.Type)}
}

func (c *jsonColumn) list(d *jsonText) error {
	switch b := c.builder.(type) {
	case *array.ListBuilder:
		b.Append(true)
	case *array.FixedSizeListBuilder:
		b.Append(true)
	}
	n := 0
	for ; d.More(); n++ {
		if err := c.item.read(d); err != nil {
			return within(fmt.Sprintf("[%d]", n), err)
		}
	}
	if c.length > 0 && n != c.length {
		return &rowError{err: fmt.Errorf("the array has %d items, not %d", n, c.length)}
	}
	_, err := d.Token() // the bracket
	return err
}
