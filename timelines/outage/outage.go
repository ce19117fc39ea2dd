// Package outage tells from a driver's error whether a database was away. If it was, the
// request was not wrong, and may be tried again.
package outage

import (
	"errors"
	"io"
	"net"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/puddle/v2"
)

// Is reports whether err says that a database could not be reached, went away, or
// cannot work at the moment: it is shutting down or recovering, has no disk or memory
// left, is read-only for a failover, has lost its tables and is waiting for them, or gave
// the transaction up for another's sake.
//
// The end of a context is no outage: only the owner of the context knows what it means.
func Is(err error) bool {
	if said := saidBy(err); said != nil {
		return fatal(said) || away(said.Code)
	}
	var connect *pgconn.ConnectError
	var network *net.OpError
	return errors.As(err, &connect) || errors.As(err, &network) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, pgconn.ErrConnClosed) || errors.Is(err, puddle.ErrClosedPool)
}

// RolledBack reports whether err is an outage that the server itself reported, in a session
// that goes on. Then everything that the transaction did is undone. If the connection broke,
// that is not known: the commit may have arrived.
func RolledBack(err error) bool {
	said := saidBy(err)
	return said != nil && !fatal(said) && away(said.Code)
}

// Missing reports whether err says that a database, or some of its tables, do not exist.
func Missing(err error) bool {
	said := saidBy(err)
	return said != nil && missing(said.Code)
}

func saidBy(err error) *pgconn.PgError {
	var said *pgconn.PgError
	errors.As(err, &said)
	return said
}

// fatal reports whether the server ended the session, or refused to begin one.
func fatal(said *pgconn.PgError) bool {
	return said.SeverityUnlocalized == "FATAL" || said.SeverityUnlocalized == "PANIC"
}

// away reports whether an SQLSTATE means an outage (https://www.postgresql.org/docs/current/errcodes-appendix.html).
func away(code string) bool {
	if len(code) != 5 {
		return false
	}
	switch code[:2] {
	case "08", // connection exception
		"40", // given up for the sake of another transaction, and not the first time
		"53", // insufficient resources: disk full, out of memory, too many connections
		"57", // operator intervention: shutdown, crash, starting up, cancelled
		"58": // system error: I/O, missing file
		return true
	}
	return code == "25006" || missing(code) // read_only_sql_transaction
}

func missing(code string) bool {
	switch code {
	case "3D000", // invalid_catalog_name: no such database
		"3F000", // invalid_schema_name
		"42P01": // undefined_table
		return true
	}
	return false
}
