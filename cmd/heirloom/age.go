package main

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
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
			return errors.New("want a time as 1d, 2w or 36h")
		}
		*a = age(n * float64(length))
		return nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return errors.New("want a time as 1d, 2w or 36h")
	}
	*a = age(d)
	return nil
}

// Type is part of pflag.Value.
func (a *age) Type() string { return "duration" }

func (a *age) String() string { return short(time.Duration(*a)) }
