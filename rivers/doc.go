// Package rivers is the secondary store: each page a viewer opens is a river,
// built on demand from timelines of the primary store, kept while it is used,
// thrown away when idle (source: 004).
//
// # What it promises
//
//   - R1: at rest every live river equals one rebuilt from nothing, down to its
//     floor; Check says so.
//   - R2: per (river, post) the stamp never goes back.
//   - R4: a page is decided, entry by entry, at the moment it is read, with access
//     sets that know every narrowing acknowledged before (access.Cache).
//     What is stored is never decided: folds are the same for all.
//   - R5: no holes above a river's floor.
//   - R7: the whole store may be lost at any moment and costs only time.
//
// # Order of things
//
// A writer looks up rivers first, then takes a snapshot of the primary store,
// then writes what the snapshot says with the post's version as stamp, and a
// write applies only if its stamp is greater and its deadline holds. A river is
// registered (a row in state building, with its timelines) before its builder
// takes its snapshot. So for any change and any river, either the builder's
// snapshot saw the change, or the change's writer saw the river: nothing is
// lost, in whatever order jobs run, however often they are repeated. To a search,
// which is of no timelines, no writer routes: its readers bring it up (search.go),
// and it keeps no tombstones of what it never held (searchwrite.go).
//
// # What it refuses to do
//
// It does not replay events, keeps no history, holds no lock across a round trip
// to the primary store, and stores nothing that depends on who may read.
package rivers
