// Package strategies has the ways in which sources 001 and 000 make a home feed, beside riverrun's
// own, on the same data with the same rights to read:
//
//   - [Read]: nothing is stored; each page is read from the primary store (fan-out on read).
//   - [Timed]: a feed is stored in buckets of a period each (fan-out on write).
//   - [Sized]: a feed is stored in buckets of a number of posts each (fan-out on write).
//   - [Cache]: the newest posts of a feed are stored while its viewer reads it.
//   - [Aggregator]: the newest posts are stored; follows and unfollows are done in blocks (source 000).
//   - [Rivers]: riverrun's rivers.
//
// # What it promises
//
// At rest, all strategies show the same pages: the posts that the viewer's home river shows,
// at the same places. The one difference is what the viewer hides. Hides are about texts and
// people on a page, so whoever renders the posts of a page decides them. Rivers hold the
// texts, so a page of theirs leaves hidden posts out already.
//
// R4 holds for each of them: a page that began after a narrowing was acknowledged shows
// nothing of what it took away, even if Apply of that change has not run. Stored feeds hold
// ids and places alone, and what a page shows is decided from the primary store while it is
// read (shown.go).
//
// # Order of things
//
// Apply may run late, twice, in any order, and many at once. As writers of rivers do, it
// looks up the feeds, then takes a snapshot of the primary store, then writes what the
// snapshot says, with the post's version as its stamp. A feed is registered before its
// builder takes a snapshot. So for any change and any feed, either the builder's snapshot saw
// the change, or the change's writer saw the feed. Following, and whatever else changes a
// viewer's feed without a change of posts, fills another feed and puts it in the old one's
// place.
//
// # What it refuses to do
//
// It stores no text, and nothing that depends on a ban. It serves home feeds only: other
// pages have rivers.
package strategies
