// Package workspace keeps the directory that a job is started from, so that the
// same job can start from an equal one elsewhere.
//
// A directory is scanned into a [Tree]: its files, directories and links with
// their modes, less what its ignore files leave out. A tree is stored as one
// object for each distinct content and one manifest, which is written last and
// named by the SHA-256 of its own bytes: an equal directory has the same digest
// wherever it lies, and what is stored already is not sent again. [Restore]
// verifies each byte and writes nothing outside the directory it is given.
package workspace
