// Package jobs makes rivers follow the primary store in the background: it
// implements timelines.Announcer on the job queue and works what is announced.
//
// What it promises:
//   - A job is inserted in the transaction of the change it is about. A change
//     that is committed is worked, one that is rolled back never happened.
//   - A job is worked at least once, until it succeeds. It may be worked twice,
//     at once or in any order: everything it calls reads the present state and
//     writes it with its stamp, so that neither doubling nor order matters.
//   - The jobs of a process that ended in the middle of them are worked by another, or
//     by the same one started again, two to three seconds later (presence).
//   - Tier 2's work never takes a worker from Tier 1's, nor does a rebuild.
//
// The kinds of jobs:
//
//	distribute  queue now     Tier 1: one changed post into the open rivers
//	replace     queue now     rivers that became wrong as a whole: retires the closed
//	rebuild     queue rebuild one open one of them, anew
//	bump        queue now     one block of a much-liked post's filter timelines
//	upkeep      queue now     one block of what helps to find posts
//	follow      queue later   Tier 2: all that is behind, into all live rivers
//	expire      queue chores  rivers nobody came back to (periodic)
//	housekeep   queue chores  old sessions, keys, log rows (periodic)
//
// It does not decide what a job does to rivers: that is package tiers. It
// refuses unique jobs: a unique insert is dropped while its elder runs, and the
// elder may have read the state before the change.
package jobs
