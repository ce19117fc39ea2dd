// Package listings keeps what posts offer that are listings: a price, a place, the state of the thing,
// and until when it is offered (source: 002, G22). A group's administrators say whether the group takes
// listings.
//
// # Promises
//
// A listing is written in the transaction of its post, under the post's lock, as all rows that hang on a
// post. It is active until its last day is over; then a job makes it expired, and its author may renew
// it. Its author closes it, as sold or given away. That is final: closing it again, in any words,
// changes nothing, so it counts once.
//
// A listing stands in a group that takes listings, also after its author moved it. It stays a listing in a
// group that takes no more, and when an administrator takes it out.
//
// Prices are whole hundredths, and no currency here has other parts. Rejected: numeric, which JSON and
// Go have no type for.
package listings
