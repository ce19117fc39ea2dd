package webtest

import (
	"context"

	"riverrun/rivers/strategies"
	"riverrun/timelines"
)

// A Person is somebody signed in.
type Person struct {
	Site    *Site
	Account timelines.Account
	Viewer  timelines.Viewer
	Token   string
}

// Password is that of every Person.
const Password = "a long enough one"

// Person signs somebody up and in.
func (s *Site) Person(name string) *Person {
	s.T.Helper()
	ctx := s.T.Context()
	if _, err := s.Store.Accounts.SignUp(ctx, timelines.SignUp{Name: name, Title: name, Password: Password}); err != nil {
		s.T.Fatalf("sign up %s: %v", name, err)
	}
	token, account, err := s.Store.Accounts.SignIn(ctx, name, Password)
	if err != nil {
		s.T.Fatalf("sign in %s: %v", name, err)
	}
	if s.log != nil { // a node of a test's own has a log of its own
		s.log.keep(token)
	}
	session, ok := timelines.SessionOf(token)
	if !ok {
		s.T.Fatalf("token %q is none", token)
	}
	return &Person{Site: s, Account: account, Token: token, Viewer: timelines.Viewer{AccountID: account.ID, Session: session}}
}

// Act makes a change as a handler does: when it returns, the person's own rivers
// show it.
func (p *Person) Act(change func(context.Context) (timelines.Change, error)) timelines.Change {
	p.Site.T.Helper()
	c, err := change(p.Site.T.Context())
	c, err = p.Site.Tiers.Carry(p.Site.T.Context(), c, err)
	if err != nil {
		p.Site.T.Fatalf("%s: %v", p.Account.Name, err)
	}
	p.Site.mu.Lock()
	defer p.Site.mu.Unlock()
	p.Site.behind = append(p.Site.behind, timelines.Touched{PostID: c.PostID, Timelines: c.Touched})
	p.Site.changes = append(p.Site.changes, strategies.Events(c)...)
	for _, r := range c.Replace {
		if len(r.Terms) > 0 {
			p.Site.invalidated = append(p.Site.invalidated, timelines.Replace{Everybody: true, Kinds: r.Kinds, Terms: r.Terms})
		}
	}
	return c
}

// Post writes a post to these destinations, by default the own feed.
func (p *Person) Post(body string, to ...string) timelines.Change {
	p.Site.T.Helper()
	return p.Act(func(ctx context.Context) (timelines.Change, error) {
		return p.Site.Store.Posts.Create(ctx, timelines.NewPost{Author: p.Account.ID, Body: body, To: to})
	})
}

// Like likes a post.
func (p *Person) Like(code string) {
	p.Site.T.Helper()
	p.Act(func(ctx context.Context) (timelines.Change, error) {
		return p.Site.Store.Posts.Like(ctx, p.Account.ID, code)
	})
}

// Comment comments on a post.
func (p *Person) Comment(code, body string) timelines.Change {
	p.Site.T.Helper()
	return p.Act(func(ctx context.Context) (timelines.Change, error) {
		return p.Site.Store.Comments.Create(ctx, timelines.NewComment{Author: p.Account.ID, Code: code, Body: body})
	})
}

// LikeComment likes a comment.
func (p *Person) LikeComment(code string, id int64) {
	p.Site.T.Helper()
	p.Act(func(ctx context.Context) (timelines.Change, error) {
		return p.Site.Store.Comments.Like(ctx, p.Account.ID, code, id)
	})
}

// Edit changes the text of a post.
func (p *Person) Edit(code, body string) {
	p.Site.T.Helper()
	p.Act(func(ctx context.Context) (timelines.Change, error) {
		return p.Site.Store.Posts.Edit(ctx, p.Account.ID, code, body)
	})
}

// Remove deletes a post.
func (p *Person) Remove(code string) {
	p.Site.T.Helper()
	p.Act(func(ctx context.Context) (timelines.Change, error) {
		return p.Site.Store.Posts.Delete(ctx, p.Account.ID, code)
	})
}

// Subscribe begins to follow an account, or asks to.
func (p *Person) Subscribe(name string) {
	p.Site.T.Helper()
	p.Act(func(ctx context.Context) (timelines.Change, error) {
		c, _, err := p.Site.Store.Subscriptions.Subscribe(ctx, p.Account.ID, name)
		return c, err
	})
}

// SignOut ends the session.
func (p *Person) SignOut() {
	p.Site.T.Helper()
	p.Act(func(ctx context.Context) (timelines.Change, error) {
		return p.Site.Store.Accounts.SignOut(ctx, p.Viewer)
	})
}

// EditList sets the title and the members of a list.
func (p *Person) EditList(slug, title string, members ...string) {
	p.Site.T.Helper()
	p.Act(func(ctx context.Context) (timelines.Change, error) {
		return p.Site.Store.Lists.Edit(ctx, p.Account.ID, slug, title, members)
	})
}

// Rename changes how somebody is called.
func (p *Person) Rename(title string) {
	p.Site.T.Helper()
	p.Act(func(ctx context.Context) (timelines.Change, error) {
		return p.Site.Store.Accounts.SetProfile(ctx, p.Account.ID, title, "", "")
	})
}

// Unsubscribe ceases to follow an account.
func (p *Person) Unsubscribe(name string) {
	p.Site.T.Helper()
	p.Act(func(ctx context.Context) (timelines.Change, error) {
		return p.Site.Store.Subscriptions.Unsubscribe(ctx, p.Account.ID, name)
	})
}

// Ban bans an account, and Unban lifts the ban.
func (p *Person) Ban(name string) {
	p.Site.T.Helper()
	p.Act(func(ctx context.Context) (timelines.Change, error) {
		return p.Site.Store.Bans.Ban(ctx, p.Account.ID, name)
	})
}

// Unban is described with Ban.
func (p *Person) Unban(name string) {
	p.Site.T.Helper()
	p.Act(func(ctx context.Context) (timelines.Change, error) {
		return p.Site.Store.Bans.Unban(ctx, p.Account.ID, name)
	})
}

// SetAccess sets the level of the own account, or of a group.
func (p *Person) SetAccess(group string, level timelines.Level) {
	p.Site.T.Helper()
	p.Act(func(ctx context.Context) (timelines.Change, error) {
		return p.Site.Store.Feeds.SetAccess(ctx, p.Account.ID, group, level)
	})
}

// Follow asks to follow somebody, who accepts.
func (p *Person) Follow(whom *Person) {
	p.Site.T.Helper()
	p.Subscribe(whom.Account.Name)
	whom.Visitor().Post("/"+p.Account.Name+"/accept", "back", "/")
}

// Exclude keeps somebody out of one's own feed or sub-feed.
func (p *Person) Exclude(slug, name string) {
	p.Site.T.Helper()
	p.Act(func(ctx context.Context) (timelines.Change, error) {
		return p.Site.Store.Feeds.Exclude(ctx, p.Account.ID, slug, name)
	})
}
