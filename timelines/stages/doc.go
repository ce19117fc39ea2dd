// Package stages keeps what programs work out about posts, for the programs alone (source: 002, G21).
//
// A stage is a step of some processing that runs outside: it reads the log of changes, works at a post, and
// keeps here how far it came, as JSON that the site does not read. The state belongs to the account of the
// program's token, to the post and to the stage's name. Programs of one account share it; those of another
// account have their own and learn nothing of it.
//
// # Promises
//
//   - A write names the version that it replaces, or says that there must be none. If several writes
//     replace one version, one of them succeeds. No version comes twice, also not when a state is deleted and made
//     again.
//   - A state goes with its post and with its account. One that comes while the post is deleted, or while the
//     token ends, is refused or goes with them.
//   - It changes nothing that anybody sees: the post's version stays, and nothing is announced.
//
// # Rejected
//
// The site's own detection of languages and its link cards are no stages. A language is a column that the post's transaction
// writes, as rivers filter by it, and a card belongs to an address that many posts share, so either would be read
// from an opaque state of one post, written a second time and later than now.
//
// Callers have checked that the account may read the post.
package stages
