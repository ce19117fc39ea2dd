// Package dump copies the primary store out of a database and into one, with pg_dump, pg_restore
// and psql, while both may be in use.
//
// The stream is what pg_dump -Fc writes: the schemas public and queue, without extensions and
// without an operator's other schemas. A restore is one transaction. It drops all that stands in
// these schemas, creates what is in the stream, and is committed when the caller says so. Until
// then, and if anything fails, the database is as it was.
//
// psql runs the transaction, and not pg_restore --single-transaction: that drops only what is in
// the stream, and so fails on a table of a later version which refers to one of these; and its
// transaction ends with the stream, before the caller could know whether the rest of a backup is
// whole.
//
// The environment of the programs says how to connect. A command line shows to all users of the
// machine, and would show a password.
package dump
