package filter

// Expr is a parsed filter: one of *And, *Or, *Not, *Compare. It is immutable.
type Expr interface {
	// Match reports whether the filter holds of a run.
	Match(Record) bool
	// String is the filter in canonical form, which parses to an equal one.
	String() string
}

// And holds where both do.
type And struct{ X, Y Expr }

// Or holds where one of them does.
type Or struct{ X, Y Expr }

// Not holds where X does not.
type Not struct{ X Expr }

// Compare holds where some value of the field satisfies the operator, or, for IsNull, where there is none.
type Compare struct {
	Field  Field
	Op     Op
	Negate bool      // of Like, ILike, In and IsNull
	Values []Literal // one; several for In, none for IsNull
}

// Op is a comparison.
type Op string

// The comparisons, as they are written.
const (
	Eq     Op = "="
	Ne     Op = "!="
	Lt     Op = "<"
	Le     Op = "<="
	Gt     Op = ">"
	Ge     Op = ">="
	Like   Op = "LIKE"  // % stands for any text, _ for one character
	ILike  Op = "ILIKE" // the same without regard to case
	In     Op = "IN"
	IsNull Op = "IS NULL"
)

// Literal is a value in a filter. Where the field is a time, Number is its nanoseconds since the Unix epoch.
type Literal struct {
	Text     string // as it was written, without quotes
	Number   float64
	IsNumber bool // compare as numbers; else as texts
	Nanos    int64
}
