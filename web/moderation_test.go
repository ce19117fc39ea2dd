package web_test

import (
	"strings"
	"testing"

	"riverrun/timelines/admin"
	"riverrun/timelines/tokens"
	"riverrun/web/api"
	"riverrun/web/webtest"
)

// G12: a program's block takes a post from all pages at once, its author reads why and appeals, and a moderator allows it.
func TestAProgramBlocksAPost(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	mia, ann, bob := s.Person("mia"), s.Person("ann"), s.Person("bob")
	bob.Follow(ann)
	scanner, reader := programOf(t, mia, tokens.Moderation), programOf(t, bob, tokens.Read, tokens.Changes)
	ofAnn := programOf(t, ann, tokens.Read, tokens.Moderation)
	open, own := s.Open(bob, "/"), s.Open(ann, "/ann")
	p := ann.Post("buy <b>pills</b> #pills")
	bob.Comment(p.Code, "no")
	open.UntilEntry(p.Code)
	var lines []api.Line
	s.RelayChanges()
	reader.wants(200, "GET", "/api/changes?limit=500", "", &lines)
	last := lines[len(lines)-1].Seq

	say := func(no, decision, reason string) string {
		return `{"post":"` + p.Code + `","origin":"scan","opinion_id":"o` + no + `","no":` + no + `,"decision":"` + decision + `","reason":"` + reason + `"}`
	}
	const address = "/api/moderation/opinions"
	var is api.Problem
	if scanner.wants(403, "POST", address, say("1", "block", "spam"), &is); is.Code != "forbidden" {
		t.Errorf("somebody who is no moderator: %+v", is)
	}
	inCharge(mia, admin.Moderator)
	ofAnn.wants(403, "POST", address, say("1", "allow", ""), nil)
	if scanner.wants(422, "POST", address, say("1", "block", ""), &is); is.Code != "text_empty" || is.Errors[0].Field != "reason" {
		t.Errorf("a block without a reason: %+v", is)
	}
	scanner.wants(404, "POST", address, strings.Replace(say("1", "block", "spam"), p.Code, "0000000000", 1), nil)

	var given struct{ Counts, Blocked bool }
	scanner.wants(200, "POST", address, say("2", "block", "It sells pills."), &given)
	if !given.Counts || !given.Blocked {
		t.Errorf("the answer to a block is %+v", given)
	}
	// No page has it from here on, also before any job has run.
	a, b, m := ann.Visitor(), bob.Visitor(), mia.Visitor()
	for _, page := range []string{"/", "/ann", "/everything", "/hashtag/pills", "/search?q=pills", "/p/" + p.Code, "/filter/discussions", "/ann.atom"} {
		b.Get(page).Lacks("buy", p.Code)
	}
	for _, page := range []string{"/", "/ann", "/everything", "/filter/discussions", "/filter/direct"} {
		a.Get(page).Lacks("buy", p.Code)
	}
	reader.wants(404, "GET", "/api/posts/"+p.Code, "", nil)
	s.FollowUp()
	open.UntilGone(p.Code)
	own.UntilGone(p.Code)
	s.RelayChanges()
	lines = nil
	reader.wants(200, "GET", "/api/changes?limit=500&after="+last, "", &lines)
	gone := 0
	for _, l := range lines {
		if l.Code == p.Code && l.Kind == "gone" {
			gone++
		} else if l.Code == p.Code {
			t.Errorf("a reader of changes gets %+v", l)
		}
	}
	if gone == 0 {
		t.Error("a reader of changes is not told that the post is gone")
	}

	// Its author reads why, and appeals.
	a.Get("/p/"+p.Code).Wants(200).Has("Only you see it", "It sells pills.", "/p/"+p.Code+"/appeal")
	a.Get("/filter/mine?show=blocked").Has(p.Code)
	var read api.Post
	if ofAnn.wants(200, "GET", "/api/posts/"+p.Code, "", &read); read.Held != "blocked" {
		t.Errorf("its author's program reads %+v", read)
	}
	place := "/p/" + p.Code + "/appeal"
	b.Get(place).Wants(404)
	b.Post(place, "text", "me too").Wants(404)
	a.Get(place).Wants(200).Has("It sells pills.")
	a.Post(place, "text", " ").Wants(422).Has("Write something")
	a.Post(place, "text", "They are vitamins.").LeadsTo("/settings/reports?sent")
	a.Post(place, "text", "Really.").Wants(422)
	a.Get("/p/" + p.Code).Has("Your appeal waits").Lacks(place)
	a.Get("/settings/reports").Has("about a blocked post", "They are vitamins.")
	found := reportLink.FindStringSubmatch(m.Get("/admin/reports").Has("about a blocked post").Body)
	m.Get(found[0]).Has("They are vitamins.", "buy &lt;b&gt;pills", "/p/"+p.Code+"/moderate")

	// A moderator decides, by the same rows.
	moderate := "/p/" + p.Code + "/moderate"
	b.Get(moderate).Wants(404)
	b.Post("/p/"+p.Code+"/opinion", "decision", "allow").Wants(404)
	m.Get(moderate).Wants(200).Has("It sells pills.", "scan", "is blocked", "buy &lt;b&gt;pills").Lacks("vitamins")
	m.Post(found[0]+"/done", "outcome", "restored").Wants(422).Has("Allow it first")
	m.Post("/p/"+p.Code+"/opinion", "decision", "block").Wants(422).Has("Write something")
	m.Post("/p/"+p.Code+"/opinion", "decision", "shout", "reason", "x").Wants(422)
	m.Post("/p/"+p.Code+"/opinion", "decision", "allow", "reason", "vitamins").LeadsTo(moderate + "?done=decided")
	m.Get(moderate).Has("@mia", "does not count any more").Lacks("is blocked")
	m.Post(found[0]+"/done", "outcome", "restored", "answer", "Sorry.").Wants(303)
	s.FollowUp()
	open.UntilEntry(p.Code)
	b.Get("/p/" + p.Code).Wants(200).Has("no")
	a.Get("/p/" + p.Code).Lacks("Only you see it")

	// The program sends its opinion again, which changes nothing, and one that comes late does not count.
	scanner.wants(200, "POST", address, say("2", "block", "It sells pills."), &given)
	if given.Counts || given.Blocked {
		t.Errorf("the answer to the same block is %+v", given)
	}
	scanner.wants(200, "POST", address, say("1", "block", "late"), &given)
	if given.Counts || given.Blocked {
		t.Errorf("the answer to a late block is %+v", given)
	}
	if scanner.wants(422, "POST", address, say("2", "allow", ""), &is); is.Code != "opinion_used" {
		t.Errorf("another opinion with the same id: %+v", is)
	}
	b.Get("/p/" + p.Code).Wants(200)
}
