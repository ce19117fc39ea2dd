// Package hooks has webhooks: addresses to which the site sends the log of changes (package changes). It works out
// row G8 of source document 002.
//
// A webhook is a number in the log, its cursor, which moves once the address has answered with a status of 2xx. So each change is
// sent at least once. The lines of a delivery are decided when it is sent, for the webhook's owner.
//
// # Turns
//
// A node takes webhooks that are due ([Store.Take]), sends, and settles ([Store.Settle]). Until it has settled, no other node takes
// them, for Lease at most; a node that settles later changes nothing. A webhook that is behind after its turn goes to
// the end of the queue, so one that is always behind keeps no other waiting.
//
// After a failure a webhook waits ([Waits]); after the last of them it is stopped, and stays so until its owner has it sent
// again. It goes on where it stood.
//
// A webhook ends as sessions do: a new password, a suspension and the wish to leave stop it. The statement that takes it
// looks at that.
package hooks
