// Package reads remembers how far people have read the comments of posts.
//
// A mark says when the last comment was made that a person was shown on the post's own page.
// Marks only grow, so it does not matter in which order they arrive, or how often.
//
// # Promises
//
// A page reads marks from the node's memory ([Cache.Of]). They cost one statement when a
// person's first page is made on a node, and none from then on. The memory is bounded: for
// each of the people who came last it has their latest marks. Where it lacks one, a page says
// nothing of what is new.
//
// New marks are written together, every few seconds, and then told to the other nodes, so a
// person's other devices follow. A message that is lost is healed, as what a node remembers is
// read again after a while. A node that dies loses the marks of its last seconds; nothing
// depends on them but numbers of unread comments.
//
// A mark is nobody's but its reader's: nothing else reads it, and no page counts readers.
package reads
