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
// Level changes among themselves and against changes of a post's destinations (an
// advisory lock; see SetDestinations), or changes of one account's lists (its row of
// accounts), then timelines, in the order of their ids (FOR SHARE by who relies on a
// level, FOR NO KEY UPDATE by who changes it or a feed's readers), then posts, then
// what hangs on one post, then subscriptions, then members of lists,
// then the access clock. No transaction locks two posts but a change of level, or a
// block of what it leaves to others, and those wait for each other, and a batch of an import, in the order of their
// ids; where the two meet, the retry settles it.
//
// # What it refuses to do
//
// It does not know rivers, the job queue or HTTP, hands out nothing an actor may
// not read ([ErrNotFound] for a missing and an unreadable post alike), and never
// interprets text: bodies are stored as plain text and rendered elsewhere.
package timelines
