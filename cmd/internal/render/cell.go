package render

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/tracker"
	"github.com/heirloom-ml/heirloom/tracker/pyjson"
)

// plain reduces a cell to what pyjson writes: nil, bool, int64, *big.Int, float64, string, []any and *pyjson.Object.
// A zero time is null, any other RFC 3339 in UTC.
func plain(v any) any {
	switch v := v.(type) {
	case int:
		return int64(v)
	case time.Time:
		if v.IsZero() {
			return nil
		}
		return v.UTC().Format(time.RFC3339Nano)
	case tracker.State:
		return string(v)
	case tracker.RunID:
		return string(v)
	case tracker.Role:
		return string(v)
	case store.Key:
		return string(v)
	case Size:
		return int64(v)
	case *pyjson.Object:
		if v == nil {
			return nil
		}
	case []string:
		list := make([]any, len(v))
		for i, s := range v {
			list[i] = s
		}
		return list
	}
	return v
}

// raw is a cell in CSV: "" for null, text as it is, anything else as JSON.
func raw(v any) string {
	switch v := plain(v).(type) {
	case nil:
		return ""
	case string:
		return v
	case float64:
		return strings.Trim(string(pyjson.Valid(v)), `"`)
	default:
		return string(pyjson.Valid(v))
	}
}

// brief is a cell for people, sanitised: "-" for null, times to the second, floats to six digits.
func brief(v any) string {
	switch v := v.(type) {
	case time.Time:
		if !v.IsZero() {
			return v.UTC().Format(time.RFC3339)
		}
	case float64:
		return number(v)
	case time.Duration:
		return span(v)
	case Size:
		return v.String()
	}
	if text := raw(v); text != "" {
		return Sanitize(text)
	}
	return "-"
}

// number writes a float to six digits, whole numbers whole.
func number(f float64) string {
	if f == math.Trunc(f) && math.Abs(f) < 1e15 {
		return strconv.FormatFloat(f, 'f', 0, 64)
	}
	return strings.TrimPrefix(strconv.FormatFloat(f, 'g', 6, 64), "+")
}

// span writes a duration to a few digits: 340ms, 12.3s, 4m05s, 3h07m, 2d04h.
func span(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%dms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1fs", d.Truncate(100*time.Millisecond).Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%dd%02dh", int(d.Hours())/24, int(d.Hours())%24)
}

// Size is a number of bytes that tables show in a short form, and everything else exactly.
type Size int64

// String uses binary units: 512 B, 1.5 KiB, 3.2 GiB.
func (b Size) String() string {
	if b < 1024 {
		return fmt.Sprintf("%d B", int64(b))
	}
	value, unit := float64(b)/1024, 0
	for value >= 1023.95 && unit < 5 {
		value /= 1024
		unit++
	}
	return fmt.Sprintf("%.1f %ciB", value, "KMGTPE"[unit])
}
