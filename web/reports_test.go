package web_test

import (
	"context"
	"errors"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"riverrun/timelines"
	"riverrun/timelines/admin"
	"riverrun/timelines/reports"
	"riverrun/web/webtest"
)

var reportLink = regexp.MustCompile(`/admin/reports/([0-9a-hjkmnp-tv-z]{10})`)

// A report goes from its form to the staff, who read what was said though they are no readers of it,
// and back to its reporter with an answer.
func TestReporting(t *testing.T) {
	s := webtest.New(t, nil)
	mia, eve, bob, cat := s.Person("mia"), s.Person("eve"), s.Person("bob"), s.Person("cat")
	inCharge(mia, admin.Moderator)
	secret := eve.Post("pills <b> for you", "bob")
	m, e, b, c := mia.Visitor(), eve.Visitor(), bob.Visitor(), cat.Visitor()
	place := "/p/" + secret.Code + "/report"

	c.Get(place).Wants(404)
	c.Post(place, "reason", "spam").Wants(404)
	s.Visitor().Get(place).Wants(303)
	b.Get("/p/" + secret.Code).Has(place)
	e.Get("/p/" + secret.Code).Lacks(place)
	e.Post(place, "reason", "spam").Wants(422).Has("This is your own")
	b.Get(place).Wants(200).Has("pills &lt;b&gt; for you", "@eve", "Spam")
	b.Post(place, "text", "look at it").Wants(422).Has("Choose what is wrong", "look at it")
	b.Post(place, "reason", "spam", "text", strings.Repeat("x", 2001)).Wants(422).Has("The limit is 2")
	b.Post(place, "reason", "spam", "text", "a\x00b").Wants(422)
	b.Post(place, "reason", "spam", "text", "look at <it>").LeadsTo("/settings/reports?sent")
	b.Post(place, "reason", "abuse").Wants(422).Has("You have reported this already")
	b.Get("/settings/reports?sent").Wants(200).Has("Thank you", "A post by @eve", "look at &lt;it&gt;", "waits")
	eve.Edit(secret.Code, "nothing at all")

	for _, address := range []string{"/admin/reports", "/admin/reports?which=done"} {
		b.Get(address).Wants(404)
		m.Get(address).Wants(200)
	}
	m.Get("/admin").Has("1 waiting")
	found := reportLink.FindStringSubmatch(m.Get("/admin/reports").Body)
	if found == nil {
		t.Fatal("the queue does not have the report")
	}
	page := found[0]
	for _, act := range []string{"", "/take", "/note", "/done", "/remove"} {
		if act != "" {
			b.Post(page+act, "note", "x", "outcome", "nothing").Wants(404)
		} else {
			b.Get(page).Wants(404)
		}
	}
	m.Get(page).Wants(200).Has("pills &lt;b&gt; for you", "look at &lt;it&gt;", "@bob", "/admin/people/eve?reason=Spam").Lacks("nothing at all")
	m.Get("/p/" + secret.Code).Wants(404)
	m.Get("/admin/people/eve?reason=Spam+or+advertising").Has(">Spam or advertising</textarea>")
	m.Get("/admin/reports/0000000000").Wants(404)

	c.Post("/people/eve/report", "reason", "abuse").LeadsTo("/settings/reports?sent")
	m.Post(page + "/take").LeadsTo(page + "?done=taken")
	m.Post(page+"/note", "note", "").Wants(422).Has("Write something")
	m.Post(page+"/note", "note", "a bot?").LeadsTo(page + "?done=noted")
	m.Get(page).Has("Taken by @mia", "a bot?", "Other reports about @eve")
	m.Post(page + "/remove").LeadsTo(page + "?done=removed")
	b.Get("/p/" + secret.Code).Wants(404)
	m.Get(page).Has("removed since", "pills &lt;b&gt; for you")
	m.Post(page+"/done", "answer", "thanks").Wants(422).Has("Choose what came of it", ">thanks</textarea>")
	b.Get("/filter/notifications").Lacks("is answered")
	m.Post(page+"/done", "outcome", "removed", "answer", "Thank you, gone.").LeadsTo(page + "?done=ended")
	m.Post(page+"/done", "outcome", "removed").Wants(422).Has("done already")
	m.Get("/admin").Has("1 waiting")

	b.Get("/filter/notifications").Has("A report of yours is answered", `href="/settings/reports"`)
	c.Get("/filter/notifications").Lacks("is answered")
	b.Get("/settings/reports").Has("It was removed.", "Thank you, gone.")
	b.Get("/filter/notifications").Lacks("is answered")
	m.Get("/admin/people/eve").Has("@mia: took the report", "note about the report", "done with the report")
	bob.Act(func(ctx context.Context) (timelines.Change, error) {
		return s.Store.Accounts.SetProfile(ctx, bob.Account.ID, "bob", "", "ru")
	})
	b.Get("/settings/reports").Has("Ваши жалобы", "Удалено.")
}

