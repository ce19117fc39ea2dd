// Package backup defines the file that holds a copy of a site: a tar archive of
//
//	manifest.json        whose site it is, and when the backup was made
//	database/00000001    the dump of the primary store, in parts, because a tar entry begins with its size
//	database/00000002    …
//	files/abcd…          each blob under its sum, of everything that people uploaded
//	end.json             how many of each there are, and a SHA-256 of all of it
//
// in this order. It is written and read as a stream. Any tar takes it apart; the parts of the dump,
// one after the other, are a file for pg_restore.
//
// The blobs come after the dump, and the store of blobs is held from before it (files.Hold). So each
// blob that the dump refers to is there. Some may belong to nothing.
//
// A file without its end, or with another sum, is [ErrDamaged]. The sum finds accidents: anybody
// who may write the file can also write another sum.
package backup
