// Package edits keeps what a post said before it was edited, for its author alone.
//
// An edit keeps the former text in its own transaction, under the post's lock ([KeepTx]), and
// only the last [Most] are kept. The deletion of a post removes them with its text
// ([RemoveTx]), so that nothing of a deleted post is left.
package edits
