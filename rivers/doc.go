// Package rivers is the secondary store. Each page that a viewer opens is a river: it is
// built on demand from timelines of the primary store, kept while it is used, and thrown
// away when it is idle (source: 004).
//
// # What it promises
//
//   - R1: at rest every live river equals one rebuilt from nothing, down to its floor.
//     Check compares them.
//   - R2: the stamp of a post in a river never goes back.
//   - R4: a page is decided entry by entry at the moment it is read, with access sets that
//     know every narrowing acknowledged before (access.Cache). Nothing that is
//     stored is decided: a fold is the same for all viewers.
//   - R5: a river has no holes above its floor.
//   - R7: the whole store may be lost at any moment, and that costs only time.
//
// # Order of things
//
// A writer first looks up rivers, then takes a snapshot of the primary store, then writes
// what the snapshot says. The post's version is its stamp: a write applies only if its
// stamp is greater than the stored one and its deadline has not passed. A river is
// registered (a row in state building, with its timelines) before its builder takes its
// snapshot. So for any change and any river, either the builder's snapshot saw the change,
// or the change's writer saw the river. Nothing is lost, in whatever order jobs run and
// however often they are repeated. ARCHITECTURE.md numbers the steps of this protocol.
//
// A search has no timelines, and writers never look it up. Its readers bring it up to date
// (searchupdate.go), and it keeps no tombstones of posts that it never held
// (searchwrite.go).
//
// # What it refuses to do
//
// It does not replay events, keeps no history, holds no lock across a round trip to the
// primary store, and stores nothing that depends on the right to read.
package rivers
