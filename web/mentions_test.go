package web_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/web/view"
	"riverrun/web/webtest"
)

// A comment that mentions somebody is shown to them on their page of mentions, on load and
// in pushes, though the comments around it are folded away; and to nobody else.
func TestFoldedMentionIsShown(t *testing.T) {
	s := webtest.New(t, nil)
	anna, bob, carol, dave := s.Person("anna"), s.Person("bob"), s.Person("carol"), s.Person("dave")
	bob.Subscribe("anna")
	code := anna.Post("A long talk").Code
	say := func(p *webtest.Person, text string) int64 { return p.Comment(code, text).CommentID }
	say(anna, "the first")
	say(anna, "the second")
	first := say(carol, "what do you think, @bob?")
	say(anna, "the fourth")
	for i := range 4 {
		say(anna, fmt.Sprintf("one more %d", i))
	}
	s.FollowUp()
	b := bob.Visitor()
	const page = "/filter/mentions"
	at := func(text string) int { return strings.Index(b.Get(page).Body, text) }
	b.Get(page).Wants(200).Has("the first", "what do you think", "1 more comment<", "3 more comments<", "one more 3").Lacks("the second", "the fourth")
	if !(at("the first") < at("1 more") && at("1 more") < at("what do you") && at("what do you") < at("3 more")) {
		t.Error("the mention does not stand in its place among the comments")
	}
	for _, elsewhere := range []string{"/", "/everything", "/anna"} {
		b.Get(elsewhere).Wants(200).Has("A long talk", "5 more comments<").Lacks("what do you think")
	}
	// The comments around it unfold by themselves.
	links := regexp.MustCompile(`data-unfold="([^"]+)"`).FindAllStringSubmatch(b.Get(page).Body, -1)
	if len(links) != 2 {
		t.Fatalf("%d places to unfold, want 2", len(links))
	}
	reader := bob.Visitor()
	reader.Header.Set("X-River-Page", page)
	reader.Get(links[0][1]).Wants(200).Has("the second").Lacks("the first", "what do you think", "the fourth")
	reader.Get(links[1][1]).Wants(200).Has("the fourth", "one more 1").Lacks("the second", "what do you think", "one more 2")

	g := s.Open(bob, page)
	second := say(dave, "and again, @bob, "+strings.Repeat("at length ", 200)+"to the end")
	for i := range 3 {
		say(anna, fmt.Sprintf("and more %d", i))
	}
	s.FollowUp()
	g.Hear("the second mention, whole, when it is folded away", func(f webtest.Frame) bool {
		stamp := strings.Split(f.Version, ".")
		return stamp[0] == stamp[1] && strings.Contains((f.HTML+f.Parts["comments"]), "and again") && strings.Contains((f.HTML+f.Parts["comments"]), "to the end") && strings.Contains((f.HTML+f.Parts["comments"]), "and more 2")
	})
	g.SameAsReload(s, bob, rivers.Name{UserID: bob.Account.ID, Kind: rivers.Mentions, Order: rivers.Fresh})
	b.Get(page).Has("what do you think", "and again").Lacks("and more 0", "the fourth")

	// A ban folds its comment away again, and says nothing of who is behind it.
	bob.Ban("carol")
	g.Hear("the entry without the first mention", func(f webtest.Frame) bool {
		return strings.Contains((f.HTML+f.Parts["comments"]), "and again") && !strings.Contains((f.HTML+f.Parts["comments"]), "what do you think")
	})
	b.Get(page).Has("and again").Lacks("what do you think", view.CommentID(first), "veiled")
	g.SameAsReload(s, bob, rivers.Name{UserID: bob.Account.ID, Kind: rivers.Mentions, Order: rivers.Fresh})
	bob.Unban("carol")
	s.FollowUp()
	g.Hear("the first mention again", func(f webtest.Frame) bool {
		return strings.Contains((f.HTML + f.Parts["comments"]), "what do you think")
	})

	// One that names bob no more is folded away; of many the newest are shown.
	dave.Act(func(ctx context.Context) (timelines.Change, error) {
		return s.Store.Comments.Edit(ctx, dave.Account.ID, code, second, "never mind")
	})
	b.Get(page).Has("what do you think").Lacks("never mind", "and again")
	for i := range 7 {
		say(carol, fmt.Sprintf("@bob, call %d", i))
	}
	for range 3 {
		say(anna, "the rest")
	}
	b.Get(page).Has("call 2", "call 6").Lacks("what do you think", "call 1")
}
