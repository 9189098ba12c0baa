// Package lineage reads the links of a tracker root as one graph and answers what came from what.
//
// An edge points the way things flow: From is the source, To is the run that used it, or the dataset that it made. Going up, to parents and
// ancestors, tells what something was made from; going down, to children and descendants, what was made of it.
//
// Every answer is in a documented order. Cycles, sources that no run of the root explains and chains of any length
// are ordinary data here.
package lineage
