// Package timelines is the primary store: what people wrote, whom they follow,
// and who may read what. Rivers are made from it; a warm page never reads it.
//
// # What it promises
//
// Every exported method that writes is one transaction and owns it. It either
// happens whole, together with the events announced through [Announcer], or not
// at all; lost races with other transactions are retried inside (tx.go).
//
// A change of a post takes the same steps in the same order:
//
//  1. UPDATE posts SET version = version + 1: the first write, the lock, and the
//     stamp by which rivers order what they are told. Everything about one post
//     (its comments, likes, rows of timeline_entries) is written under this lock.
//  2. What the change is, in later statements. Their snapshots begin after the
//     lock, so they see whatever the lock waited for; a clock, a count or a right
//     read by the locking statement itself would be older than the lock.
//  3. The form's key: seen before, and all of it is rolled back.
//  4. The events.
//  5. If somebody may see less or more from now on: the access clock, last, so
//     that its numbers are in the order of commits.
//
// Changes that would change nothing (liking twice, editing to the same text,
// a form sent again) commit nothing and announce nothing.
//
// # Order of locks
//
// Every transaction takes what it needs of these in this order, and several of one
// kind in the order of their ids; who waits holds nothing that comes later:
//
//  1. what an import gives out names under (an advisory lock), and accounts: of who
//     changes their lists, sub-feeds or profile, and of a group that is described;
//  2. timelines: FOR SHARE by who relies on a level, a policy or an exclusion (a new
//     post, one that moves here, a subscription), FOR NO KEY UPDATE by who changes
//     them or who reads, writes and leads there, FOR UPDATE by who deletes one; then what
//     a change of level leaves to blocks (unflagged_timelines);
//  3. posts, by drawing a version, or FOR NO KEY UPDATE: one, but by a change of level
//     (flagTx), a block of what it left, and a batch of an import;
//  4. what hangs on a post, then a form's key, then hashtags first used, by term;
//  5. requests, then subscriptions, then members of lists, then readers and exclusions;
//     all that of a group is changed under its timeline's lock;
//  6. credentials, then sessions;
//  7. the access clock.
//
// New rows that nobody knows of count for nothing here. Where a post goes is therefore
// locked before the post, and its flags, which say what levels it stands in, are kept by
// two rules: whoever puts it somewhere holds that timeline, and a change of level, or a
// block of it, locks its posts before the statement that computes their flags: of two
// groups that share posts and both go private, each would else leave them public for the
// other's sake. TestOrderOfLocks holds the
// writers to the order. The retry of lost races (tx.go) is for what no order can settle.
//
// # What it refuses to do
//
// It does not know rivers, the job queue or HTTP, hands out nothing an actor may
// not read ([ErrNotFound] for a missing and an unreadable post alike), and never
// interprets text: bodies are stored as plain text and rendered elsewhere.
package timelines
