package view

import (
	"strconv"
	"time"

	"riverrun/timelines"
	"riverrun/timelines/hooks"
	"riverrun/timelines/stages"
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

// of are the operations that are called in a way, and with a scope if there are any.
func (v *APIHelp) of(by api.By, s tokens.Scope) (list []api.Operation) {
	for _, op := range v.Operations {
		if op.By == by && op.Scope == s {
			list = append(list, op)
		}
	}
	return list
}

// meaning is a code of an answer, and what it says.
type meaning struct{ code, text string }

// codes are the codes of answers that stand on no other page: the API's own, those of states, and those of the site.
func (v *APIHelp) codes() (list []meaning) {
	for _, c := range api.Codes {
		list = append(list, meaning{c, v.Locale.T("apihelp.code." + c)})
	}
	for _, e := range []timelines.InvalidError{{Code: "stage_name"}, {Code: "state_large", Most: stages.MaxPayload}, {Code: "stages_many", Most: stages.Most}, {Code: "text_invalid"}} {
		list = append(list, meaning{e.Code, InvalidText(v.Locale, &e)})
	}
	list = append(list, meaning{"refused", v.Locale.T("apihelp.code.refused")}, meaning{"search_broad", v.Locale.T("search.broad")})
	for _, c := range []string{"missing", "forbidden", "excluded", "rules", "busy", "behind", "notsaved", "fault"} {
		list = append(list, meaning{c, v.Locale.T("error." + c)})
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
