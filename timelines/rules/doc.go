// Package rules is the one table of what a post, a comment, a draft, a file, a destination, a listing and
// an item of a source may be (G6): how long, how many, and one of what words.
//
// # Promises
//
// Each bound stands here once, in a row of [Table]. Everything else is made from that row: the check,
// the maxlength and the accept of a form, the bound in the text of an error, the help page. So a form
// never takes what the store refuses, and no two ways in name one fault differently.
//
// Codes are stable: programs read them, and they are stored with the problems of loads. A row may be
// added; its code is never changed and never used for something else.
//
// A way in that does something else with a fault says so in the row (Rule.AtSource): nobody can be asked
// to write an item of a feed again, so a text that is too long is cut there, and the problem is noted.
//
// The checks are pure. Rows of the unit [Standing] have none: whether somebody may write somewhere is
// only known in the transaction that writes, and the row is what the answer is called.
//
// This package imports nothing that stores, so that everybody may import it.
package rules
