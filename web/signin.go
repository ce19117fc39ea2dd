package web

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"riverrun/timelines"
)

// Guessing passwords is bounded in three ways, and none lets a stranger lock somebody out.
// One address may fail a number of times, which is against trying many names; one address
// with one name may fail fewer times. Sign-ins with a name that fails from many addresses
// are delayed and never refused. Successful sign-ins do not count.

// signInDelay is the longest delay of a sign-in whose name failed too often; at least half of
// a request's time is left for the rest. It waits before it takes anything that others wait
// for.
const signInDelay = 3 * time.Second

// maxUnderWay is how many sign-ins of one address may be under way. It is a share of those
// that may wait for a password to be hashed, so that one address cannot delay all others.
const maxUnderWay = 25

// nameUnderAttack is how many failures with one name, from all addresses together, in ten
// minutes it takes for its sign-ins to be delayed.
const nameUnderAttack = 100

// tryPassword runs try within the limits of sign-ins; try returns
// timelines.ErrBadCredentials if the password is not the name's. A try counts while it is
// under way, so that many at once are no more than many in a row, and afterwards if it
// failed.
func (s *Server) tryPassword(r *request, name string, try func() error) error {
	address := s.addresses.key(r.Request)
	pair := address + " " + name
	if err := s.limits.signInAddress.allow(address); err != nil {
		return err
	}
	if err := s.limits.signInPair.allow(pair); err != nil {
		s.limits.signInAddress.forget(address)
		return err
	}
	defer s.limits.underWay.add(address, -1)
	var err error
	if s.limits.underWay.add(address, 1) > maxUnderWay {
		err = timelines.ErrBusy
	} else if s.limits.signInName.add(name, 0, s.now()) >= nameUnderAttack {
		err = s.delay(r.Context(), min(signInDelay, s.databaseTimeout/2))
	}
	if err == nil {
		err = try()
	}
	if !errors.Is(err, timelines.ErrBadCredentials) {
		s.limits.signInAddress.forget(address)
		s.limits.signInPair.forget(pair)
		return err
	}
	s.limits.signInName.add(name, 1, s.now())
	// The host's tools read this line: see OPERATING.md. The address comes first, so that
	// no name can be taken for it.
	s.log.WarnContext(r.Context(), "sign-in failed", "address", s.addresses.text(r.Request), "name", logged(name))
	return err
}

// checkOwnPassword checks the viewer's password, which the form of a dangerous act has as "present".
func (s *Server) checkOwnPassword(r *request) error {
	err := s.tryPassword(r, r.me.Name, func() error {
		return s.timelines.Accounts.VerifyPassword(r.Context(), r.me.Name, r.PostFormValue("present"))
	})
	if errors.Is(err, timelines.ErrBadCredentials) {
		return &timelines.InvalidError{Field: "present", Code: "password_wrong"}
	}
	return err
}

// delay waits that long, or until ctx ends.
func delay(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// maxLogged is how much of a name that nobody may have is logged, in characters.
const maxLogged = 64

// logged returns a visitor's text for the log, cut. The log's handlers escape it.
func logged(text string) string {
	text = strings.ToValidUTF8(text, string(utf8.RuneError))
	n := 0
	for i := range text {
		if n++; n > maxLogged {
			return text[:i] + "…"
		}
	}
	return text
}
