package view

import (
	"bytes"

	"riverrun/timelines/access"
	"riverrun/timelines/signins"
)

// SessionsPath is the address of the page of where the viewer is signed in.
const SessionsPath = "/settings/sessions"

// Sessions is that page.
type Sessions struct {
	*Base
	All   []signins.Session
	Saved bool
}

// device names the browser of a session.
func (v Sessions) device(s signins.Session) string {
	if s.Device == "" {
		return v.Locale.T("sessions.unknown")
	}
	return s.Device
}

// event is the newest of what happened to the viewer's account that this session did not do; nil:
// nothing did.
func (p *Base) event() *access.Event {
	if !p.signedIn() {
		return nil
	}
	for i := range p.Sets.Events {
		if e := &p.Sets.Events[i]; !bytes.Equal(e.Session, p.Viewer.Session[:]) {
			return e
		}
	}
	return nil
}

// eventText says what happened.
func eventText(loc *Locale, e *access.Event) string {
	switch e.Kind {
	case signins.Password:
		return loc.T("sessions.event.password")
	case signins.TokenMade:
		return loc.T("tokens.event.made", "name", e.Device)
	case signins.TokenRevoked:
		return loc.T("tokens.event.revoked", "name", e.Device)
	}
	device := e.Device
	if device == "" {
		device = loc.T("sessions.unknown")
	}
	return loc.T("sessions.event.signin", "device", device)
}

// eventPath is where one sees more of what happened.
func eventPath(e *access.Event) string {
	if e.Kind == signins.TokenMade || e.Kind == signins.TokenRevoked {
		return TokensPath
	}
	return SessionsPath
}

func savedText(p *Base, saved bool) string {
	if !saved {
		return ""
	}
	return p.Locale.T("sessions.ended")
}
