package web

import (
	"net/http"
	"slices"
	"time"

	"riverrun/web/view"
)

func (s *Server) overTLS() bool { return s.url.Scheme == "https" }

// cookieName is the session cookie's name. Over TLS its prefix makes browsers
// refuse one set by a neighbour domain or without Secure.
func (s *Server) cookieName() string {
	if s.overTLS() {
		return "__Host-riverrun"
	}
	return "riverrun"
}

func (s *Server) keepSession(w http.ResponseWriter, token string) {
	http.SetCookie(w, s.cookie(token, int(s.sessionAge/time.Second)))
}

func (s *Server) forgetSession(w http.ResponseWriter) {
	http.SetCookie(w, s.cookie("", -1))
}

// The cookies of what a browser keeps for itself. They have no rights, so they need no prefix.
const (
	themeCookie = "theme" // one of view.Themes
	keysCookie  = "keys"  // "off": one-letter keys do nothing
)

// keepHere makes the browser keep a value of its own for a year; an empty one is forgotten.
func (s *Server) keepHere(w http.ResponseWriter, name, value string) {
	age := 365 * 24 * 60 * 60
	if value == "" {
		age = -1
	}
	http.SetCookie(w, &http.Cookie{
		Name: name, Value: value, Path: "/", MaxAge: age, HttpOnly: true, Secure: s.overTLS(), SameSite: http.SameSiteLaxMode,
	})
}

// keptHere fills in what the browser keeps for itself.
func keptHere(r *http.Request, p *view.Base) {
	if c, err := r.Cookie(themeCookie); err == nil && slices.Contains(view.Themes, c.Value) {
		p.Theme = c.Value
	}
	c, err := r.Cookie(keysCookie)
	p.KeysOff = err == nil && c.Value == "off"
}

func (s *Server) cookie(token string, maxAge int) *http.Cookie {
	return &http.Cookie{
		Name: s.cookieName(), Value: token, Path: "/", MaxAge: maxAge,
		HttpOnly: true, Secure: s.overTLS(), SameSite: http.SameSiteLaxMode,
	}
}
