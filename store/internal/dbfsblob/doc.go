// Package dbfsblob keeps objects as plain files below one directory of DBFS or of a volume of the Unity Catalog, over
// Databricks' REST APIs: the Files API 2.0 for what lies below /Volumes, the DBFS API 2.0 for the rest.
//
// A [Bucket] is a gocloud driver.Bucket and passes gocloud's conformance suite unmodified. Package store uses its own
// methods, which say more. It has been tried on a stand-in written from the public description of the APIs only.
//
// # Names
//
// The file of a key is the key itself, below the directory; only what a name cannot hold is escaped (package keyname).
// Temporary files are plain files named ".heirloom-<hex>.tmp" in the directory itself, never in one of a key, never
// listed, and swept when three days old. Neither API keeps attributes; gocloud's interface writes those that are not
// defaults to files in ".heirloom-attrs", tied to the version of the object. Package store makes none.
//
// # How an object of a volume is published
//
// An upload is one PUT. The workspace sees the end of the body, or drops it, so an object is whole or not there.
// With overwrite=false the API refuses where the file exists. No claim is left by a crash, and nothing to sweep.
//
// # How an object of DBFS is published
//
// The API has two ways to write. A handle (create, add-block, close) may show the file while it is empty, or has
// some of its blocks: that depends on the storage behind the workspace, and the description promises nothing. A handle
// that its owner left behind ends after ten minutes, with the file as it is then. A put carries up to 1 MB in one request.
// A move refuses where its destination exists.
//
// So an object is created in four steps: a put or a handle fills a temporary file under a name that nobody else has; a
// get-status must count the bytes written; a move gives it its name; the missing directories are made when it fails for
// want of them. What a crash or a lost answer leaves, by the step it comes in:
//
//   - before the move: an unlisted temporary file, which the sweep removes. The key is untouched and free.
//   - at the move: the object is there whole, or the temporary file still is. A writer whose answer is lost looks for its
//     temporary file: gone means that the move was applied, since nobody else moves it; there means that it was not, and
//     it is tried again. Repeating a move that was applied does no harm: its source is gone.
//
// The other ways do not hold: a put or create with overwrite=false may be visible in part; a claim, be it a file or a
// directory, blocks the key when its owner dies between claim and object, and who breaks the claim of an owner that was
// only slow lets both publish.
//
// # What is not promised
//
//   - A move in DBFS refuses an existing destination, but the description does not say that looking and moving are one
//     step. Where they are not, two creators of one key at the same moment may both be told that they won.
//     The same goes for overwrite=false in a volume, where however one request carries both.
//   - DBFS has no atomic replacement. An object of up to 1 MB is replaced by one put: readers see the old bytes or the
//     new where the storage publishes a file when it is closed, as S3 and GCS do, and may see an empty one for a moment
//     where it does not. A longer one is written beside, the old one is removed, and the new one moved: for a moment
//     there is none, and a crash in that moment leaves none. Nobody sees a part of one.
//   - No checksum is taken by either API. The size is checked after all but single requests.
//   - Neither API names versions. Time and size tell them apart: in milliseconds in DBFS, in seconds in a volume. A
//     reader of DBFS, whose requests carry no version, looks again before it hands out the last block.
//   - What lasts is what the storage of the workspace keeps; the description says nothing of it.
//   - An upload of more than 5 GiB to a volume is refused. The API takes parts through signed addresses of the cloud's
//     own storage, which this package does not use.
//
// # Errors
//
// Every error is a *dirtree.Error of a kind of io/fs, errors.ErrUnsupported, or one of dirtree, told by the error_code of
// the answer, else by its status. None holds a token or a secret. Where the workspace asks for a pause (Retry-After)
// the error comes after it. A key that is a directory, or lies below an object, is absent to readers and
// fs.ErrInvalid, with EISDIR or ENOTDIR inside, to writers.
package dbfsblob
