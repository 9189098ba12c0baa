// Package dataset describes files of rows: Parquet datasets that are staged
// once, found again by fingerprint, and never half-written.
//
// A dataset is immutable. Its data lie where Horovod's Store puts them, in files
// named as Spark names them, with a manifest beside them:
//
//	intermediate_train_data.<index>/    likewise _val_data, _test_data
//	    part-00000-<uuid>-c000.zstd.parquet
//	    _heirloom.json                  the manifest: type Manifest
//	    _SUCCESS                        empty, written after the manifest
//	heirloom/leases/<fingerprint>/<%06d>        who may produce, created once: type Lease
//	heirloom/leases/<fingerprint>/<%06d>.beat   its last sign of life, overwritten
//	heirloom/leases/<fingerprint>/<%06d>.end    it was given back
//	heirloom/datasets/index/<%06d>              who claimed the index, created once: type Claim
//	heirloom/datasets/index/<%06d>.end          sealed for a commit, or reclaimed
//	heirloom/datasets/<fingerprint>             the commit, created once and last: type Commit
//	heirloom/datasets/<fingerprint>.<n>         the same after it was pruned n times
//	heirloom/datasets/name/<name>/<version>     what a name means, created once: type Label
//	heirloom/datasets/adopted/<fingerprint>/    the manifest of train of data that lie elsewhere; below it val/ and test/
//	heirloom/datasets/mark/<fingerprint>        it is to be deleted
//
// Of those who stage one dataset at once, one holds the lease and produces, and
// the others wait. A lease only saves work: whoever takes over from a producer
// that fell silent takes an index of its own, so that two producers never share
// a directory, and the one whose commit is created first wins. What a dead
// producer leaves holds a claim and no commit: nobody is ever given its path,
// and nothing of it is reused. It stays until it is reclaimed, which ends its
// claim first, as a commit does: of the two exactly one can.
//
// What is pruned keeps its commit, which says so: a producer that sealed its index
// and stood still until another's dataset was made and pruned finds the place of
// its commit taken.
//
// The version number of the uuid in a file's name is 8, and its last 12 digits
// are the epoch of the claim under which the file was written. A directory of
// such files without a manifest was never finished and is not opened.
//
// This is the only package that imports Arrow; Table and Column serve callers
// who have plain slices.
package dataset
