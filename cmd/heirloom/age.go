package main

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// age is a flag that takes whole or broken days and weeks beside Go's own units: 36h, 1d, 2w, 1.5d.
type age time.Duration

// Set is part of pflag.Value.
func (a *age) Set(text string) error {
	for unit, length := range map[string]time.Duration{"d": 24 * time.Hour, "w": 7 * 24 * time.Hour} {
		number, found := strings.CutSuffix(text, unit)
		if !found {
			continue
		}
		n, err := strconv.ParseFloat(number, 64)
		if err != nil || n < 0 || n > float64(math.MaxInt64/length) {
			return errors.New("want a time as 30s, 36h, 1d or 2w")
		}
		*a = age(n * float64(length))
		return nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return errors.New("want a time as 30s, 36h, 1d or 2w")
	}
	*a = age(d)
	return nil
}

// Type is part of pflag.Value.
func (a *age) Type() string { return "duration" }

// String is part of pflag.Value. No time at all is 0, for which no default is shown.
func (a *age) String() string {
	if *a == 0 {
		return "0"
	}
	return short(time.Duration(*a))
}

// ageFlag registers a flag for a time of 0 or more. Its default is what *d holds now.
func ageFlag(flags *pflag.FlagSet, d *time.Duration, name, usage string) {
	flags.Var((*age)(d), name, usage)
}
