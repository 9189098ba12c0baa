package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/heirloom-ml/heirloom/store"
)

// Input is one place that rows come from: an object of a store, a directory of
// them, or a stream.
type Input struct {
	Store *store.Store
	// Key names an object or a directory. Of a directory every file counts that
	// IsData accepts, not those in directories within it, in order of name.
	Key store.Key
	// Reader stands in place of Store and Key, for what can be read only once,
	// such as standard input. It is copied to a temporary file.
	Reader io.Reader
}

// InputOptions say how inputs are read. Nil and the zero value are the defaults.
type InputOptions struct {
	// Format of every input: "csv", "tsv", "jsonl", "parquet" or "arrow". "" tells it
	// by the ending of the name, else by the first bytes. Compression with gzip
	// or zstd is told by the first bytes in any case.
	Format string
	// Schema of the rows; nil = that of the first file. For text it is inferred
	// from the first rows, those of the first mebibyte. In either case a row that does not
	// fit is an error.
	Schema []Field
	// Delimiter of CSV; 0 = a comma, or a tab for tsv.
	Delimiter byte
	// Nulls are what stands for null in CSV where it is not quoted; nil = the
	// empty field alone.
	Nulls []string
	// NoHeader says that the first row of CSV holds values. Schema then names the
	// columns.
	NoHeader bool
	// Hash identifies inputs by the SHA-256 of their bytes, which takes another
	// reading of them, not by the version that their store tells.
	Hash bool
	// TempDir takes the copies of streams; "" = that of the system.
	TempDir string
}

// Inputs are the files that rows come from, each pinned to the bytes that it
// held when OpenInputs looked. Produce may be called any number of times, also
// at once. Close removes the copies of streams.
type Inputs struct {
	files   []inputFile
	options InputOptions
	schema  *arrow.Schema // as given; nil = inferred
	spools  []string      // paths
}

// Produce writes the rows of a dataset that is being staged. They must follow from
// its spec alone. Nothing of them is visible before it has returned nil.
type Produce func(ctx context.Context, w *Writer) error

// OpenInputs finds the inputs and what identifies them; it reads none but
// streams and those it hashes. Errors have kind store.ErrNotExist where nothing lies,
// and store.ErrInvalid for options that make no sense.
func OpenInputs(ctx context.Context, inputs []Input, opts *InputOptions) (*Inputs, error) {
	in := new(Inputs)
	if opts != nil {
		in.options = *opts
	}
	if err := in.check(); err != nil {
		return nil, failure("read inputs", "", store.ErrInvalid, err)
	}
	for _, input := range inputs {
		files, err := in.find(ctx, input)
		if err != nil {
			return nil, errors.Join(err, in.Close())
		}
		in.files = append(in.files, files...)
	}
	if len(in.files) == 0 {
		return nil, failure("read inputs", "", store.ErrInvalid, errors.New("there are none"))
	}
	return in, nil
}

func (in *Inputs) check() error {
	o := in.options
	if o.Format != "" && formatOf("."+o.Format) != o.Format {
		return fmt.Errorf("there is no format %q; there are csv, tsv, jsonl, parquet and arrow", o.Format)
	}
	if o.Delimiter != 0 && (strings.IndexByte("\"\r\n", o.Delimiter) >= 0 || o.Delimiter >= 0x80) {
		return fmt.Errorf("%q cannot separate fields", o.Delimiter)
	}
	for _, null := range o.Nulls {
		if strings.ContainsAny(null, "\"\r\n") {
			return fmt.Errorf("%q cannot stand for null: it would have to be quoted", null)
		}
	}
	if o.NoHeader && o.Schema == nil {
		return errors.New("without a header the columns need a schema")
	}
	if o.Schema == nil {
		return nil
	}
	schema, err := arrowSchema(o.Schema)
	in.schema = schema
	return err
}

// Sources are the inputs as a Spec lists them, in the order in which they are read.
func (in *Inputs) Sources() []Source {
	list := make([]Source, 0, len(in.files))
	for _, file := range in.files {
		list = append(list, file.source)
	}
	return list
}

// readingRules changes when the same bytes and options come to be read as other
// rows.
const readingRules = "1"

// Options is what belongs into the options of a Spec: all that changes the rows
// which the same bytes are read as.
func (in *Inputs) Options() map[string]string {
	o := in.options
	list := map[string]string{"input.rules": readingRules}
	if o.Format != "" {
		list["input.format"] = o.Format
	}
	if o.Delimiter != 0 {
		list["input.delimiter"] = string(rune(o.Delimiter))
	}
	if o.Nulls != nil {
		list["input.nulls"] = strings.Join(o.Nulls, "\n")
	}
	if o.NoHeader {
		list["input.header"] = "none"
	}
	if o.Schema != nil {
		list["input.schema"] = schemaText(o.Schema)
	}
	return list
}

// Produce writes the rows of all inputs, divided as the spec of w says. Errors
// have kind store.ErrInvalid for what does not fit, naming file, row, column and value;
// store.ErrConflict if an input was replaced since OpenInputs.
func (in *Inputs) Produce(ctx context.Context, w *Writer) error {
	split := newSplitter(w)
	if err := split.check(); err != nil {
		return err
	}
	reading := &reading{options: in.options, given: in.schema, emit: split.write}
	for _, file := range in.files {
		if err := reading.file(ctx, file); err != nil {
			return err
		}
	}
	if split.rows == 0 {
		return failure("read inputs", store.Key(in.files[0].source.URI), store.ErrInvalid, errors.New("the inputs hold no rows"))
	}
	return nil
}

// reading goes through the files of some inputs, one after the other.
type reading struct {
	options InputOptions
	given   *arrow.Schema // nil = that of the first file
	schema  *arrow.Schema // of every row; nil before the first file
	emit    func(ctx context.Context, batch arrow.Record) error
}

// file reads one file and hands on its rows in order.
func (r *reading) file(ctx context.Context, file inputFile) error {
	err := r.open(ctx, file)
	var classified *store.Error
	if err == nil || errors.As(err, &classified) || ctx.Err() != nil {
		return err
	}
	return failure("read", store.Key(file.source.URI), store.ErrInvalid, err)
}

func (r *reading) open(ctx context.Context, file inputFile) error {
	s, err := openStream(ctx, file, r.options.Format)
	if err != nil {
		return err
	}
	defer s.close()
	switch s.format {
	case "parquet":
		if s.packed {
			return errors.New("a Parquet file compressed as a whole is not read; its pages can be")
		}
		return r.parquet(ctx, file)
	case "arrow":
		return r.arrow(ctx, file, s)
	case "jsonl":
		return r.jsonLines(ctx, s)
	default:
		return r.csv(ctx, s)
	}
}

// take settles the schema of the first file that has one, and holds the others to it.
func (r *reading) take(found *arrow.Schema) error {
	if r.schema == nil && r.given != nil {
		r.schema = r.given
	}
	if r.schema == nil {
		r.schema = arrow.NewSchema(found.Fields(), nil)
	}
	if !sameFields(r.schema, found) {
		return fmt.Errorf("its columns are %s; %s are wanted", schemaText(fields(found)), schemaText(fields(r.schema)))
	}
	return nil
}
