// Package filter is the language in which runs are searched: MLflow's search grammar with or, not and parentheses.
//
//	metrics.accuracy > 0.9 and (params.optimizer = 'adam' or tags."night run" like 'n%')
//	not attributes.status in ('FAILED', 'KILLED') and started > '7d ago'
//	artifacts.kind = 'checkpoint' and parents.id = 'clicks@2026-11-20'
//
// A comparison holds if some value of its field satisfies it; a field without a value satisfies none but IS NULL.
// That is so for != and NOT LIKE too, as in MLflow. The prefix NOT is plain negation.
//
// A number is compared with values that are numbers or read as one, a text with the value's text: that of a string
// is the string itself, of anything else its JSON. Texts are ordered by their bytes.
package filter
