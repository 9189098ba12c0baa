package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/heirloom-ml/heirloom/lineage/filter"
	"github.com/heirloom-ml/heirloom/lineage/index"
)

// compile turns the flags, but for --parent, into a query of an index, and the columns into fields.
func (q *runsQuery) compile(c *cobra.Command, now time.Time) (index.Query, error) {
	query := index.Query{Limit: q.limit}
	var err error
	if c.Flags().Changed("where") {
		if query.Where, err = filter.Parse(q.where, now); err != nil {
			return query, err
		}
	}
	if c.Flags().Changed("order-by") {
		if query.Order, err = filter.ParseOrder(q.order); err != nil {
			return query, err
		}
	}
	if c.Flags().Changed("columns") {
		if q.fields, err = filter.ParseFields(q.columns); err != nil {
			return query, err
		}
	}
	if q.project != "" {
		query.Where = both(query.Where, equal(filter.Attributes, "project", q.project))
	}
	if q.user != "" {
		query.Where = both(query.Where, equal(filter.Attributes, "user", q.user))
	}
	if len(q.states) > 0 {
		query.Where = both(query.Where, equal(filter.Attributes, "state", q.states...))
	}
	return query, nil
}

// both is true where two filters are; nil is always true.
func both(x, y filter.Expr) filter.Expr {
	if x == nil {
		return y
	}
	return &filter.And{X: x, Y: y}
}

// equal asks for one of some texts.
func equal(e filter.Entity, name string, texts ...string) filter.Expr {
	c := &filter.Compare{Field: filter.Field{Entity: e, Name: name}, Op: filter.In}
	for _, text := range texts {
		c.Values = append(c.Values, filter.Literal{Text: text})
	}
	return c
}
