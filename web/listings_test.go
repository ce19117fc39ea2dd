package web_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"riverrun/timelines"
	"riverrun/timelines/listings"
	"riverrun/web/webtest"
)

// market makes ann's group flea, which takes listings.
func market(s *webtest.Site, ann *webtest.Person, level string) {
	v := ann.Visitor()
	v.Post("/groups", "name", "flea", "title", "Flea Market", "access", level).LeadsTo("/flea")
	v.Post("/settings/listings", "group", "flea", "currency", "EUR").LeadsTo("/flea/manage?saved")
}

// G22: a listing is written, edited, renewed and closed with forms alone, and filtered by state and
// price. Wrong input says which field, and keeps what was typed.
func TestListings(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	ann, bob := s.Person("ann"), s.Person("bob")
	market(s, ann, "public")
	a, b := ann.Visitor(), bob.Visitor()
	a.Get("/flea").Has("Offer something", "For sale")
	a.Get("/posts/new?listing=1&to=flea").Has("Sell or give away", `name="price"`, "EUR")
	a.Get("/posts/new?listing=1&to=ann").Wants(404)
	until := time.Now().AddDate(0, 0, 10).UTC().Format(time.DateOnly)
	form := func(body, price string) []string {
		return []string{"key", body, "body", body, "to", "flea", "listing", "1", "price", price, "currency", "EUR", "condition", "good", "place", "Old Town", "until", until}
	}
	a.Post("/posts", form("a lamp", "ten")...).Wants(422).Has("Write the price as a number", "Old Town", "a lamp", `value="ten"`)
	a.Post("/posts", form("a lamp", "10")...).Wants(303)
	code := a.Get("/flea").Code()
	a.Post("/posts", form("a bed", "150,5")...).Wants(303)
	a.Post("/posts", "key", "x", "body", "a cup", "to", "ann", "listing", "1", "currency", "EUR").Wants(422).Has("None of these groups takes listings")
	b.Get("/flea").Has("a lamp", "€10", "€150.50", "Good as new", "Old Town").Lacks("Close or renew")
	b.Get("/flea?state=active&to=100").Has("a lamp").Lacks("a bed")
	b.Get("/flea?state=active&from=100").Has("a bed").Lacks("a lamp")
	b.Get("/flea?state=closed").Lacks("a bed", "a lamp").Has("No such listings")
	b.Get("/flea?state=active&from=cheap").Wants(400).Has("Write the price as a number", `value="cheap"`)
	b.Get("/flea?state=lost").Wants(400).Has("Choose which listings")
	b.Get("/search?q=is:active+price:..20").Has("a lamp").Lacks("a bed")

	a.Get("/p/" + code).Has("Close or renew")
	a.Get("/p/"+code+"/edit").Has(`value="10"`, until)
	b.Get("/p/" + code + "/listing").Wants(403)
	b.Post("/p/"+code+"/close", "how", "sold").Wants(403)
	b.Post("/p/" + code + "/renew").Wants(403)
	a.Post("/p/"+code+"/edit", "body", "a lamp", "listing", "1", "price", "-1", "currency", "EUR", "until", until).Wants(422).Has("Write the price as a number")
	a.Post("/p/"+code+"/edit", "body", "a lamp", "listing", "1", "price", "12", "currency", "EUR", "until", until).Wants(303)
	b.Get("/p/" + code).Has("€12")
	a.Get("/p/"+code+"/listing").Has("Close the listing", `/renew"`)
	a.Post("/p/" + code + "/renew").Wants(303)
	a.Get("/p/" + code + "/listing").Has("Close the listing").Lacks(`/renew"`) // it would be no longer
	a.Post("/p/"+code+"/close", "how", "lost").Wants(422).Has("Say whether it was sold")
	a.Post("/p/"+code+"/close", "how", "sold", "sold", "x").Wants(422).Has("Write the price")
	a.Post("/p/" + code + "/renew").Wants(303)
	a.Post("/p/"+code+"/close", "how", "sold", "sold", "9").Wants(303)
	a.Post("/p/"+code+"/close", "how", "given").Wants(303)
	a.Post("/p/" + code + "/renew").Wants(422)
	b.Get("/p/"+code).Has("Sold", "€9").Lacks("Close or renew")
	b.Get("/flea?state=closed").Has("a lamp")
	b.Get("/flea?state=active").Has("a bed").Lacks("a lamp")
}

