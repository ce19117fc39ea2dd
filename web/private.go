package web

import (
	"net/http"
	"slices"
	"strings"

	"riverrun/timelines/site"
)

// openPatterns are the addresses that a private site answers without signing in, besides those that
// package net/http's own handlers serve: static files, health checks, the service worker, robots.txt,
// what programs call with a token, and sockets, which are closed with the code that says why.
var openPatterns = []string{
	"GET /login", "POST /login", "GET /login/link", "POST /login/link", "POST /login/appeal", "POST /logout", "GET /signup", "POST /signup", "GET /manifest.webmanifest",
	"GET /about", "GET /rules", "GET /mark.svg", "GET /robots.txt",
}

// filePatterns are the addresses of files, which a sign-in page would only spoil.
var filePatterns = []string{"GET /files/", "GET /feeds/", "GET /p/{code}/preview"}

// undecided are the addresses of pages without a deciding statement.
var undecided = []string{"GET /{$}", "GET /help/", "/"}

// enter lets somebody in who is not signed in, unless the site is private. Forms are for signed-in
// people anyway, and may bring a name and a password themselves (resume.go).
//
// This node may not have heard yet of a change of the settings. Where it remembers that the site is
// private it asks, so that a site that opens is open. Where it remembers that it is not, the
// deciding statement refuses what may not be shown (rivers, R4), and other pages ask.
func (s *Server) enter(r *request) error {
	if err := s.learnDoor(r); err != nil {
		return err
	}
	if slices.Contains(openPatterns, r.Pattern) || r.Method == http.MethodPost && r.Pattern != "/" {
		return nil
	}
	private, err := s.rivers.Access().Private(r.Context())
	if err == nil && (private || r.at(undecided)) {
		if err = s.rivers.RefreshAccess(r.Context()); err == nil {
			err = s.learnDoor(r)
		}
		private = r.site.Shut
	}
	switch {
	case err != nil || !private:
		return err
	case r.at(filePatterns):
		return errPrivate
	}
	return errSignIn
}

// learnDoor reads the settings of the site as this node knows them now.
func (s *Server) learnDoor(r *request) error {
	settings, err := s.rivers.Access().Site(r.Context())
	if err != nil {
		return err
	}
	r.setSite(settings)
	r.door = settings.Door(s.timelines.Options())
	return nil
}

// at reports whether the pattern of the request's address begins with one of these.
func (r *request) at(patterns []string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return strings.HasPrefix(r.Pattern, p) })
}

// closed reports whether nobody can sign up, as far as this node knows.
func (r *request) closed() bool { return r.door == site.Closed }
