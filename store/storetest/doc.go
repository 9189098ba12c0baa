// Package storetest holds the contract of package store as one table of cases,
// to be run on every backend.
//
// A case needs an empty store and says by its name what it proves. Run is for
// tests; Check is the same table for anyone who has a store at hand.
package storetest
