// Package lines puts the log of changes, and posts, into the words that programs read: the API's answers and what webhooks
// get are made here. So both say the same, and a post is decided about as for a page, when it is read.
package lines
