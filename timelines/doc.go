// Package timelines is the primary store: posts, comments, likes, subscriptions, and
// the rights to read. Rivers are made from it; a warm page never reads it.
//
// # Promises
//
// Every exported method that writes is one transaction. It happens whole, together
// with the events announced through [Announcer], or not at all. It retries lost races
// with other transactions by itself (tx.go).
//
// A change of a post takes the same steps in the same order:
//
//  1. UPDATE posts SET version = version + 1. This first write is the lock of the post,
//     and the version is the stamp by which rivers order changes. Everything about one
//     post (its comments, likes, rows of timeline_entries) is written under this lock.
//  2. The change itself, in later statements. Their snapshots begin after the lock, so
//     they see every change that the lock waited for. A clock, a count or a right that
//     the locking statement itself reads would be older than the lock. A batch of a
//     source (ItemsTx) locks its posts FOR NO KEY UPDATE, finds out which of them change,
//     and draws versions for these alone.
//  3. The form's key. If it was seen before, everything is rolled back.
//  4. The events.
//  5. If somebody may see less or more from now on: the access clock, last, so
//     that its numbers are in the order of commits.
//
// A change that changes nothing (liking twice, editing to the same text, a form sent
// again) commits nothing and announces nothing.
//
// # Order of locks
//
// Every transaction takes the locks it needs in this order, and several of one kind in
// the order of their ids. A transaction that waits holds no lock that comes later:
//
//  1. the advisory lock under which an import gives out names, and accounts: the one
//     whose lists, sub-feeds or profile change, or the group that is described; then rows of
//     sources (package sources), whose batches hold them while they write posts;
//  2. timelines: FOR SHARE where a level, a policy or an exclusion is relied on (for a new
//     post, a post that moves there, a subscription); FOR NO KEY UPDATE where these, or
//     readers, members and administrators, change; FOR UPDATE where a timeline is deleted.
//     Then the timelines that a change of level leaves to blocks (unflagged_timelines);
//  3. posts, by drawing a version, or FOR NO KEY UPDATE. Only a change of level (flagTx),
//     a block of one, and a batch of an import or of a source lock more than one;
//  4. rows that hang on a post, then a form's key, then a stranger's row, then new
//     hashtags, by term;
//  5. requests, then subscriptions, then members of lists, then readers and exclusions;
//     those of a group change only under its timeline's lock;
//  6. credentials, then sessions, then app tokens (package tokens), or webhooks (package hooks).
//     Package stages takes them before a post: nobody else who holds a post waits for them;
//  7. the account's drafts (package drafts), then its scheduled posts (package scheduled);
//  8. counters of authors (package publishing), in the order of their keys;
//  9. the access clock.
//
// New rows that nobody else can know of need no lock. So the timelines that a post goes to
// are locked before the post. A post's flags say at which levels it stands. Two rules keep
// them: a transaction that puts the post somewhere holds that timeline; and a change of
// level, or a block of one, locks its posts before the statement that computes their flags.
// Without that, two groups that share posts and go private at the same time would each
// leave the posts public because of the other. TestOrderOfLocks holds the writers to the
// order. The retry of lost races (tx.go) is for races that no order can prevent.
//
// # Limits
//
// The package does not know rivers, the job queue or HTTP. It returns nothing that an
// actor may not read ([ErrNotFound] for a missing and an unreadable post alike). Texts
// are stored as they were written and rendered elsewhere. The package reads in them only what they
// name (textmarks.go), what they link to, and their language.
package timelines
