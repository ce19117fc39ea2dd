package view

import (
	"strconv"
	"time"

	"riverrun/timelines/hooks"
	"riverrun/timelines/tokens"
	"riverrun/web/api"
)

// APIHelpPath is the page for people who write programs with app tokens.
const APIHelpPath = "/help/api"

// APIHelp is that page.
type APIHelp struct {
	*Base
	// Site is the site's address, for the example.
	Site       string
	Operations []api.Operation
	Types      []api.Type
}

// APIExample is the body of the page's example, which writes a post. APIRefusal is the answer to it if the token may
// not write.
const (
	APIExample = `{"text":"Hello from a program"}`
	APIRefusal = `{"type":"about:blank","title":"Forbidden","status":403,"code":"scope_missing","detail":"The token does not allow this: it needs the scope \"write\"."}`
)

func (v *APIHelp) example() string {
	return `curl -H "Authorization: Bearer $TOKEN" \` + "\n  --json '" + APIExample + "' \\\n  " + v.Site + "/api/posts"
}

// HookExample is the body of the page's example of a delivery, which is signed with the secret beside it.
const (
	HookExample       = `{"changes":[{"seq":"1041","id":"0:2044","kind":"gone","code":"0123456789","at":"2026-10-01T12:00:00Z"}]}`
	hookExampleSecret = "rrwh_example"
	hookExampleAt     = 1_790_856_001
)

// hookDelivery is that delivery as the site sends it.
func hookDelivery() string {
	return "POST /hook HTTP/1.1\nContent-Type: application/json\n" +
		"Riverrun-Timestamp: " + strconv.Itoa(hookExampleAt) + "\n" +
		"Riverrun-Delivery: LX6PWKC5MT4NCUVOP3QBWDVVIY\n" +
		"Riverrun-Signature: " + hooks.Sign(hookExampleSecret, hookExampleAt, []byte(HookExample)) + "\n\n" + HookExample
}

// hookCheck is a function of Python that checks a delivery.
const hookCheck = `import hashlib, hmac, time

def from_the_site(secret, headers, body):  # body: bytes, as they came
    at = headers["Riverrun-Timestamp"]
    signed = at.encode() + b"." + body
    want = "v1=" + hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()
    fresh = abs(time.time() - int(at)) < 300
    return fresh and hmac.compare_digest(want, headers["Riverrun-Signature"])`

// retries says when a delivery that failed comes again, and when its webhook stops.
func (v *APIHelp) retries() string {
	var all time.Duration
	for _, wait := range hooks.Waits {
		all += wait
	}
	return v.Locale.T("apihelp.hooks.retries", "seconds", int(hooks.AnswerIn/time.Second), "first", int(hooks.Waits[0]/time.Second),
		"n", len(hooks.Waits)+1, "days", int(all/(24*time.Hour)))
}

// of are the operations of a scope.
func (v *APIHelp) of(s tokens.Scope) (list []api.Operation) {
	for _, op := range v.Operations {
		if op.Scope == s {
			list = append(list, op)
		}
	}
	return list
}

// kind is what a field is, in few words.
func (v *APIHelp) kind(f api.Field) string {
	text := ""
	if f.In != "" {
		text = " · " + f.In
	}
	if f.Required {
		text += " · " + v.Locale.T("apihelp.required")
	}
	return text
}
