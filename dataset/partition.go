package dataset

import (
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/heirloom-ml/heirloom/store"
)

// HivePartitionNull stands for null in the name of a partition's directory.
const HivePartitionNull = "__HIVE_DEFAULT_PARTITION__"

// partitionKey is one directory of the form name=value.
type partitionKey struct {
	name, value string // unescaped
	null        bool
}

// splitPartitions reads the directories above a file, and reports whether all of
// them are partitions.
func splitPartitions(dirs []string) ([]partitionKey, bool) {
	var keys []partitionKey
	for _, dir := range dirs {
		name, value, ok := strings.Cut(dir, "=")
		if !ok || name == "" {
			return nil, false
		}
		keys = append(keys, partitionKey{name: unescape(name), value: unescape(value), null: value == HivePartitionNull})
	}
	return keys, true
}

// unescape undoes Hive's %XX; what is no such escape stays as it is.
func unescape(text string) string {
	if plain, err := url.PathUnescape(text); err == nil {
		return plain
	}
	return text
}

// partitionFields gives the partition columns of all files their types, which
// are the narrowest that hold every value, as Spark infers them: int32, int64,
// float64, date32, timestamp, else utf8. Every file must have the same columns.
func partitionFields(dir store.Key, files []File, keys [][]partitionKey) ([]arrow.Field, error) {
	if len(keys) == 0 || len(keys[0]) == 0 {
		for i := range keys {
			if len(keys[i]) > 0 {
				return nil, mixedPartitions(dir, files[i], files[0])
			}
		}
		return nil, nil
	}
	list := make([]arrow.Field, len(keys[0]))
	for at, first := range keys[0] {
		var kind arrow.DataType
		for i := range keys {
			if len(keys[i]) != len(list) || keys[i][at].name != first.name {
				return nil, mixedPartitions(dir, files[i], files[0])
			}
			if !keys[i][at].null {
				kind = widerPartition(kind, inferPartition(keys[i][at].value))
			}
		}
		if kind == nil {
			kind = arrow.BinaryTypes.String
		}
		if slices.ContainsFunc(list[:at], func(f arrow.Field) bool { return f.Name == first.name }) {
			return nil, failure("open dataset", dir, store.ErrInvalid, fmt.Errorf("partition column %q is there twice", first.name))
		}
		list[at] = arrow.Field{Name: first.name, Type: kind, Nullable: true}
	}
	return list, nil
}

func mixedPartitions(dir store.Key, file, first File) error {
	return failure("open dataset", dir.Join(file.Name), store.ErrInvalid, fmt.Errorf("its directories are other partitions than those of %s", first.Name))
}

// inferPartition finds the narrowest type of one value.
func inferPartition(value string) arrow.DataType {
	if n, err := strconv.ParseInt(value, 10, 64); err == nil {
		if n >= math.MinInt32 && n <= math.MaxInt32 {
			return arrow.PrimitiveTypes.Int32
		}
		return arrow.PrimitiveTypes.Int64
	}
	if isDecimalNumber(value) {
		return arrow.PrimitiveTypes.Float64
	}
	if _, err := time.Parse(time.DateOnly, value); err == nil {
		return arrow.FixedWidthTypes.Date32
	}
	if _, err := time.Parse("2006-01-02 15:04:05.999999", value); err == nil {
		return &arrow.TimestampType{Unit: arrow.Microsecond}
	}
	return arrow.BinaryTypes.String
}

// isDecimalNumber is stricter than Go, which also knows inf, 0x1p3 and 1_0.
func isDecimalNumber(value string) bool {
	if strings.Trim(value, "0123456789+-.eE") != "" {
		return false
	}
	_, err := strconv.ParseFloat(value, 64)
	return err == nil
}

// widerPartition is the type that holds the values of both; nil is none yet.
func widerPartition(a, b arrow.DataType) arrow.DataType {
	order := []arrow.Type{arrow.INT32, arrow.INT64, arrow.FLOAT64}
	switch {
	case a == nil || arrow.TypeEqual(a, b):
		return b
	case slices.Contains(order, a.ID()) && slices.Contains(order, b.ID()):
		if slices.Index(order, a.ID()) > slices.Index(order, b.ID()) {
			return a
		}
		return b
	case a.ID() == arrow.DATE32 && b.ID() == arrow.TIMESTAMP:
		return b
	case a.ID() == arrow.TIMESTAMP && b.ID() == arrow.DATE32:
		return a
	}
	return arrow.BinaryTypes.String
}

// partitionArray repeats the value of a partition column n times.
func partitionArray(kind arrow.DataType, key partitionKey, n int) (arrow.Array, error) {
	builder := array.NewBuilder(memory.DefaultAllocator, kind)
	defer builder.Release()
	builder.Reserve(n)
	if key.null {
		builder.AppendNulls(n)
		return builder.NewArray(), nil
	}
	if strings, ok := builder.(*array.StringBuilder); ok {
		for range n {
			strings.Append(key.value)
		}
		return builder.NewArray(), nil
	}
	for range n {
		if err := builder.AppendValueFromString(key.value); err != nil {
			return nil, fmt.Errorf("partition %s=%s: %w", key.name, key.value, err)
		}
	}
	return builder.NewArray(), nil
}
