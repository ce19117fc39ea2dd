package access

import (
	"context"
	"slices"

	"riverrun/timelines"
	"riverrun/timelines/admin"
	"riverrun/timelines/tokens"
)

// Token is an app token that holds (package tokens).
type Token struct {
	ID int64
	// Viewer is the person for whom the program acts. Its session is the token's, so what decides for
	// it finds out when the token has ended (CheckSession).
	Viewer timelines.Viewer
	Scopes []tokens.Scope
	// WholeSite: it reads everything on the site. A role that is taken away ends this at once; the token goes on
	// as one that reads what its person may read.
	WholeSite bool
}

// May reports whether the token has a scope.
func (t Token) May(s tokens.Scope) bool { return slices.Contains(t.Scopes, s) }

// Token returns the app token of that text, or timelines.ErrSignedOut if there is none or it ended; the
// session of a browser is none. No statement while it is cached. As with Session, what a request sees is
// as new as the label: a caller whose request makes no deciding statement refreshes first.
func (c *Cache) Token(ctx context.Context, text string) (Token, error) {
	s, ok := tokens.SessionOf(text)
	if !ok {
		return Token{}, timelines.ErrSignedOut
	}
	found, err := c.session(ctx, s)
	if err != nil {
		return Token{}, err
	}
	if found.token == 0 {
		return Token{}, timelines.ErrSignedOut
	}
	t := Token{ID: found.token, Viewer: timelines.Viewer{AccountID: found.accountID, Session: s}, Scopes: found.scopes}
	if found.wholeSite {
		sets, err := c.Sets(ctx, found.accountID)
		if err != nil {
			return Token{}, err
		}
		t.WholeSite = sets.Role == admin.Administrator
	}
	return t, nil
}
