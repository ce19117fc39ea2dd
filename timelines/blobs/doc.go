// Package blobs keeps the pictures and files that people upload, each under the SHA-256
// sum of its content. Blobs are in a directory or in a bucket of an object storage that
// speaks S3; callers see no difference.
//
// # Promises
//
// A blob is whole or absent, also after a crash: it gets its name only when all of it is
// stored. Once Put has returned, the blob outlives a crash of the machine. A Put that
// fails while it reads, because the client went away or sent too much, stores nothing.
//
// The package does not know which blobs are in use. The primary store records references,
// and with each the size, which Open compares. Open does not compute the sum again.
//
// # Sweeping
//
// Nothing ties a Put to the transaction that records its reference, so blobs without a
// reference stay behind: a form that was never sent, a crash in between, a deleted post.
// A sweep walks the blobs, asks the primary store which of them have no reference, and
// deletes those. The race that it must not lose:
//
//	sweep: X has no reference
//	                            upload: put X again, record a reference
//	sweep: delete X
//
// Three rules close it:
//
//  1. Each Put makes its blob new: the modification time is set after the content was
//     read, whether the blob was there or not. A reference to a blob that has none is
//     recorded only after a Put.
//  2. A sweep deletes by DeleteOlder, which spares a blob that was modified within a
//     grace, and the grace is longer than a reference takes to be recorded after its Put
//     began to store. An hour is plenty, also for clocks of machines that disagree a
//     little. The sweep computes the time before which it deletes once, before it asks
//     for references.
//  3. DeleteOlder looks at the time and deletes, and no Put of the same blob can succeed
//     between the two and lose its blob.
//
// So if DeleteOlder deletes X, the last Put of X is older than the grace, and its
// reference was recorded before the sweep asked, or never will be. A Put that comes later
// stores X again.
//
// Rule 3 costs a directory one lock: DeleteOlder holds the folder's exclusively while it
// looks and deletes, and Put shares it while it renames. It is flock(2), which processes
// on one machine share and which ends with its process.
//
// S3 has neither locks nor a deletion on condition of age. There, DeleteOlder first
// writes an object that announces the deletion, then looks at the time, then deletes, and
// then removes the announcement. Put first writes the blob, then looks for announcements,
// then whether the blob is there. If DeleteOlder saw the old time, it had announced
// itself before Put wrote. So Put either sees the announcement, waits for its end and
// writes again, or the deletion is over, and Put sees whether its blob is there. An
// announcement that a crash left behind is waited for during a minute and then removed;
// a deletion gives up after half of that, and sends its request once, so that no second
// one arrives late. (Only a machine that is suspended for more than a minute, in the
// middle of a deletion, could still send its request then.) This needs a storage that is strongly consistent for reading and
// listing after writing, as Amazon S3 is since 2020, and as MinIO and Ceph are.
//
// Rejected: names with a random part, so that no deletion ever means a later blob. Then
// Open must list, and pictures are opened far more often than they are put. Rejected: a
// lock in the primary store, which would be held while the object storage is slow.
package blobs
