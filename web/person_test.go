package web

import (
	"context"

	"riverrun/timelines"
)

// person is somebody signed in.
type person struct {
	site    *liveSite
	account timelines.Account
	viewer  timelines.Viewer
	token   string
}

const password = "a long enough one"

func (s *liveSite) person(name string) *person {
	s.t.Helper()
	ctx := s.t.Context()
	if _, err := s.store.SignUp(ctx, timelines.SignUp{Name: name, Title: name, Password: password}); err != nil {
		s.t.Fatalf("sign up %s: %v", name, err)
	}
	token, account, err := s.store.SignIn(ctx, name, password)
	if err != nil {
		s.t.Fatalf("sign in %s: %v", name, err)
	}
	session, ok := timelines.SessionOf(token)
	if !ok {
		s.t.Fatalf("token %q is none", token)
	}
	return &person{site: s, account: account, token: token, viewer: timelines.Viewer{AccountID: account.ID, Session: session}}
}

// act makes a change as a handler does: when it returns, the person's own rivers
// show it.
func (p *person) act(change func(context.Context) (timelines.Change, error)) timelines.Change {
	p.site.t.Helper()
	c, err := p.site.tiers.Act(p.site.t.Context(), change)
	if err != nil {
		p.site.t.Fatalf("%s: %v", p.account.Name, err)
	}
	p.site.mu.Lock()
	defer p.site.mu.Unlock()
	p.site.behind = append(p.site.behind, timelines.Touched{PostID: c.PostID, Timelines: c.Touched})
	for _, r := range c.Replace {
		if len(r.Terms) > 0 {
			p.site.wrong = append(p.site.wrong, timelines.Replace{Everybody: true, Kinds: r.Kinds, Terms: r.Terms})
		}
	}
	return c
}

func (p *person) post(body string, to ...string) timelines.Change {
	p.site.t.Helper()
	return p.act(func(ctx context.Context) (timelines.Change, error) {
		return p.site.store.CreatePost(ctx, timelines.NewPost{Author: p.account.ID, Body: body, To: to})
	})
}

func (p *person) like(code string) {
	p.site.t.Helper()
	p.act(func(ctx context.Context) (timelines.Change, error) { return p.site.store.Like(ctx, p.account.ID, code) })
}

func (p *person) comment(code, body string) timelines.Change {
	p.site.t.Helper()
	return p.act(func(ctx context.Context) (timelines.Change, error) {
		return p.site.store.CreateComment(ctx, timelines.NewComment{Author: p.account.ID, Code: code, Body: body})
	})
}

func (p *person) likeComment(code string, id int64) {
	p.site.t.Helper()
	p.act(func(ctx context.Context) (timelines.Change, error) {
		return p.site.store.LikeComment(ctx, p.account.ID, code, id)
	})
}

func (p *person) edit(code, body string) {
	p.site.t.Helper()
	p.act(func(ctx context.Context) (timelines.Change, error) {
		return p.site.store.EditPost(ctx, p.account.ID, code, body)
	})
}

func (p *person) remove(code string) {
	p.site.t.Helper()
	p.act(func(ctx context.Context) (timelines.Change, error) {
		return p.site.store.DeletePost(ctx, p.account.ID, code)
	})
}

func (p *person) subscribe(name string) {
	p.site.t.Helper()
	p.act(func(ctx context.Context) (timelines.Change, error) {
		c, _, err := p.site.store.Subscribe(ctx, p.account.ID, name)
		return c, err
	})
}

func (p *person) signOut() {
	p.site.t.Helper()
	p.act(func(ctx context.Context) (timelines.Change, error) { return p.site.store.SignOut(ctx, p.viewer) })
}

func (p *person) editList(slug, title string, members ...string) {
	p.site.t.Helper()
	p.act(func(ctx context.Context) (timelines.Change, error) {
		return p.site.store.EditList(ctx, p.account.ID, slug, title, members)
	})
}

// rename changes how somebody is called.
func (p *person) rename(title string) {
	p.site.t.Helper()
	p.act(func(ctx context.Context) (timelines.Change, error) {
		return p.site.store.SetProfile(ctx, p.account.ID, title, "")
	})
}

func (p *person) unsubscribe(name string) {
	p.site.t.Helper()
	p.act(func(ctx context.Context) (timelines.Change, error) {
		return p.site.store.Unsubscribe(ctx, p.account.ID, name)
	})
}

func (p *person) ban(name string) {
	p.site.t.Helper()
	p.act(func(ctx context.Context) (timelines.Change, error) { return p.site.store.Ban(ctx, p.account.ID, name) })
}

func (p *person) unban(name string) {
	p.site.t.Helper()
	p.act(func(ctx context.Context) (timelines.Change, error) {
		return p.site.store.Unban(ctx, p.account.ID, name)
	})
}

func (p *person) setAccess(group string, level timelines.Level) {
	p.site.t.Helper()
	p.act(func(ctx context.Context) (timelines.Change, error) {
		return p.site.store.SetAccess(ctx, p.account.ID, group, level)
	})
}

// follow asks, and is let in.
func (p *person) follow(whom *person) {
	p.site.t.Helper()
	p.subscribe(whom.account.Name)
	whom.visitor().post("/"+p.account.Name+"/accept", "back", "/")
}

// exclude keeps somebody out of one's own feed or sub-feed.
func (p *person) exclude(slug, name string) {
	p.site.t.Helper()
	p.act(func(ctx context.Context) (timelines.Change, error) {
		return p.site.store.ExcludeReader(ctx, p.account.ID, slug, name)
	})
}