// A listing of a private group shows nothing to strangers, neither on the group's page nor in a search.
func TestListingsOfAPrivateGroup(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	ann, bob := s.Person("ann"), s.Person("bob")
	market(s, ann, "private")
	ann.Visitor().Post("/posts", "key", "k", "body", "a secret lamp", "to", "flea", "listing", "1", "currency", "EUR", "price", "10").Wants(303)
	ann.Visitor().Get("/flea?state=active").Wants(200).Has("a secret lamp")
	for _, page := range []string{"/flea", "/flea?state=active", "/flea?state=active&from=1&to=20"} {
		bob.Visitor().Get(page).Wants(403).Lacks("a secret lamp", "€10")
	}
	bob.Visitor().Get("/search?q=is:active").Lacks("a secret lamp", "€10")
	bob.Visitor().Get("/search?q=in:flea+price:10").Lacks("a secret lamp")
}

// G22: an open page hears that a listing expires and that one is closed, and a filter by state lets go of it.
func TestListingsArePushed(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	ann, bob := s.Person("ann"), s.Person("bob")
	market(s, ann, "public")
	all, active := s.Open(bob, "/flea"), s.Open(bob, "/flea?state=active")
	offer := func(body string) timelines.Change {
		c := ann.Act(func(ctx context.Context) (timelines.Change, error) {
			return s.Store.Posts.Create(ctx, timelines.NewPost{
				Author: ann.Account.ID, Body: body, To: []string{"flea"}, Listing: &listings.Fields{Price: "10", Currency: "EUR"},
			})
		})
		all.HearPost(c.Code, "€10")
		active.HearPost(c.Code, "€10")
		return c
	}
	lamp, bed := offer("a lamp"), offer("a bed")
	ann.Act(func(ctx context.Context) (timelines.Change, error) {
		return s.Store.Posts.Close(ctx, ann.Account.ID, lamp.Code, listings.Sale{How: listings.Sold, Price: "9"})
	})
	all.HearPost(lamp.Code, "€9")
	active.UntilGone(lamp.Code)
	if _, err := s.DB.Primary.Exec(t.Context(), `UPDATE listings SET until_at = now() - interval '1 hour' WHERE post_id = $1`, bed.PostID); err != nil {
		t.Fatal(err)
	}
	ann.Act(func(ctx context.Context) (timelines.Change, error) {
		c, _, err := s.Store.Maintenance.ExpireListings(ctx, 10)
		return c, err
	})
	s.HearOf(bed.PostID) // as the bus says it
	all.HearPost(bed.Code, "Expired")
	active.UntilGone(bed.Code)
}

// G3, G22: the draft of a listing keeps its fields, beside the draft of a post in the same group. The form
// and the list of drafts put them back; "Write" has another form, although the listing is the current draft.
func TestDraftOfAListing(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	ann := s.Person("ann")
	market(s, ann, "public")
	v := ann.Visitor()
	const form, place = "/posts/new?listing=1&to=flea", "/flea?listing"
	v.Get(form).Has(`name="draft" value="`+place+`"`, `name="back" value="/flea"`)
	v.Post("/posts", "keep", "1", "draft", "/flea", "body", "a plain post", "to", "flea").Wants(303)
	fields := []string{"body", "a lamp", "to", "flea", "listing", "1", "price", "cheap", "currency", "USD", "condition", "good", "place", "Old Town", "until", "2020-01-01"}
	v.Post("/posts", append(fields, "keep", "1", "draft", place)...).LeadsTo("/drafts")
	back := []string{"a lamp", `value="cheap"`, `value="USD" selected`, `value="good" selected`, `value="Old Town"`, `value="2020-01-01"`}
	v.Get("/drafts").Has("Listing in Flea Market", "Post to Flea Market", "a plain post")
	for _, page := range []string{form, "/drafts/edit?place=%2Fflea%3Flisting"} {
		v.Get(page).Has(back...).Lacks("a plain post")
	}
	v.Get("/posts/new?place=%2Fflea").Has("a plain post").Lacks("a lamp", `name="price"`)
	v.Get("/posts/new").Has(`name="draft" value="/"`).Lacks("a lamp", "a plain post", `name="price"`)
	// A price that no form of ours sends is refused, and the draft stays.
	for _, price := range []string{strings.Repeat("9", 200), "\x00"} {
		v.Post("/drafts", "draft", place, "saved", savedAt(v, place), "body", "a lamp", "listing", "1", "price", price).Wants(400)
	}
	v.Get(form).Has(back...)
	v.Post("/posts", "body", "a lamp", "to", "flea", "listing", "1", "currency", "EUR", "draft", place, "saved", savedAt(v, place)).LeadsTo("/")
	v.Get(form).Lacks("a lamp", `value="USD" selected`).Has(`value="EUR" selected`)
	v.Get("/drafts").Lacks("Listing in").Has("a plain post")
}
