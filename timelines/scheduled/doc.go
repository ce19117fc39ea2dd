// Package scheduled keeps posts that are to be published at a time that their author chose
// (source: 002, G4).
//
// # Promises
//
// Nobody but its author reads, changes or cancels a scheduled post: every statement but that of
// the job names the account.
//
// A scheduled post is published once. The transaction that makes the post deletes the row of the
// version that it was made of ([RemoveTx]), and makes nothing if another one did so before. So two
// workers, a person who publishes or edits it at that moment, and a crash at any point make one post of it.
//
// A form counts once: its key stands with those of other forms (timelines/keys.go), and outlives the row here.
//
// A text is not lost. A post that cannot be published stays with its reason ([FailTx]); one that is cancelled
// becomes a draft, or its author says that it is to go ([CancelTx]).
//
// Rejected: a job of the queue for each post, inserted for its time. An edit would have to find and
// change it, and a row of the queue would be the only place that knows when a post is due.
package scheduled
