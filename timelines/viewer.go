package timelines

import "time"

// Session is the session of a signed-in browser: the SHA-256 of its cookie. The zero value
// is no session.
type Session [32]byte

// Viewer is an account that reads pages, and the session that proves it. The zero Viewer is
// anonymous. A Viewer with an AccountID and a zero Session (of jobs, replay, tests) is not
// checked against sign-out.
type Viewer struct {
	AccountID int64
	Session   Session
}

// Anonymous reports whether nobody is signed in.
func (v Viewer) Anonymous() bool { return v.AccountID == 0 }

// Clock is a state of the access clock of the secondary store. See access.Cache.
type Clock struct {
	Epoch int64
	N     int64
}

// Micros is an instant as the order columns hold it: microseconds since 1970.
func Micros(t time.Time) int64 { return t.UnixMicro() }

// Timeline is everything about a timeline that never changes, which is all but its
// level. access.Cache knows the level.
type Timeline struct {
	ID      int64
	Kind    string
	TheirID int64
	Term    string
	GateID  int64 // the timeline whose level decides; 0 none
}
