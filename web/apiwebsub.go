package web

import (
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"riverrun/timelines"
	"riverrun/web/api"
)

// hubCalls serves the calls of hubs (WebSub). Only the hub that was asked knows the secret in the
// address.
type hubCalls struct{ *Server }

// hubCallsPath begins the addresses that hubs call.
const hubCallsPath = "/api/websub/"

// calls are the handlers, whose addresses and descriptions are in package api.
func (s hubCalls) calls() api.HubCalls {
	return api.HubCalls{Confirm: s.answer(s.confirm), Tell: s.answer(s.tell)}
}

// hubSecret matches secrets.
var hubSecret = regexp.MustCompile(`^[A-Za-z0-9_-]{32}$`)

// maxChallenge is the length of the longest challenge of a hub, in bytes. The answer repeats it.
const maxChallenge = 4 << 10

// answer answers with the status and the text that h returns.
func (s hubCalls) answer(h func(r *http.Request, code string) (status int, text string, err error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		status, text := http.StatusNotFound, ""
		code, ok := timelines.ParseCode(r.PathValue("code"))
		if ok && hubSecret.MatchString(r.PathValue("secret")) {
			err := s.limits.pushes.allow("hub " + code)
			if err == nil {
				bounded, cancel := s.bounded(r)
				defer cancel()
				status, text, err = h(bounded, code)
			}
			if err != nil {
				status = refusalOf(err).status
				s.log.InfoContext(r.Context(), "a hub was refused", "code", requestCode(r.Context()), "status", status, "error", err)
				sayWhen(w, status, waitFor(err))
			}
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text) // the hub may be gone
	}
}

// confirm answers a hub that asks whether the site wants to hear about a feed.
func (s hubCalls) confirm(r *http.Request, code string) (int, string, error) {
	q := r.URL.Query()
	known, err, text := false, error(nil), ""
	switch q.Get("hub.mode") {
	case "subscribe":
		text = q.Get("hub.challenge")
		topic := q.Get("hub.topic")
		if text == "" || len(text) > maxChallenge || !utf8.ValidString(topic) || strings.ContainsRune(topic, 0) {
			return http.StatusNotFound, "", nil
		}
		seconds, bad := strconv.Atoi(q.Get("hub.lease_seconds"))
		if bad != nil || seconds > 1<<30 {
			seconds = 0
		}
		known, err = s.sources.HubConfirms(r.Context(), code, r.PathValue("secret"), topic, time.Duration(seconds)*time.Second)
	case "denied":
		known, err = s.sources.HubDenies(r.Context(), code, r.PathValue("secret"))
	}
	if err != nil || !known {
		return http.StatusNotFound, "", err // the site never asks a hub to end a subscription
	}
	return http.StatusOK, text, nil
}

// tell has a source fetched because its hub says that something is new. It ignores the body that the
// hub sends.
func (s hubCalls) tell(r *http.Request, code string) (int, string, error) {
	known, err := s.sources.HubTells(r.Context(), code, r.PathValue("secret"))
	if err != nil || !known {
		return http.StatusGone, "", err // it need not call again
	}
	return http.StatusAccepted, "", nil
}
