// Package moderation keeps opinions on posts (source: 002, G12): of programs, which send them over the API, and of the staff,
// who decide on pages. Both are rows of one table.
//
// An opinion blocks a post, allows it, or notes something. It has an origin, which is the name that a program gives
// itself, or [Staff]; an id, so that one that is sent again changes nothing; and a number that the origin draws. For each origin, the opinion on a
// post with the greatest number counts, in whatever order they come.
//
// A post is blocked while an origin's opinion that counts is to block it. When the staff allow a post, what others said before no
// longer counts. Only opinions end a block: neither an edit nor an update by the post's source does.
//
// timelines/held.go says what a block does to the post. Its author is told the reason and may appeal, which is a report
// (package reports).
package moderation
