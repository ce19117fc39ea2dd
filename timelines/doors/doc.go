// Package doors has how people come in: who may sign up (site.SignUp), invitations, and people who
// wait to be let in.
//
// A sign-up is decided in the transaction that makes the account, under the lock of the site's row
// and of the invitation's. So once the change is acknowledged that closes a site, nobody has signed
// up later, and of two who use the last of an invitation one is refused.
//
// A person who asks to be let in has an account that nobody but the staff sees, and that cannot sign
// in (timelines.WaitingError). A refused one stays so: its name stays taken, and the staff may still
// let it in.
//
// Only people who sign up themselves come through here. The command line, imports and demonstrations
// make accounts without it.
package doors
