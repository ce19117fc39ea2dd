// Package tiers brings one change into the right rivers (source: 004; DESIGN
// §6, §7).
//
//   - Tier 0, inline: when Act returns, the post's fold and all rivers of who did
//     it show the change, and if it narrowed what somebody may see, so does every
//     page decided from then on (R3, R4).
//   - Tier 1, at once, in the background: rivers open in a browser, then a word on
//     the bus to every node, whose hub pushes.
//   - Tier 2, soon, at low priority: all other live rivers.
//
// Tiers 1 and 2 belong to jobs that were inserted in the change's own
// transaction, so a crash anywhere loses nothing. The node that committed also
// runs Tier 1 at once by itself, from a bounded queue in memory: that makes it
// fast and is never relied upon. A job repeats the work, finds it done, and
// always speaks on the bus: that the rivers are current does not mean that
// anybody was told.
package tiers
