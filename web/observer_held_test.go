package web_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"riverrun/timelines/tokens"
)

// This file observes what is held: posts that moderators and their programs block, and posts that wait for a group.

// hold is a change of where a post stands that somebody else than its author makes; held says that from then on only the author has it.
func (s *scene) hold(p *writing, held bool, places []string, do func(...settle)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if held {
		places = []string{eyesOf + p.author}
	}
	s.facts.mu.Lock()
	was := p.places.last()
	moved := begin(s.facts, &p.places, strings.Join(places, ","))
	s.facts.mu.Unlock()
	do(moved, s.facts.set(setting{warned, p.author, "", held}))
	s.heat(append(strings.Split(was, ","), "p/"+p.code)...)
}

// block: moderators and a program block a post before all, and allow it again, while its author and others go on.
func (s *scene) block() {
	places := strings.Split(s.post.places.last(), ",")
	opinion := "/p/" + s.post.code + "/opinion"
	s.must("like", s.friend.likeIt(s.post))
	// Notifications name it to its author, muted or not.
	muted := s.author.rng.IntN(2) == 0
	s.must("mute", s.author.mark(s.post, map[bool]string{true: "mute", false: "unmute"}[muted], setting{mutes, s.author.name, s.post.id, muted}))
	c := s.comment(s.friend)
	s.watch(s.stranger.resident, "/"+onStage, "/everything", s.page())
	s.watch(s.friend.resident, "/"+s.friend.name+"/likes", "/")
	s.watch(s.author.resident, "/"+s.author.name)
	s.watch(nil, "/everything")
	looks := func() {
		s.everywhere(s.author.name, s.post)
		s.look(s.author.resident, s.page(), "/", "/filter/discussions", "/filter/mine?show=blocked", "/filter/notifications")
		for _, who := range []*resident{s.stranger.resident, s.friend.resident, nil} {
			s.callAs(who, s.page())
		}
	}
	byStaff := func(decision string) func(...settle) {
		return func(moved ...settle) {
			s.byOffice(opinion, url.Values{"decision": {decision}, "reason": {"a play"}}, moved...)
		}
	}
	byProgram := func(decision string) func(...settle) {
		return func(moved ...settle) { s.giveOpinion(decision, moved...) }
	}
	s.hold(s.post, true, nil, byProgram("block"))
	for i, n := range s.nodes {
		n.Visitor().Get(s.page()).Wants(http.StatusNotFound)
		s.author.visitors[i].Get(s.page()).Wants(http.StatusOK)
	}
	looks()
	s.must("edit", s.author.rewrite(s.post, s.page()+"/edit", false))
	if c != nil && c.number != 0 {
		_, _, ok := s.friend.send(commentAddress(c, "like"), nil, "", s.facts.set())
		if ok {
			s.t.Errorf("%s: somebody liked a comment of a blocked post", s.play.name)
		}
	}
	s.hold(s.post, true, nil, byStaff("block")) // nothing new to anybody
	s.hold(s.post, false, places, byStaff("allow"))
	looks()
	s.hold(s.post, true, nil, byProgram("block"))
	looks()
	s.hold(s.post, false, places, byProgram("allow"))
	s.comment(s.author)
	looks()
}

// giveOpinion has a program of the administrator's say what is to become of the play's post.
func (s *scene) giveOpinion(decision string, settles ...settle) {
	s.t.Helper()
	if s.moderator == "" {
		var err error
		s.moderator, _, err = tokens.Open(s.observed.nodes[0].Store).Create(s.t.Context(), s.viewerOf(s.office), tokens.New{Name: "scanner", Days: 7, Scopes: []tokens.Scope{tokens.Moderation}})
		if err != nil {
			s.t.Error(err)
			return
		}
	}
	no := s.opined.Add(1)
	body := fmt.Sprintf(`{"post":%q,"origin":"scan","opinion_id":"o%d","no":%d,"decision":%q,"reason":"a play"}`, s.post.code, no, no, decision)
	v := s.office.visitors[slices.Index(s.observed.nodes, s.author.on[0])]
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, v.Base+"/api/moderation/opinions", strings.NewReader(body))
	if err != nil {
		s.t.Error(err)
		return
	}
	r.Header = http.Header{"Authorization": {"Bearer " + s.moderator}, "Content-Type": {"application/json"}}
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Error(err)
		return
	}
	a.Body.Close()
	for _, done := range settles {
		done(a.StatusCode == http.StatusOK)
	}
	if !s.lively {
		s.observed.ask()
	}
	s.must("give an opinion", a.StatusCode == http.StatusOK)
}
