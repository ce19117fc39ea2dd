// Package migrations holds the SQL of both stores and applies it.
//
// Each store has numbered pairs of files, NNNN_name.up.sql and
// NNNN_name.down.sql, embedded in the binary. Each file runs in a transaction
// together with its row in schema_migrations, so that a database always has a whole
// version. Nodes that start together take turns by an advisory lock: one migrates, and the
// others find nothing left to do. A database newer than the binary is refused with
// [ErrNewer], and one of an unreleased build whose files were other ones with
// [ErrEarlierBuild]. Both are left unchanged.
//
// A file that has been released is never edited. A change is a new pair.
package migrations
