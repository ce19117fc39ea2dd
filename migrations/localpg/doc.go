// Package localpg runs the PostgreSQL that riverrun brings up by itself when no
// DATABASE_URL is given, and the throw-away one of the tests.
//
// The cluster is private: it listens on a socket only, in a directory that
// nobody but its own user (and root) may enter, and its server is a child
// process that ends with riverrun. It is durable (fsync on, checksums) unless
// it was asked to be volatile.
//
// One process owns a data directory at a time, by a lock on the file
// riverrun.lock in it. The kernel drops that lock with the process, however it
// ends, so whoever holds it may treat a postmaster.pid left behind as what it
// is: an orphan, which is stopped, or nobody. Another process is told so
// ([ErrInUse]) or uses the owner's server as a guest ([Open]).
//
// PostgreSQL refuses to run as root. Started by root, the cluster belongs to an
// unprivileged user: the one who owns it already, else postgres, else a system
// user made for it.
package localpg
