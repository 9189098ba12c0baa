// Package render turns values into what heirloom prints: lists as table, JSON, JSON lines or CSV, one run as text or
// JSON, a lineage as tree, JSON, DOT or Mermaid.
//
// The forms for programs (JSON, JSON lines, CSV) hold what was recorded; docs/json.md documents each field, and fields
// are only ever added. The forms for people are sanitised, because names and metadata may come from anybody.
package render
