// Package changes is the log of what happened to posts, for other programs. It works out rows G7, G8 and G9
// of source document 002.
//
// # The outbox
//
// Each transaction that draws a post's version writes a row of the outbox. A trigger does it, so no writer can
// forget it, and it takes no statement of its own. The post is locked by then, so of one post the ids
// of the rows are in the order of the commits. The shard is the author's.
//
// The row says where the post stood before the change. So somebody who could read it there can be told that
// it is gone, and nobody else is.
//
// Changes of access write rows too: a program that keeps copies of what it read must learn that it may not
// read something any more.
//
// # The log
//
// A relay moves rows to the log ([Store.Relay]), the oldest of each shard. It numbers them in the transaction that inserts
// them, those of one post in their order, and holds the row with the last number until
// the commit. So no number becomes visible after a greater one, and a reader that goes on after a number
// misses nothing, even if a change takes long to commit. Moving a row is one transaction, so a row is in the
// log once, whenever the relay is killed. A batch that leaves riverrun has one change of a post, the last: rivers/lines
// sees to that.
//
// The log is a ring of 32 tables, one for each day. A day that is not kept any more is truncated
// ([Store.Trim]), which takes the same time for a million rows as for one.
//
// Readers get numbers and posts, never texts: what a post says, and whether a reader may know it, is decided when the
// log is read.
package changes
