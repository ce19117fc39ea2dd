package web_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"riverrun/timelines"
	"riverrun/timelines/admin"
	"riverrun/web/webtest"
)

// R4 of removals: after the answer nobody sees what a moderator removed, on pages or on pages that are
// open, and the moderator need not be among its readers.
func TestModeratorsRemove(t *testing.T) {
	s := webtest.New(t, nil)
	mia, eve, bob := s.Person("mia"), s.Person("eve"), s.Person("bob")
	inCharge(mia, admin.Moderator)
	bob.Subscribe("eve")
	spam, said := eve.Post("buy these watches"), bob.Post("hello")
	note := eve.Comment(said.Code, "and these shoes")
	secret := eve.Post("among us: #pills", "bob")
	m, e, b := mia.Visitor(), eve.Visitor(), bob.Visitor()
	place := "/p/" + said.Code + "/comments/" + strconv.FormatInt(note.CommentID, 10) + "/moderate"

	b.Get("/p/" + spam.Code).Wants(200).Lacks("/moderate")
	m.Get("/p/"+spam.Code).Wants(200).Has("/p/"+spam.Code+"/moderate", ">Moderate<")
	m.Get("/p/" + said.Code).Has(place)
	for _, address := range []string{"/p/" + spam.Code + "/moderate", place} {
		b.Get(address).Wants(404)
		b.Post(address).Wants(404)
		s.Visitor().Get(address).Wants(303)
		m.Get(address).Wants(200).Lacks("shoes")
	}
	// The page shows the text of a post to those who may read it.
	m.Get("/p/"+spam.Code+"/moderate").Has("buy these watches", "@eve")
	m.Get("/p/" + secret.Code + "/moderate").Wants(200).Has("@eve").Lacks("pills")

	open := s.Open(bob, "/")
	if !open.Shows(spam.Code) {
		t.Fatal("the page does not show the post")
	}
	m.Post("/p/"+spam.Code+"/moderate", "why", "advertising").LeadsTo("/")
	for _, v := range []*webtest.Visitor{b, e, m} {
		v.Get("/p/" + spam.Code).Wants(404)
		v.Get("/eve").Lacks("buy these watches")
	}
	b.Get("/").Lacks("buy these watches")
	s.FollowUp()
	open.UntilGone(spam.Code)

	m.Post(place).LeadsTo("/p/" + said.Code)
	b.Get("/p/" + said.Code).Wants(200).Lacks("and these shoes")
	m.Get("/p/" + secret.Code).Wants(404)
	m.Post("/p/" + secret.Code + "/moderate").LeadsTo("/")
	b.Get("/p/" + secret.Code).Wants(404)
	m.Post("/p/" + secret.Code + "/moderate").LeadsTo("/") // again
	m.Post("/p/0000000000/moderate").Wants(404)
	m.Post("/p/" + said.Code + "/comments/x/moderate").Wants(404)
	m.Get("/admin/people/eve").Wants(200).Has("@mia: removed the post "+spam.Code, "advertising",
		fmt.Sprintf("@mia: removed the comment %s#%d", said.Code, note.CommentID))
	if got := strings.Count(m.Get("/admin/people/eve").Body, "removed the post "+secret.Code); got != 1 {
		t.Errorf("a removal that was repeated is recorded %d times, want 1", got)
	}
}

