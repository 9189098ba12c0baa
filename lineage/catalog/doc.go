// Package catalog publishes what an index knows of a tracker root as Parquet tables beside it, so that any engine can
// query them in place, and a new machine fills its index from there:
//
//	heirloom/catalog/<%020d>/claim.json              who publishes this version, created once
//	heirloom/catalog/<%020d>/<table>/<table>.parquet  the tables: func Tables
//	heirloom/catalog/<%020d>/manifest.json           the version exists, created once and last: type Manifest
//	heirloom/catalog/latest.json                     the newest manifest once more, replaced
//	heirloom/catalog/views.sql                       views over the newest version for DuckDB, replaced
//
// A version is immutable. Its number is claimed by an exclusive create, so that two publishers never write into one
// directory, and its manifest is created exclusively too: whoever takes a publisher for dead creates it first, saying
// that the version is reclaimed, and of the two exactly one can. Such a manifest stays, all else goes. What latest.json
// and views.sql lag behind after a crash costs no answer: they are moved on by the next publisher.
package catalog
