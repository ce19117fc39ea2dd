// Package localpg runs the PostgreSQL that riverrun starts by itself if there is no
// DATABASE_URL, and the temporary one of the tests.
//
// The cluster is private. It listens only on a socket, in a directory that nobody but its own
// user and root may enter. Its server is a child process that ends with riverrun. It is
// durable (fsync on, checksums) unless it was asked to be volatile.
//
// One process at a time owns a data directory, by a lock on the file riverrun.lock in it. The
// kernel drops that lock with the process, however it ends. So the owner knows that a
// postmaster.pid in it belongs to an orphan, which it stops, or to nobody. Another process
// gets [ErrInUse], or uses the owner's server as a guest ([Open]).
//
// PostgreSQL refuses to run as root. If root starts it, the cluster belongs to an
// unprivileged user: its present owner, or else postgres, or else a system user that is
// created for it.
package localpg
