// Package admin is about who is in charge: administrators and moderators, what they may do to
// accounts, and the record of it.
//
// Each act is one transaction that checks the actor's role (RequireTx), does its work, and writes
// a row of the audit log (RecordTx). So nothing is done that is not recorded, and a role that
// is taken away takes effect with the next act. Acts that narrow are changes with a clock; tiers.Carry
// acknowledges them (R4).
//
// The command line acts with the zero By, which may do everything: whoever can start it can read
// the database too.
package admin
