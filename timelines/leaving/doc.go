// Package leaving deletes accounts of people: their own wish, or the staff's.
//
// As of the acknowledgement nobody but the staff sees anything of the account (R4), and all its
// sessions, links and browsers that get pushes have ended. For seven days it can be kept as it was
// (Keep, KeepOwn). Then a job deletes it in blocks (Step): first posts, comments, likes and saves, each
// block followed by pages before the next one begins, then all other rows. A process may end between any
// two steps.
//
// # What is left
//
// The account's row stays, of the kind timelines.Gone: with a random name, no title and nothing else,
// unseen for ever. The rows of its posts and comments stay too, without texts, as after any deletion, and
// so do its timelines. All three are numbers that others' rows rely on. A message to the person stands in
// their timeline and belongs to its author, who would lose it. Rivers and folds know posts by number, and
// take one without a row for one that is not written yet, while a deleted one is a newer version of
// itself. A form that is sent again finds the comment that it made. Access sets of nodes hold the numbers
// of people; one that could come to mean nobody would have to leave all of them at once, while one that
// stays unseen needs nothing. And each reference without a cascade stays true.
//
// Acts, notes and answers to reports of one of the staff stay without the name. Acts that concerned the
// account stay without name and reasons. Posts and comments that an import brought are
// still known by the number of their source, so that the same import does not bring them again. The
// SHA-256 of the account's own number there stays: imports skip the person, and what they wrote and liked.
//
// # The name
//
// Texts of others mention it, so nobody gets it again. The table left_names keeps its SHA-256, which
// sign-up, groups and imports ask.
package leaving
