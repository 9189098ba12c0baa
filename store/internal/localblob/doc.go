// Package localblob keeps objects as plain files below one local directory, durably.
//
// A [Bucket] is a gocloud driver.Bucket and passes gocloud's conformance suite unmodified. Package store
// uses its own methods, which say more:
//
//	b, err := localblob.Open(dir, nil)   // makes nothing; the directory appears with the first write
//	b.Put(ctx, key, body)                // replaces atomically: temp, write, fsync, rename, fsync of the directory
//	b.Create(ctx, key, body)             // link(2) in place of rename; fs.ErrExist if present; one winner
//	w, err := b.NewWriter(ctx, key)      // the same as a stream; w.Commit(Replace) or w.Commit(Create), w.Abort()
//	token, err := b.BeginUpload(ctx, key) // piece by piece: WriteAt, SumAt, CompleteUpload, AbortUpload, Uploads
//	f, info, err := b.OpenFile(ctx, key) // regular files only
//	b.Stat, b.Delete
//	b.Walk(ctx, prefix)                  // every object below any string prefix, bytewise sorted, streaming; an error is final
//	b.ReadDir(ctx, dir)                  // one level; sub-directories sort as if their names ended in "/"
//	b.AppendLines(ctx, key, lines)       // the file as a set of lines that only grows
//	b.Path(key), b.Capabilities(), b.Probe(ctx), b.Sweep(ctx, age)
//
// # Names
//
// The file of a key is the key itself, below the directory. Only what no file system can hold as it is gets
// another name (see package keyname): empty elements, "." and "..", control characters, names that look like
// our temporary files. Temporary files are plain files named ".heirloom-<hex>.tmp" in the directory itself,
// never in a directory of a key, never listed, and swept when a day old. There are no sidecar files: attributes
// that are not defaults go into one extended attribute, "user.heirloom.attrs".
//
// An object is a regular file, or a symbolic link to one that stays inside the directory. Links leading out
// are refused by every operation; listings pass over them and over devices, pipes and sockets, and do not
// descend into linked directories. Delete removes the directories it leaves empty.
//
// # Errors
//
// Errors are those of package os, with the system's error number inside, so that errors.Is works with
// fs.ErrNotExist, fs.ErrExist, fs.ErrPermission and syscall numbers. Beyond these: a key that is a directory is absent to
// readers and EISDIR to writers, a key below an object is absent to readers and ENOTDIR to writers, and
// errors.ErrUnsupported tells that the file system cannot do what is asked.
package localblob
