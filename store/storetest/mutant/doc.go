// Package mutant holds stores with one seeded defect each, which the table of
// storetest, and whoever else judges stores, must reject.
package mutant
