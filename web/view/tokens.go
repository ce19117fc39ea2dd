package view

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"riverrun/timelines/admin"
	"riverrun/timelines/tokens"
)

// TokensPath is the address of the page of the viewer's app tokens.
const TokensPath = "/settings/tokens"

// Tokens is that page.
type Tokens struct {
	*Base
	All   []tokens.Token
	Form  TokenForm
	Made  string // a new token, which is shown once
	Saved string
	Error FormError
}

// TokenForm is the form for a new token as it was sent.
type TokenForm struct {
	Name, Days string
	Scopes     []string
	WholeSite  bool
}

// NewTokenForm is the form at first.
func NewTokenForm() TokenForm { return TokenForm{Days: "30"} }

func (f TokenForm) has(s tokens.Scope) bool { return slices.Contains(f.Scopes, string(s)) }

// SentToken reads the form as it was sent. A number that is none is 0, which is refused.
func SentToken(sent url.Values) (TokenForm, tokens.New) {
	f := TokenForm{Name: sent.Get("name"), Days: sent.Get("days"), Scopes: sent["scope"], WholeSite: sent.Has("whole_site")}
	n := tokens.New{Name: f.Name, WholeSite: f.WholeSite}
	n.Days, _ = strconv.Atoi(f.Days)
	for _, s := range f.Scopes {
		n.Scopes = append(n.Scopes, tokens.Scope(s))
	}
	return f, n
}

// administers reports whether the viewer may make a token that reads the whole site.
func (v Tokens) administers() bool { return v.Sets.Role == admin.Administrator }

// allows names what a token allows.
func (v Tokens) allows(t tokens.Token) string {
	var names []string
	for _, s := range t.Scopes {
		names = append(names, v.Locale.T("tokens.scope."+string(s)))
	}
	if t.WholeSite && v.administers() {
		names = append(names, v.Locale.T("tokens.whole"))
	}
	return strings.Join(names, ", ")
}
