// Package notices is about notifications: what others do that concerns a person. It has the
// table of their kinds, the statements that write them and take them back, and what a node
// remembers of them ([Cache]).
//
// A row of the table notifications is one event and one recipient. It is written in the
// transaction of the change, under the lock of its post, and goes with its cause: a like
// taken back, a comment deleted, a name edited away. The same statement moves the post in the
// recipient's timeline of kind notifications, where it stands at the time of its last event.
//
// This package does not decide who may know of an event. Rivers decide that at render (R4), for
// entries and for the number of those unread alike.
//
// Whatever changes a person's rows also raises the person's notice clock in the secondary
// store. If it takes something away, it does so before it is acknowledged. A page's statement
// returns that clock, and what a node remembers is used only if it was read at that clock. So
// neither an entry nor a number is made of what was taken back.
package notices
