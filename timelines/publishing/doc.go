// Package publishing keeps what authors see of their own posts: the status of each, how many there are
// of each status, and totals that only grow. It works out rows G10, G11, G22 and G23 of source
// document 002.
//
// # Presets
//
// A preset of "My posts" is a set of statuses, of posts that were written here, imported, or both. Status
// and origin are columns of the post, computed when it is saved, and one index has an author's posts
// of each in the order of creation. A page of a preset merges the beginnings of at most ten ranges of
// that index, so it costs the same with a hundred posts and with a million.
//
// The document stores a row for each preset of each post. Here All, Published and Imported overlap, so that
// would be two or three rows for most posts, and an import of a feed would write them all. The index is
// one entry.
//
// # Counters
//
// The transaction that makes, moves or deletes posts changes their author's counters ([Counts.ApplyTx]), as
// its last locks before the access clock: so a transaction that holds a counter waits for nothing
// that another one with the same author holds.
//
// Because of that, one snapshot sees both a change and its count, or neither. The error of a counter
// is the same at every moment, until somebody repairs it. [Store.Repair] therefore counts
// in one snapshot, without a lock, then locks the author's counters and adds the difference: writers
// of that author wait for one small statement, not for the counting: with a million posts, writers take as long
// during the 0.8 seconds of a repair as without it (BenchmarkRepairBesideWriters).
//
// # Parts of a post
//
// Row G24 keeps parts of an offer in rows of their own. BenchmarkParts says that this saves nothing for what pages
// show, since every such change draws the post's version, and so its lock: beside likes of the same post a change takes
// as long in a row of its own as in a column of posts. A change that does not draw it takes a tenth, but only what no
// page shows may do without.
package publishing
