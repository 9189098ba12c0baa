package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/cmd/internal/config"
	"github.com/heirloom-ml/heirloom/cmd/internal/doctor"
	"github.com/heirloom-ml/heirloom/cmd/internal/render"
	"github.com/heirloom-ml/heirloom/store"
	"github.com/heirloom-ml/heirloom/store/storetest"
)

// checkedCase is one clause of the contract, as store check prints it.
type checkedCase struct {
	Case    string  `json:"case"`
	Passed  bool    `json:"passed"`
	Message *string `json:"message"`
	Seconds float64 `json:"seconds"`
}

// checkedStore is what store check prints as JSON.
type checkedStore struct {
	URL     string        `json:"url"`
	Passed  int           `json:"passed"`
	Failed  int           `json:"failed"`
	Total   int           `json:"total"`
	Seconds float64       `json:"seconds"`
	Cases   []checkedCase `json:"cases"`
}

func newStoreCheck(a *app) *cobra.Command {
	var limit time.Duration
	c := &cobra.Command{
		Use:   "check URL",
		Short: "try the whole contract of a store on a place of your own",
		Long: `Try on URL everything that heirloom relies on: what is written is read back, listings
are complete and in order, of many creating one object exactly one wins, and so on.

It writes below heirloom/check/ at URL, under a random name, and removes all of it at
the end, also after Ctrl-C. On a distant bucket it takes a few minutes and some
thousand requests. It exits with 1 if a case failed. "heirloom doctor" is the short form.`,
		Example: `  heirloom store check s3://bucket/prefix
  heirloom store check /mnt/shared/heirloom -o json
  heirloom store check mem://`,
		Args: takes("URL"),
		RunE: func(c *cobra.Command, args []string) error { return a.storeCheck(c.Context(), args[0], limit) },
	}
	limit = 10 * time.Minute
	ageFlag(c.Flags(), &limit, "timeout", "give up after this `TIME`")
	return c
}

func (a *app) storeCheck(ctx context.Context, url string, limit time.Duration) error {
	format, err := a.format(documentFormats())
	if err != nil {
		return err
	}
	c, err := a.settings(ctx, map[string]string{config.Store: url, config.Tracker: ""})
	if err != nil {
		return err
	}
	s, err := a.openAny(ctx, c.Get(config.Store).Text, c, false)
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	report, err := a.tryCases(limited, s)
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("not done after %v: %w", limit, store.ErrUnavailable)
	}
	if err != nil {
		return err
	}
	if err := a.printChecked(report, format); err != nil {
		return err
	}
	if report.Failed > 0 {
		return &advised{
			err:    fmt.Errorf("%s failed %d of %d cases", report.URL, report.Failed, report.Total),
			advice: "heirloom cannot be relied on there: choose another place, or show the cases to those who run it",
		}
	}
	return nil
}

// tryCases runs the table in a corner of s and clears it. The error is of a place that cannot be used at all, of
// ctx, or of the clearing.
func (a *app) tryCases(ctx context.Context, s *store.Store) (report checkedStore, err error) {
	corner := doctor.NewScratch(s, "check")
	if err := doctor.Reach(ctx, corner.Sub("")); err != nil {
		return report, err
	}
	defer func() {
		if clearErr := corner.Clear(ctx); clearErr != nil && !errors.Is(err, context.Canceled) {
			err = errors.Join(err, clearErr)
		}
	}()
	begin := time.Now()
	report = checkedStore{URL: store.RedactURL(s.URL()), Total: len(storetest.Cases())}
	open := func() *store.Store { return corner.Sub(fmt.Sprint(len(report.Cases) + 1)) }
	for r := range storetest.Check(ctx, open) {
		report.add(r)
		a.note("%2d of %d  %-4s  %5.1fs  %s", len(report.Cases), report.Total, passed(r.Message == ""), r.Took.Seconds(), r.Case)
	}
	report.Seconds = time.Since(begin).Seconds()
	return report, ctx.Err()
}

func (r *checkedStore) add(result storetest.Result) {
	one := checkedCase{Case: result.Case, Passed: result.Message == "", Seconds: result.Took.Seconds()}
	if one.Passed {
		r.Passed++
	} else {
		r.Failed++
		text := oneLine(store.Redact(result.Message))
		one.Message = &text
	}
	r.Cases = append(r.Cases, one)
}

func passed(ok bool) string {
	if ok {
		return "ok"
	}
	return "FAIL"
}

// printChecked prints for people only what failed: the rest was told as it went.
func (a *app) printChecked(r checkedStore, format render.Format) error {
	if format != render.Table {
		return a.printJSON(r)
	}
	var b strings.Builder
	for _, c := range r.Cases {
		if !c.Passed {
			fmt.Fprintf(&b, "failed: %s\n        %s\n", c.Case, render.Sanitize(*c.Message))
		}
	}
	fmt.Fprintf(&b, "%d of %d cases passed in %.1f s: %s\n", r.Passed, r.Total, r.Seconds, r.URL)
	_, err := fmt.Fprint(a.stdout, b.String())
	return err
}
