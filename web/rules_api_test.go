package web_test

import (
	"encoding/json"
	"net/http"
	"slices"

	"riverrun/timelines"
	"riverrun/timelines/kinds"
	"riverrun/timelines/tokens"
	"riverrun/web/api"
	"riverrun/web/webtest"
)

// program makes a token of the viewer, with which the browser then calls the API.
func (c *ruleCheck) program() {
	c.t.Helper()
	p := c.s.people[c.v.name]
	token, _, err := tokens.Open(c.s.Store).Create(c.s.ctx(), timelines.Viewer{AccountID: p.Account.ID, Session: webtest.SessionOf(c.t, p.Token)},
		tokens.New{Name: "a program", Scopes: tokens.Scopes, Days: 7})
	if err != nil {
		c.t.Fatal(err)
	}
	c.api = c.s.Visitor()
	c.api.T = c.t
	c.api.Header.Set("Authorization", "Bearer "+token)
}

// asProgram reads a post by the API: it says what the page says, and no more.
func (c *ruleCheck) asProgram(r *ruleRow) {
	c.t.Helper()
	c.checks.Add(1)
	a := c.api.Get("/api/posts/" + r.code)
	if !c.v.mayRead(r) {
		if a.Status != http.StatusNotFound {
			c.errorf(a, "status %d, want 404", a.Status)
		}
		c.marks(a, r, "answer", a.Body)
		return
	}
	var post api.Post
	if err := json.Unmarshal([]byte(a.Body), &post); err != nil {
		c.errorf(a, "%v", err)
		return
	}
	want := []string{marker('b', r.n), marker('f', r.n), c.s.titleMark(r.author)}
	if r.edited {
		want = append(want, marker('e', r.n))
	}
	if r.offers() {
		want = append(want, marker('l', r.n))
	}
	likes := 0
	for _, name := range r.likers {
		if c.v.sees(name, r) {
			likes++
			want = append(want, c.s.titleMark(name))
		}
	}
	for i, said := range r.comments {
		if c.v.sees(said.by, r) {
			want = append(want, marker('c', commentMarks*r.n+i), c.s.titleMark(said.by))
		} else if !post.Comments[i].Hidden {
			c.errorf(a, "%s shows its comment %d", r, i)
		}
	}
	c.marks(a, r, "answer", a.Body, want...)
	if post.Likes != likes || post.Commented != len(r.comments) {
		c.errorf(a, "%s has %d likes and %d comments, want %d and %d", r, post.Likes, post.Commented, likes, len(r.comments))
	}
	known := c.v.knows(r)
	for _, to := range post.To {
		if !slices.ContainsFunc(known, func(p rulePlace) bool {
			return to == p.owner || to == p.owner+"/"+p.slug || p.kind == kinds.Eyes && to == timelines.ToEyes || p.kind == kinds.Directs
		}) {
			c.errorf(a, "%s is said to stand in %s", r, to)
		}
	}
}
