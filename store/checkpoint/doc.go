// Package checkpoint finds the checkpoints below a prefix of a store, in the formats of the usual frameworks, says of
// each whether it is whole, and decides which of them a retention policy keeps. It executes nothing that it reads:
// pickles are looked through for names and numbers only.
package checkpoint
