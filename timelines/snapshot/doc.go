// Package snapshot reads the primary store for rivers: which timelines a river is made of
// ([Snapshot.Home] and others), which posts stand at its top ([Snapshot.Scan],
// [Snapshot.Search]), and what the entries and folds of these posts are made of
// ([Snapshot.States], [Snapshot.Contents]).
//
// All that one [Snapshot] reads is of the same instant. Scan and Search return only posts
// that their viewer may read (package rights). Bans and hides are decided where posts are
// shown.
// Every statement looks up what it needs by an index, for hundreds of posts at once.
//
// The writers are in package timelines. The tests of scans and searches stand there too:
// what they read, those make.
package snapshot
