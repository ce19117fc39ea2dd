package web

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/web/view"
)

// A comment that mentions somebody is shown to them on their page of mentions, on load and
// in pushes, though the comments around it are folded away; and to nobody else.
func TestFoldedMentionIsShown(t *testing.T) {
	s := newLiveSite(t, nil)
	anna, bob, carol, dave := s.person("anna"), s.person("bob"), s.person("carol"), s.person("dave")
	bob.subscribe("anna")
	code := anna.post("A long talk").Code
	say := func(p *person, text string) int64 { return p.comment(code, text).CommentID }
	say(anna, "the first")
	say(anna, "the second")
	first := say(carol, "what do you think, @bob?")
	say(anna, "the fourth")
	for i := range 4 {
		say(anna, fmt.Sprintf("one more %d", i))
	}
	s.followUp()
	b := bob.visitor()
	const page = "/filter/mentions"
	at := func(text string) int { return strings.Index(b.get(page).body, text) }
	b.get(page).wants(200).has("the first", "what do you think", "1 more comment<", "3 more comments<", "one more 3").lacks("the second", "the fourth")
	if !(at("the first") < at("1 more") && at("1 more") < at("what do you") && at("what do you") < at("3 more")) {
		t.Error("the mention does not stand in its place among the comments")
	}
	for _, elsewhere := range []string{"/", "/everything", "/anna"} {
		b.get(elsewhere).wants(200).has("A long talk", "5 more comments<").lacks("what do you think")
	}
	// What stands around it unfolds by itself.
	links := regexp.MustCompile(`data-unfold="([^"]+)"`).FindAllStringSubmatch(b.get(page).body, -1)
	if len(links) != 2 {
		t.Fatalf("%d places to unfold, want 2", len(links))
	}
	reader := bob.visitor()
	reader.header.Set("X-River-Page", page)
	reader.get(links[0][1]).wants(200).has("the second").lacks("the first", "what do you think", "the fourth")
	reader.get(links[1][1]).wants(200).has("the fourth", "one more 1").lacks("the second", "what do you think", "one more 2")

	g := s.open(bob, page)
	second := say(dave, "and again, @bob, "+strings.Repeat("at length ", 200)+"to the end")
	for i := range 3 {
		say(anna, fmt.Sprintf("and more %d", i))
	}
	s.followUp()
	g.hear("the second mention, whole, when it is folded away", func(f frame) bool {
		stamp := strings.Split(f.Version, ".")
		return stamp[0] == stamp[1] && strings.Contains((f.HTML+f.Parts["comments"]), "and again") && strings.Contains((f.HTML+f.Parts["comments"]), "to the end") && strings.Contains((f.HTML+f.Parts["comments"]), "and more 2")
	})
	g.sameAsReload(s, bob, rivers.Name{UserID: bob.account.ID, Kind: rivers.Mentions, Order: rivers.Fresh})
	b.get(page).has("what do you think", "and again").lacks("and more 0", "the fourth")

	// A ban folds its comment away again, and says nothing of who is behind it.
	bob.ban("carol")
	g.hear("the entry without the first mention", func(f frame) bool {
		return strings.Contains((f.HTML+f.Parts["comments"]), "and again") && !strings.Contains((f.HTML+f.Parts["comments"]), "what do you think")
	})
	b.get(page).has("and again").lacks("what do you think", view.CommentID(first), "veiled")
	g.sameAsReload(s, bob, rivers.Name{UserID: bob.account.ID, Kind: rivers.Mentions, Order: rivers.Fresh})
	bob.unban("carol")
	s.followUp()
	g.hear("the first mention again", func(f frame) bool { return strings.Contains((f.HTML + f.Parts["comments"]), "what do you think") })

	// One that names bob no more is folded away; of many the newest are shown.
	dave.act(func(ctx context.Context) (timelines.Change, error) {
		return s.store.EditComment(ctx, dave.account.ID, code, second, "never mind")
	})
	b.get(page).has("what do you think").lacks("never mind", "and again")
	for i := range 7 {
		say(carol, fmt.Sprintf("@bob, call %d", i))
	}
	for range 3 {
		say(anna, "the rest")
	}
	b.get(page).has("call 2", "call 6").lacks("what do you think", "call 1")
}
