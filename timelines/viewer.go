package timelines

// Session is a signed-in browser as a request presents it: the SHA-256 of its
// cookie. The zero value is nobody's.
type Session [32]byte

// Viewer is who looks: an account, and the session that says so. The zero
// Viewer is anonymous. A Viewer with an AccountID and a zero Session acts by
// itself (jobs, replay, tests) and is not checked against sign-out.
type Viewer struct {
	AccountID int64
	Session   Session
}

// Anonymous reports whether nobody is signed in.
func (v Viewer) Anonymous() bool { return v.AccountID == 0 }

// Clock is the access clock as a deciding statement of the secondary store
// returned it. See access.Cache.
type Clock struct {
	Epoch int64
	N     int64
}
