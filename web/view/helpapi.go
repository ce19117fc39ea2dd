package view

import (
	"riverrun/timelines"
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
