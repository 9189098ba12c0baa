package dataset

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/heirloom-ml/heirloom/store"
)

// ParseSchema reads columns as people write them, name:type with commas between,
// or as a manifest lists them, a JSON array of Field. Types are in Arrow's
// notation, as int64, timestamp[us, tz=UTC], list<item: float32>,
// struct<x: int32, y: utf8>; string, float, double, boolean, date and timestamp
// (of microseconds) are understood too. A column takes nulls unless "!" follows
// its type. The error has kind store.ErrInvalid.
func ParseSchema(text string) ([]Field, error) {
	list, err := parseSchema(text)
	if err == nil {
		_, err = arrowSchema(list)
	}
	if err != nil {
		return nil, failure("read schema", "", store.ErrInvalid, err)
	}
	return list, nil
}

func parseSchema(text string) ([]Field, error) {
	if !utf8.ValidString(text) {
		return nil, errors.New("it is not UTF-8")
	}
	if strings.HasPrefix(strings.TrimSpace(text), "[") {
		var list []Field
		err := json.Unmarshal([]byte(text), &list)
		return list, err
	}
	p := &typeText{rest: text}
	var list []Field
	for {
		field, err := p.field()
		if err != nil {
			return nil, err
		}
		nullable := !p.skip("!")
		list = append(list, Field{Name: field.Name, Type: field.Type.String(), Nullable: nullable})
		if !p.skip(",") {
			return list, p.end()
		}
	}
}

// arrowSchema makes a schema of columns, whose names must differ.
func arrowSchema(list []Field) (*arrow.Schema, error) {
	if len(list) == 0 {
		return nil, errors.New("a schema needs a column")
	}
	seen := make(map[string]bool)
	var columns []arrow.Field
	for _, field := range list {
		if field.Name == "" || seen[field.Name] {
			return nil, fmt.Errorf("column %q is empty or there twice", field.Name)
		}
		seen[field.Name] = true
		kind, err := parseType(field.Type)
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", field.Name, err)
		}
		columns = append(columns, arrow.Field{Name: field.Name, Type: kind, Nullable: field.Nullable})
	}
	return arrow.NewSchema(columns, nil), nil
}

// schemaText is what ParseSchema reads.
func schemaText(list []Field) string {
	var out []string
	for _, field := range list {
		text := field.Name + ":" + field.Type
		if !field.Nullable {
			text += "!"
		}
		out = append(out, text)
	}
	return strings.Join(out, ",")
}

func parseType(text string) (arrow.DataType, error) {
	p := &typeText{rest: text}
	kind, err := p.kind()
	if err != nil {
		return nil, err
	}
	return kind, p.end()
}

// maxNesting bounds how deep types may lie in each other.
const maxNesting = 32

// typeText is the rest of a notation that is being read.
type typeText struct {
	rest  string
	depth int
}

func (p *typeText) skip(token string) bool {
	rest, ok := strings.CutPrefix(strings.TrimLeft(p.rest, " "), token)
	if ok {
		p.rest = rest
	}
	return ok
}

func (p *typeText) expect(token string) error {
	if !p.skip(token) {
		return fmt.Errorf("%q is wanted before %q", token, p.rest)
	}
	return nil
}

func (p *typeText) end() error {
	if rest := strings.TrimSpace(p.rest); rest != "" {
		return fmt.Errorf("nothing is expected where %q stands", rest)
	}
	return nil
}

// until takes what stands before the first of some characters.
func (p *typeText) until(ends string) string {
	p.rest = strings.TrimLeft(p.rest, " ")
	at := strings.IndexAny(p.rest, ends)
	if at < 0 {
		at = len(p.rest)
	}
	word := strings.TrimRight(p.rest[:at], " ")
	p.rest = p.rest[at:]
	return word
}

func (p *typeText) number() (int32, error) {
	n, err := strconv.ParseInt(p.until(",)]"), 10, 32)
	return int32(n), err
}

// field reads "name: type".
func (p *typeText) field() (arrow.Field, error) {
	name := p.until(":,<>[]()")
	if err := p.expect(":"); err != nil {
		return arrow.Field{}, fmt.Errorf("a column is written name:type; %w", err)
	}
	kind, err := p.kind()
	return arrow.Field{Name: name, Type: kind, Nullable: true}, err
}

