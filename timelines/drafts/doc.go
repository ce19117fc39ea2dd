// Package drafts keeps what people write until they send it or throw it away: on all their
// devices, one draft for each place that has a form.
//
// # Promises
//
// Nobody but its author reads, changes or removes a draft: every statement names the account,
// and no address names a draft but by its place, which is the same for everybody.
//
// A form replaces or removes only the draft that it has ([Version]): the one it was filled from or
// last saved as. Another one, of another device or tab, stays, and the form is told of it
// ([NewerError]). A draft goes in the transaction that makes the post or the comment of it
// ([RemoveTx]), so it never outlives what it became, and never goes without that.
//
// A draft of a comment says nothing of its post. The post's author and beginning are read
// when the list is shown, with the right to read at that moment (R4).
package drafts
