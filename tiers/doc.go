// Package tiers brings one change into the right rivers (source: 004;
// ARCHITECTURE.md).
//
//   - Tier 0, inline: when Carry returns, the post's fold and all rivers of the actor show
//     the change. If it narrowed what somebody may see, every page decided from then on
//     follows it (R3, R4).
//   - Tier 1, at once, in the background: rivers that are open in a browser, then a
//     message on the bus to every node, whose hub pushes.
//   - Tier 2, soon, at low priority: all other live rivers.
//
// Jobs that were inserted in the change's own transaction do Tiers 1 and 2, so a crash
// anywhere loses nothing. The node that committed also runs Tier 1 at once, from a
// bounded queue in memory. That makes it fast; nothing relies on it. The job repeats the
// work and finds it done. It always publishes on the bus: current rivers do not mean that
// the hubs were told.
package tiers
