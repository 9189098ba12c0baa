// Package hdfsblob keeps objects as plain files below one directory of HDFS, on the client colinmarc/hdfs.
//
// A [Bucket] is a gocloud driver.Bucket and passes gocloud's conformance suite unmodified. Package store uses its own
// methods, which say more:
//
//	b, err := hdfsblob.Open(authority, root, opts)     // contacts nothing
//	b.Put(ctx, key, body)                              // replaces in one step
//	b.Create(ctx, key, body, id)                       // fs.ErrExist if present; one winner
//	w, err := b.NewWriter(ctx, key)                    // one file; w.Commit(Replace) or w.Commit(Create), w.Abort()
//	r, err := b.Open(ctx, key, offset, length, version) // one range of one version
//	token, err := b.Begin(ctx, key)                    // an upload that another process can go on with
//	tag, err := b.PutPart(ctx, key, token, body, size, crc) // in any order, several at once
//	b.Complete(ctx, key, token, parts, mode, id)       // publishes them; or b.Abort; b.Unfinished lists what is neither
//	b.Stat, b.Delete, b.Walk, b.ReadDir, b.WriteID, b.Sweep
//
// # Names
//
// The file of a key is the key itself, below the directory; only what HDFS cannot hold gets another name (package keyname).
// Temporary files are plain files named ".heirloom-<hex>.tmp" in the directory itself, never in one of a key, never
// listed, and swept when three days old. An upload in parts is a directory of such a name; below it are directories
// named as the key's, and in the last of them the parts. It is swept when nothing was added for seven days. Attributes that are not defaults go into the extended attribute
// "user.heirloom.attrs".
//
// # How an object is published
//
//  1. create: a temporary file under a name nobody else has, on a client of its own.
//  2. write, close, and close again while the NameNode has not heard of enough replicas. Then all bytes are
//     on disk on every DataNode of the pipeline, and the file is no longer open.
//  3. stat: the NameNode must count the bytes written. The answer holds the inode's number, which the file keeps
//     for ever and no other ever has.
//  4. rename2 to the key, with the overwrite flag for Put and without it for Create. The missing parents are made
//     when it fails for want of them.
//
// The NameNode looks for the destination and renames under one write lock, so a key has its old file or its new one,
// and of any number of Creates exactly one succeeds, the others getting FileAlreadyExistsException. The library exports
// only a rename that overwrites, which is why call.go makes the request itself, on the library's connection. The
// ways without that do not hold: a plain create is visible while empty; a claim, be it a file, a directory or an
// extended attribute, blocks the key when its owner dies between claim and object, and who breaks the claim of an
// owner that was only slow lets both publish.
//
// What a crash or a lost connection leaves, by the step it comes in:
//
//   - 1 to 3: an unlisted temporary file. The key is untouched and free; nobody waits for anything, since the file's
//     lease matters to its own name only. The sweep removes it.
//   - 4, before the NameNode logs the rename: the same.
//   - 4, after it: the object is there whole, and only the answer is lost. The writer, if it lives, looks who has the
//     key: its own inode means that it won; its temporary file still there means that the rename was not applied,
//     and it is tried again; neither means that it cannot know. Repeating a rename that was applied does no harm: its
//     source is gone. Where no NameNode answers any more the error is ErrUnavailable and the inode is remembered, so
//     that WriteID knows the object for the caller's if a later Create finds the key taken.
//
// A failover changes none of this: the log of the NameNodes is one, and holds each rename wholly or not.
//
// A long object takes steps 1 to 3 for each part; Complete joins the parts by concat, which is one step of the NameNode as
// well, and renames what came of it. The library cannot go on within a file whose DataNode or NameNode is lost, so a part
// is what is sent again. The number of the first part's inode, which stays with what the parts are joined to, tells a
// process that repeats Complete whether an earlier one was applied.
// The NameNode joins only closed files of one directory that are not empty, are in no snapshot, and have no larger block
// size than the first; the parts of one upload are made so, save where a snapshot is taken meanwhile.
//
// # Reading
//
// The library asks for size and blocks of a path in two requests, and would mix two objects where one replaces the
// other in between; Open looks at the inode once more after the blocks are known. The library hands out bytes whose checksum is
// wrong as if they were good and only avoids that DataNode from then on; Reader notices, drops them and reads them
// again from another replica. Each Reader has a client of its own, so ranges are read at the same time.
//
// # What protects the bytes of a long object
//
// The library sends each chunk of 512 bytes with its CRC-32C. The DataNodes check what arrives, keep these sums beside the
// block, check them again when they scan their disks, and send them with what is read, where Reader checks them. PutPart
// sums up the same buffers that it hands to the library, and refuses a part that is not what its caller read from the
// source. After each close and after concat the NameNode must count the bytes that were sent, of the inode that was
// written.
//
// No sum of the whole is asked for at the end. That of "hdfs dfs -checksum", which FileReader.Checksum of the library gives
// too, is an MD5 of MD5s of these sums and depends on where blocks begin; COMPOSITE_CRC, which could be compared with
// the CRC-32C of the source, is nothing that the library can ask for. That the parts stand in their order therefore rests
// on concat alone.
//
// # Limits
//
//   - A write is on the disks of all DataNodes of its pipeline when it is acknowledged (sync.go). Where the library
//     encrypts what it sends to them it may still be in their memory, and survives a loss of power on all of them only
//     if they have dfs.datanode.synconclose; see [Bucket.Durable].
//   - Erasure-coded files and encryption zones are refused (errors.ErrUnsupported): the library would read stripes and
//     ciphertext.
//   - dfs.data.transfer.protection=integrity, and privacy or dfs.encrypt.data.transfer without AES
//     (dfs.encrypt.data.transfer.cipher.suites), are refused, since the library garbles what it reads under them.
//   - There is no compare-and-swap on content, and observer NameNodes are not asked for reads.
//   - The library leaves a goroutine behind for each block whose writing failed.
//
// # Errors
//
// Every error is a *dirtree.Error of a kind of io/fs, errors.ErrUnsupported, or one of dirtree, told by the class of the
// server's exception. A key that is a directory, or lies below an object, is absent to readers and fs.ErrInvalid, with
// EISDIR or ENOTDIR inside, to writers.
package hdfsblob