// Comments are reported as posts are, and there is a limit to the reports of a person a day.
func TestReportsOfOnePerson(t *testing.T) {
	s := webtest.New(t, nil)
	eve, bob := s.Person("eve"), s.Person("bob")
	said := bob.Post("hello")
	var places []string
	for range reports.MostADay {
		c := eve.Comment(said.Code, "shoes")
		places = append(places, "/p/"+said.Code+"/comments/"+strconv.FormatInt(c.CommentID, 10)+"/report")
	}
	b := bob.Visitor()
	b.Get("/p/" + said.Code).Has(places[0])
	b.Get(places[0]).Wants(200).Has("Report a comment", "shoes")
	b.Get("/p/" + said.Code + "/comments/7000/report").Wants(404)
	b.Get("/p/" + said.Code + "/comments/x/report").Wants(404)
	b.Get("/people/nobody-here/report").Wants(404)
	for _, place := range places {
		b.Post(place, "reason", "spam").Wants(303)
	}
	b.Post("/people/eve/report", "reason", "spam").Wants(422).Has("20 reports a day")
}

// Somebody who is suspended may appeal, once while it waits.
func TestAppeals(t *testing.T) {
	s := webtest.New(t, nil)
	mia, eve := s.Person("mia"), s.Person("eve")
	inCharge(mia, admin.Moderator)
	all := reports.Open(s.Store)
	link := func() string {
		t.Helper()
		token, err := all.AppealLink(t.Context(), eve.Account.ID)
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
	if _, err := all.Appeal(t.Context(), link(), "why?"); !errors.Is(err, timelines.ErrNotFound) {
		t.Errorf("an appeal of somebody who is not suspended: %v", err)
	}
	m := mia.Visitor()
	m.Post("/admin/people/eve/suspend", "reason", "spam", "days", "7", "hide", "1").Wants(303)
	code, err := all.Appeal(t.Context(), link(), "It was not me.")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := all.Appeal(t.Context(), link(), "Really."); err == nil || !strings.Contains(err.Error(), "appeal_again") {
		t.Errorf("a second appeal: %v", err)
	}
	m.Get("/admin/reports/"+code).Wants(200).Has("An appeal of @eve", "It was not me.")
	signIn := func() *webtest.Answer {
		t.Helper()
		return s.Visitor().Post("/login", "username", "eve", "password", webtest.Password).Wants(403)
	}
	signIn().Has("Your message waits for an answer since", "spam").Lacks("Your message was read", "/login/appeal")
	m.Post("/admin/reports/"+code+"/done", "outcome", "nothing", "answer", "It <was> you.").Wants(303)
	form := keepLink.FindStringSubmatch(signIn().Has("Your message was read", "It &lt;was&gt; you.", "/login/appeal").Body)
	if form == nil {
		t.Fatal("no form for another one")
	}
	v := s.Visitor()
	v.Post("/login/appeal", "link", form[1], "text", strings.Repeat("x", 2001)).Wants(422).
		Has("suspended until", "spam", "It &lt;was&gt; you.", "xxx", "/login/appeal", form[1])
	v.Post("/login/appeal", "link", form[1], "text", "Once more.").Wants(200).Has("spam", "Your message is with").Lacks("/login/appeal")
	v.Post("/login/appeal", "link", form[1], "text", "Once more.").Wants(404)
	signIn().Has("Your message waits").Lacks("/login/appeal")
	again, err := all.LatestAppeal(t.Context(), eve.Account.ID)
	if err != nil {
		t.Fatal(err)
	}
	m.Post("/admin/reports/"+again.Code+"/done", "outcome", "nothing").Wants(303)
	// The answer about an earlier suspension is over.
	m.Post("/admin/people/eve/restore").Wants(303)
	m.Post("/admin/people/eve/suspend", "reason", "spam", "days", "7").Wants(303)
	signIn().Lacks("Your message was read")
}

// Only administrators answer reports about the staff.
func TestReportsAboutTheStaff(t *testing.T) {
	s := webtest.New(t, nil)
	mia, max, ada, bob := s.Person("mia"), s.Person("max"), s.Person("ada"), s.Person("bob")
	inCharge(mia, admin.Moderator)
	inCharge(max, admin.Moderator)
	inCharge(ada, admin.Administrator)
	code, err := reports.Open(s.Store).File(t.Context(), bob.Account.ID, reports.Thing{Name: "max"}, "abuse", "")
	if err != nil {
		t.Fatal(err)
	}
	place := "/admin/reports/" + code
	mia.Visitor().Post(place+"/done", "outcome", "nothing").Wants(403)
	max.Visitor().Post(place+"/done", "outcome", "nothing").Wants(403)
	ada.Visitor().Post(place+"/done", "outcome", "nothing").Wants(303)
}

// Somebody whom the staff delete appeals as long as there is something to keep, and so does somebody who
// is leaving and is suspended.
func TestAppealsOfThoseWhoLeave(t *testing.T) {
	s := webtest.New(t, nil)
	ada, mia, eve, bob := s.Person("ada"), s.Person("mia"), s.Person("eve"), s.Person("bob")
	inCharge(ada, admin.Administrator)
	inCharge(mia, admin.Moderator)
	a, m, b := ada.Visitor(), mia.Visitor(), bob.Visitor()
	signIn := func(name string) *webtest.Answer {
		t.Helper()
		return s.Visitor().Post("/login", "username", name, "password", webtest.Password).Wants(403)
	}
	link := regexp.MustCompile(`(?s)/login/appeal.*?name="link" value="([^"]+)"`)
	appeals := func(who *webtest.Person, text string) {
		t.Helper()
		page := signIn(who.Account.Name)
		found := link.FindStringSubmatch(page.Body)
		if found == nil {
			t.Fatalf("no form of an appeal:\n%s", page.Body)
		}
		s.Visitor().Post("/login/appeal", "link", found[1], "text", "").Wants(422).Has("is being deleted", found[1])
		s.Visitor().Post("/login/appeal", "link", found[1], "text", text).Wants(200).Has("is being deleted", "Your message is with")
		signIn(who.Account.Name).Has("Your message waits").Lacks("/login/appeal")
		is, err := reports.Open(s.Store).LatestAppeal(t.Context(), who.Account.ID)
		if err != nil {
			t.Fatal(err)
		}
		m.Get("/admin/reports").Wants(200).Has(is.Code)
		m.Get("/admin/reports/"+is.Code).Wants(200).Has("An appeal of @"+who.Account.Name, text)
		m.Post("/admin/reports/"+is.Code+"/done", "outcome", "nothing", "answer", "No, "+text).Wants(303)
		signIn(who.Account.Name).Has("the decision stays", "No, "+text, "/login/appeal")
	}
	a.Post("/admin/people/eve/delete", "leave_reason", "spam").Wants(303)
	appeals(eve, "It was not me.")

	b.Post("/settings/delete", "present", webtest.Password).Wants(303)
	signIn("bob").Has("/login/keep").Lacks("/login/appeal")
	m.Post("/admin/people/bob/suspend", "reason", "spam", "days", "7").Wants(303)
	signIn("bob").Has("/login/keep")
	appeals(bob, "Let me in.")

	// Nothing is left to keep.
	if _, err := s.DB.Primary.Exec(t.Context(), `UPDATE leaving SET begun = true`); err != nil {
		t.Fatal(err)
	}
	signIn("eve").Lacks("/login/appeal")
	token, err := reports.Open(s.Store).AppealLink(t.Context(), eve.Account.ID)
	if err != nil {
		t.Fatal(err)
	}
	s.Visitor().Post("/login/appeal", "link", token, "text", "Please.").Wants(404)
}
