// Package exports is about archives of what somebody has on the site: one wish of each account, how
// far its making has come, and what goes into it. Package jobs/archives makes them.
//
// # Promises
//
//   - One archive of an account is made at a time, and another takes the place of the last one.
//   - Whatever others wrote is in an archive only if its owner may read it when its part is made
//     (rights). Secrets are never in it: no hash, no token, no code of an invitation.
//   - All reads are in blocks of a bounded size. Only the ids of the posts are all held at once.
//
// An archive is a copy of what its owner could read while it was made. A later
// narrowing does not change it, as it does not change other copies that the owner made.
package exports
