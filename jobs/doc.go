// Package jobs makes rivers follow the primary store in the background. It
// implements timelines.Announcer on the job queue, and works the announced jobs.
//
// # Promises
//
//   - A job is inserted in the transaction of its change. The job of a committed change
//     is worked; a change that is rolled back leaves no job.
//   - A job is worked at least once, until it succeeds. It may be worked twice, at the
//     same time or in any order: everything it calls reads the present state and
//     writes it with its stamp, so neither repetition nor order matters.
//   - When a process ends in the middle of its jobs, another one, or the same one
//     started again, works them two to three seconds later (presence).
//   - Neither Tier 2, nor a rebuild, nor stored home feeds take a worker from Tier 1.
//   - A job that wakes nobody is found: within tenths of a second while its node, or one that works, looks (lookout), else by
//     the polls of its queue (Config.IdlePollInterval). So is one whose notification is lost.
//
// The kinds of jobs:
//
//	distribute  queue now     Tier 1: brings one changed post to the open rivers
//	replace     queue now     invalidated rivers: retires the closed ones
//	rebuild     queue rebuild one open river of a replace
//	homes       queue homes   one step of a change to stored home feeds
//	bump        queue now     one block of a much-liked post's filter timelines
//	upkeep      queue now     one block of the flags of posts whose feed changed its level
//	bulk        queue batches one block of the posts that somebody changes at once
//	removal     queue batches one block of what an account wrote, when staff remove it all
//	leave       queue batches one part of the deletion of an account
//	follow      queue later   Tier 2: brings all live rivers up to the notes in behind
//	picture     queue pictures  makes an upload a picture in its sizes
//	page        queue fetch   reads what a page that a post links to says of itself
//	push        queue push    tells the browsers of an account that something is new
//	load        queue sources works the loads of a source that wait
//	feed        queue feeds   fetches a source by its link
//	photos      queue photos  fetches pictures of items from one host
//	asked       queue feeds   fetches a source that somebody waits for, or a preview of it
//	hub         queue fetch   asks the hub of a feed to tell of what is new
//	export      queue exports makes the archive of what somebody has
//	due         queue now     has sources and pictures fetched that are due, and loads worked that stand still (when a node finds such)
//	publish     queue now     publishes scheduled posts that are due (when a node finds such)
//	expire      queue chores  rivers that nobody came back to, or that grew too deep (periodic)
//	lapse       queue chores  listings whose last day is over (periodic)
//	housekeep   queue chores  old sessions, keys, archives, log rows; accounts whose deletion is due; counters of some authors (periodic)
//	sweep       queue chores  uploads never attached, blobs that nothing refers to (periodic)
//
// Package tiers decides what a job does to rivers. No job of a change is a unique one: the queue
// drops a unique insert while an earlier one runs, and that one may have read the state
// before the change.
package jobs
