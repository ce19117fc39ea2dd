// Package sources keeps feeds of other sites, whose items become posts in a person's feed or in a
// group (source: 003, FeedProcessor; its rows F1 to F37 are named where they are answered).
//
// A [Source] is read again and again; each time is a [Load]. The first pass (package formats) turns
// its bytes into a canonical file. The second pass ([Work.Apply]) applies the lines of that file in
// batches. Each item becomes one post.
//
// # Promises
//
// A batch is one transaction: posts, items, the list of items met, counts, problems and the cursor.
// So a crash leaves a load between two batches, and the load goes on by line (F25). A process that
// works a source holds the source's lock on the connection that writes ([Store.Take]). If the process
// is killed, the lock is free. A process that only lost its connection can write no more (F12, F13).
//
// An item whose form did not change writes nothing but its id in the list of items met. Each item
// with a readable id counts as met, even if it is wrong (F19, F20). A load looks for absent items
// only after its last batch (F22). It removes them only if the source is a full list, and only if the
// guard allows it. It never looks at items of other sources (F23, F27).
package sources
