// Package access decides, when a page is rendered, what its viewer may see.
//
// A [Cache] holds on each node what the decisions need: sessions, the [Sets] of each
// viewer (subscriptions, rights to read, bans, hides), timelines with their [Levels], and
// the names of accounts. It reads the primary store once and follows the access clock
// from then on. Rivers and pages ask it; a warm page asks the primary store nothing.
//
// Package timelines decides the same by SQL where it writes and where rivers are built.
// Tests compare both.
package access
