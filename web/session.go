package web

import (
	"net/http"
	"time"
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

func (s *Server) cookie(token string, maxAge int) *http.Cookie {
	return &http.Cookie{
		Name: s.cookieName(), Value: token, Path: "/", MaxAge: maxAge,
		HttpOnly: true, Secure: s.overTLS(), SameSite: http.SameSiteLaxMode,
	}
}
