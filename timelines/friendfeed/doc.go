// Package friendfeed reads FriendFeed archives: files with one JSON array of
// entries, each with its comments and likes, as the service's interface wrote
// them.
//
// Promises:
//
//   - A file is read as a stream: memory is bounded by the largest entry (MaxEntry),
//     never by the file.
//   - Nothing is skipped silently. An entry that cannot be used is an *Error, which
//     names file, byte, element, id and field. Reading goes on at the next entry, unless
//     the JSON itself is broken, which ends the file.
//   - Bodies become plain text (Text): entities are decoded, links written out, and tags
//     removed. A text that still looks like a tag was written as text by somebody.
//   - Names become usernames of riverrun (Name). The original is kept beside them.
//
// It knows nothing of any store.
package friendfeed
