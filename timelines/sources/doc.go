// Package sources keeps feeds from elsewhere that flow into a person's feed or into a group
// (source: 003, FeedProcessor; its rows F1 to F37 are named where they are answered).
//
// A [Source] is read again and again; each time is a [Load]. Its bytes become a canonical file
// (package formats, the first pass), whose lines are applied in batches (the second pass,
// [Work.Apply]). Each item becomes one post.
//
// # Promises
//
// A batch is one transaction: posts, items, what was met, counts, problems and the cursor. So a
// crash leaves a load between two batches, and it goes on by line (F25). Whoever works a source
// holds its lock on the connection that writes ([Store.Take]): a process that was killed frees it,
// and one that was thought dead, and lost its connection, can write no more (F12, F13).
//
// An item whose form did not change writes nothing but its id in the list of those met. Each
// item with a readable id counts as met, also if it is wrong (F19, F20). What is absent is looked for
// only after the last batch (F22), removed only if the source is a full list, and only if the guard
// allows it; and only items of this source are ever looked at (F23, F27).
package sources
