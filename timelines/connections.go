package timelines

// SoonGone are settings of a connection with which PostgreSQL notices within seconds that
// the machine at the other end is gone, and releases its locks. By default that takes
// hours. They are for TCP and mean nothing on a socket of the same machine.
var SoonGone = map[string]string{
	"tcp_keepalives_idle":     "2",
	"tcp_keepalives_interval": "1",
	"tcp_keepalives_count":    "3",
	"tcp_user_timeout":        "5000", // milliseconds; where something was sent
}
