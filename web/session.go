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

// themeCookie is the name of the cookie with the theme of a browser. It has no rights, so it
// needs no prefix.
const themeCookie = "theme"

// keepTheme makes the browser keep a theme for a year; an empty one is forgotten.
func (s *Server) keepTheme(w http.ResponseWriter, theme string) {
	age := 365 * 24 * 60 * 60
	if theme == "" {
		age = -1
	}
	http.SetCookie(w, &http.Cookie{
		Name: themeCookie, Value: theme, Path: "/", MaxAge: age, HttpOnly: true, Secure: s.overTLS(), SameSite: http.SameSiteLaxMode,
	})
}

// theme returns the theme that the browser keeps, "" if none.
func theme(r *http.Request) string {
	c, err := r.Cookie(themeCookie)
	if err != nil || !slices.Contains(view.Themes, c.Value) {
		return ""
	}
	return c.Value
}

func (s *Server) cookie(token string, maxAge int) *http.Cookie {
	return &http.Cookie{
		Name: s.cookieName(), Value: token, Path: "/", MaxAge: maxAge,
		HttpOnly: true, Secure: s.overTLS(), SameSite: http.SameSiteLaxMode,
	}
}
