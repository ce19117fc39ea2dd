// Package leaving deletes accounts of people, and groups: their own wish, or the staff's.
//
// As of the acknowledgement nobody but the staff sees anything of the account (R4), and all its
// sessions, links and browsers that get pushes have ended. For seven days it can be kept as it was
// (Keep, KeepOwn). Then a job deletes it in blocks (Step): first posts, comments, likes and saves, each
// block followed by pages before the next one begins, then all other rows. A process may end between any
// two steps.
//
// # Groups
//
// A group is deleted without such days (Disband, DeleteGroup). Its account is hidden too, but that is not
// enough: an unseen account hides what it wrote, and a group writes nothing; the staff would see it, too.
// So its feed gets the level timelines.Ended, which opens it to nobody. This is one row, however many
// members and posts there are. All that decides who may read a post asks for the level already, in SQL and
// in the memory of nodes, and all that follows a change of level follows this one: rivers, sockets and the
// flags of posts. To make it private and take its readers away would be a row for each member in one
// transaction, and each way by which somebody becomes a reader would have to be shut. The level is final,
// and under its lock nobody posts, joins or governs any more (timelines.Groups.EndTx). Its administrators
// go at once, so that nobody has its requests and sources.
//
// The job deletes posts that stand only in the group, whoever wrote them, and takes the others out of it
// (timelines.Posts.DisbandBlockTx); the rest is as for a person. An act of the staff keeps the name of the
// group and the reason, since it concerns no person.
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
