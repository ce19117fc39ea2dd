package view

import (
	"riverrun/timelines/doors"
	"riverrun/timelines/site"
)

// SignUp is the form for a new account, empty or as it was sent; the
// password is never sent back.
type SignUp struct {
	Name, Title, Back string
	Door              site.SignUp // who may sign up
	// Invitation is the code of a good one. Bad is how it stands with another.
	Invitation string
	Bad        doors.State
	// Full: doors.MaxWaiting wait to be let in, and nobody else can ask now. Asked: the person waits.
	Full, Asked bool
	Visitor     bool // as that of Login
	Sentence    string
	Error       FormError
}

// asks reports whether the person has to be let in.
func (f SignUp) asks() bool { return f.Door == site.ByApproval && f.Invitation == "" }

// open reports whether there is a form.
func (f SignUp) open() bool {
	switch f.Door {
	case site.Closed:
		return false
	case site.ByInvitation:
		return f.Invitation != ""
	case site.ByApproval:
		return !f.Asked && (f.Invitation != "" || !f.Full)
	}
	return true
}

// lead says what signing up takes.
func (f SignUp) lead() string {
	switch {
	case f.Door == site.Closed:
		return "door.closed"
	case f.Invitation != "":
		return "signup.invited"
	case f.Asked:
		return "signup.asked"
	case f.Door == site.ByApproval && f.Full:
		return "door.full"
	case f.Door == site.ByInvitation, f.Door == site.ByApproval:
		return "door." + string(f.Door)
	}
	return "signup.lead"
}