// All that somebody wrote is hidden at once and removed block by block. A process may end between
// any two steps of a block; nothing comes back when the account is seen again.
func TestRemovingAllOfAnAccount(t *testing.T) {
	s := webtest.New(t, nil)
	ctx, staff := t.Context(), admin.Open(s.Store)
	mia, eve, bob := s.Person("mia"), s.Person("eve"), s.Person("bob")
	inCharge(mia, admin.Moderator)
	bob.Subscribe("eve")
	spam, said, other := eve.Post("buy these watches"), bob.Post("hello"), bob.Post("and again")
	eve.Comment(said.Code, "and these shoes, @bob #shoes")
	eve.Comment(other.Code, "more shoes")
	bob.Comment(other.Code, "thank you")
	eve.Like(said.Code)
	m, b := mia.Visitor(), bob.Visitor()
	b.Get("/").Has("buy these watches")
	b.Get("/p/" + said.Code).Has("and these shoes")
	b.Get("/tag/shoes").Has("hello")

	b.Post("/admin/people/eve/remove-posts").Wants(404)
	m.Post("/admin/people/mia/remove-posts").Wants(403)
	m.Get("/admin/people/eve").Wants(200).Has("Posts: 1, comments: 2")
	m.Post("/admin/people/eve/remove-posts").LeadsTo("/admin/people/eve?done=removing")
	m.Get("/admin/people/eve").Has("being removed, 3 left").Lacks("/remove-posts")
	gone := func(when string) {
		t.Helper()
		for _, address := range []string{"/", "/everything", "/p/" + said.Code, "/p/" + other.Code, "/tag/shoes", "/search?q=shoes", "/filter/notifications"} {
			if body := b.Get(address).Body; strings.Contains(body, "buy these watches") || strings.Contains(body, "these shoes") || strings.Contains(body, "more shoes") {
				t.Errorf("%s: %s shows what is removed", when, address)
			}
		}
		b.Get("/p/" + spam.Code).Wants(404)
	}
	gone("at once")

	// Each step ends after its commit, and then before pages follow it.
	died := errors.New("died")
	commits := 0
	dies := func(_ context.Context, _ timelines.Change, err error) (timelines.Change, error) {
		if err != nil {
			return timelines.Change{}, err
		}
		commits++
		return timelines.Change{}, died
	}
	never := func(context.Context, []timelines.Touched) error { return died }
	for range 2 { // the second stops at what the first left
		if _, err := staff.RemovalStep(ctx, eve.Account.ID, dies, never); !errors.Is(err, died) {
			t.Fatalf("step: %v, want that it died", err)
		}
	}
	if commits != 1 {
		t.Fatalf("%d blocks were removed before pages followed the first", commits)
	}
	gone("after a block that pages have not followed")
	steps := 0
	for more := true; more; steps++ {
		var err error
		if more, err = staff.RemovalStep(ctx, eve.Account.ID, s.Tiers.Carry, s.Tiers.Distribute); err != nil {
			t.Fatal(err)
		}
	}
	if steps < 2 {
		t.Errorf("the rest took %d steps, want one for the comments and one that ends it", steps)
	}
	gone("after all")
	b.Get("/eve").Wants(200).Lacks("buy these watches")
	b.Get("/tag/shoes").Lacks("hello")
	b.Get("/p/" + other.Code).Has("thank you")
	m.Get("/admin/people/eve").Has("Posts: 0, comments: 0", "removed all posts and comments of @eve")
	b.Get("/p/" + eve.Post("I am back").Code).Wants(200).Has("I am back")
}

// The job of a removal works all of its blocks.
func TestRemovalIsAJob(t *testing.T) {
	s := webtest.NewLively(t)
	mia, eve, bob := s.Person("mia"), s.Person("eve"), s.Person("bob")
	inCharge(mia, admin.Moderator)
	said := bob.Post("hello")
	for i := range 3 {
		eve.Post(fmt.Sprint("watch ", i))
		eve.Comment(said.Code, fmt.Sprint("shoe ", i, " #shoes @bob"))
	}
	for _, address := range []string{"/eve", "/tag/shoes", "/everything", "/filter/notifications", "/eve/comments"} {
		bob.Visitor().Get(address)
	}
	mia.Visitor().Post("/admin/people/eve/remove-posts").Wants(303)
	staff := admin.Open(s.Store)
	webtest.Await(t, "the end of the removal", func() bool {
		w, err := staff.Wrote(t.Context(), eve.Account.ID)
		return err == nil && w == (admin.Wrote{})
	})
	var differ error
	webtest.Await(t, "all rivers", func() bool {
		report, err := s.Rivers.Check(t.Context())
		differ = fmt.Errorf("%v %w", report.Differences, err)
		return err == nil && len(report.Differences) == 0
	}, func() string { return differ.Error() })
	bob.Visitor().Get("/p/"+said.Code).Wants(200).Lacks("shoe 0", "shoe 1", "shoe 2")
	bob.Visitor().Get("/eve").Wants(200).Lacks("watch 0")
}
