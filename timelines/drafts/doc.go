// Package drafts keeps what people write until they send it or throw it away: on all their
// devices, one draft for each place that has a form, and beside these the parked ones, whose place
// another took. One draft of an account is the current one: the one saved last, or chosen at sign-in.
//
// People who are not signed in have drafts of posts too, in a table of its own (visitors.go). When they
// sign in, [Decide] says which draft they go on with, and [ArriveTx] moves theirs to the account, in
// the transaction that begins the session. A save that comes late to that is refused ([ErrGone]), and the
// form sends its text again. When the site has as many as it keeps, old ones make room.
//
// # Promises
//
// Nobody but its author reads, changes or removes a draft: every statement names the account,
// and no address names a draft but by its place, which is the same for everybody. A visitor's draft
// is read by the browser that has the cookie for it.
//
// No text is lost when another draft takes its place: it is parked, beyond the bound if need be.
//
// A form replaces or removes only the draft that it has ([Version]): the one it was filled from or
// last saved as. Another one, of another device or tab, stays, and the form is told of it
// ([NewerError]). A draft goes in the transaction that makes the post or the comment of it
// ([RemoveTx]), so it never outlives what it became, and never goes without that.
//
// A draft of a comment says nothing of its post. The post's author and beginning are read
// when the list is shown, with the right to read at that moment (R4).
package drafts
