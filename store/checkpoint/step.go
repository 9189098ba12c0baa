package checkpoint

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/pattern"
)

// The ways in which names tell a step, the surest first.
var (
	stepWord   = pattern.Lazy(`(?i)(?:^|[^a-z])(?:global_?step|step|iteration|iter)s?[-_=]?(\d+)`)
	savedWord  = pattern.Lazy(`(?i)(?:^|[^a-z])(?:checkpoint|ckpt|epoch)[-_=]?(\d+)`)
	decimals   = pattern.Lazy(`\d+\.\d+`)
	separators = pattern.Lazy(`[-_=.]+`)
)

// stepIn reads the step from the name of a file or directory: the number behind step, iter, checkpoint, ckpt or epoch,
// else the last whole number between separators. NoStep if there is none.
func stepIn(name string) int64 {
	for _, word := range []*regexp.Regexp{stepWord(), savedWord()} {
		if m := word.FindStringSubmatch(name); m != nil {
			return natural(m[1])
		}
	}
	step := int64(NoStep)
	for _, part := range separators().Split(decimals().ReplaceAllString(name, ""), -1) {
		if n := natural(part); n >= 0 {
			step = n
		}
	}
	return step
}

// stepOf reads the step from the last element of a path, else from the directory it lies in where that is named for a
// step and nothing else.
func stepOf(path store.Key, ext string) int64 {
	if step := stepIn(strings.TrimSuffix(path.Base(), ext)); step >= 0 {
		return step
	}
	parent := path.Dir().Base()
	if natural(parent) >= 0 || stepWord().MatchString(parent) || savedWord().MatchString(parent) {
		return stepIn(parent)
	}
	return NoStep
}

// natural is NoStep for anything but up to 18 digits.
func natural(text string) int64 {
	if len(text) > 18 || strings.Trim(text, "0123456789") != "" {
		return NoStep
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return NoStep
	}
	return n
}