func (p *typeText) kind() (arrow.DataType, error) {
	if p.depth++; p.depth > maxNesting {
		return nil, errors.New("the type is nested too deeply")
	}
	defer func() { p.depth-- }()
	word := p.until(",<>[]()!")
	if simple := simpleType(word); simple != nil {
		return simple, nil
	}
	switch word {
	case "timestamp":
		return p.timestamp()
	case "decimal", "decimal128":
		return p.decimal()
	case "list":
		return p.list()
	case "fixed_size_list":
		return p.fixedList()
	case "struct":
		return p.structure()
	}
	return nil, fmt.Errorf("there is no type %q", word)
}

// simpleType is nil for a name that is none, or takes arguments.
func simpleType(word string) arrow.DataType {
	switch word {
	case "string":
		return arrow.BinaryTypes.String
	case "float":
		return arrow.PrimitiveTypes.Float32
	case "double":
		return arrow.PrimitiveTypes.Float64
	case "boolean":
		return arrow.FixedWidthTypes.Boolean
	case "date":
		return arrow.FixedWidthTypes.Date32
	}
	for _, kind := range []arrow.DataType{
		arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64,
		arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Uint64,
		arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64, arrow.FixedWidthTypes.Boolean,
		arrow.FixedWidthTypes.Date32, arrow.BinaryTypes.String, arrow.BinaryTypes.Binary,
	} {
		if word == kind.String() {
			return kind
		}
	}
	return nil
}

func (p *typeText) timestamp() (arrow.DataType, error) {
	kind := &arrow.TimestampType{Unit: arrow.Microsecond}
	if !p.skip("[") {
		return kind, nil
	}
	switch unit := p.until(",]"); unit {
	case "ms":
		kind.Unit = arrow.Millisecond
	case "us":
		kind.Unit = arrow.Microsecond
	case "ns":
		kind.Unit = arrow.Nanosecond
	default:
		return nil, fmt.Errorf("a timestamp counts ms, us or ns, not %q", unit)
	}
	if p.skip(",") {
		if err := p.expect("tz="); err != nil {
			return nil, err
		}
		kind.TimeZone = p.until("]")
	}
	return kind, p.expect("]")
}

func (p *typeText) decimal() (arrow.DataType, error) {
	if err := p.expect("("); err != nil {
		return nil, err
	}
	precision, err := p.number()
	if err != nil {
		return nil, err
	}
	scale := int32(0)
	if p.skip(",") {
		if scale, err = p.number(); err != nil {
			return nil, err
		}
	}
	if precision < 1 || precision > 38 || scale < 0 || scale > precision {
		return nil, fmt.Errorf("decimal(%d, %d) is none: 1 to 38 digits are possible, and no more of them behind the point", precision, scale)
	}
	return &arrow.Decimal128Type{Precision: precision, Scale: scale}, p.expect(")")
}

// item reads "<item: type, nullable>"; the name and the word may be missing.
func (p *typeText) item() (arrow.Field, error) {
	if err := p.expect("<"); err != nil {
		return arrow.Field{}, err
	}
	item := arrow.Field{Name: "item", Nullable: true}
	named := *p
	if name := named.until(":,<>[]()"); named.skip(":") {
		*p, item.Name = named, name
	}
	kind, err := p.kind()
	if err != nil {
		return arrow.Field{}, err
	}
	item.Type = kind
	if p.skip(",") {
		if err := p.expect("nullable"); err != nil {
			return arrow.Field{}, err
		}
	}
	return item, p.expect(">")
}

func (p *typeText) list() (arrow.DataType, error) {
	item, err := p.item()
	if err != nil {
		return nil, err
	}
	return arrow.ListOfField(item), nil
}

func (p *typeText) fixedList() (arrow.DataType, error) {
	item, err := p.item()
	if err != nil {
		return nil, err
	}
	if err := p.expect("["); err != nil {
		return nil, err
	}
	n, err := p.number()
	if err != nil || n < 1 {
		return nil, fmt.Errorf("a fixed_size_list ends in its length, as [3]; %d is none", n)
	}
	return arrow.FixedSizeListOfField(n, item), p.expect("]")
}

func (p *typeText) structure() (arrow.DataType, error) {
	if err := p.expect("<"); err != nil {
		return nil, err
	}
	seen := make(map[string]bool)
	var list []arrow.Field
	for {
		field, err := p.field()
		if err != nil {
			return nil, err
		}
		if field.Name == "" || seen[field.Name] {
			return nil, fmt.Errorf("field %q of a struct is empty or there twice", field.Name)
		}
		seen[field.Name] = true
		list = append(list, field)
		if !p.skip(",") {
			return arrow.StructOf(list...), p.expect(">")
		}
	}
}
