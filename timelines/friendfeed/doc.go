// Package friendfeed reads FriendFeed archives: files with one JSON array of
// entries, each with its comments and likes, as the service's interface wrote
// them.
//
// Promises:
//
//   - A file is read as a stream: memory is bounded by the largest entry (MaxEntry),
//     never by the file.
//   - Nothing is skipped silently. An entry that cannot be used is an *Error which
//     names file, byte, element, id and field; the reader then stands before the next
//     entry, unless the JSON itself is broken, which ends the file.
//   - Bodies come out as plain text (Text): entities decoded, links written out, no
//     tags. What looks like a tag in the result is what somebody wrote as text.
//   - Names come out as riverrun's (Name), the original beside them.
//
// It knows nothing of any store.
package friendfeed
