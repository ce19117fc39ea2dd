package web_test

import (
	"context"
	"encoding/xml"
	"strings"
	"testing"
	"time"

	"riverrun/timelines"
	"riverrun/timelines/listings"
	"riverrun/web/view"
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
	a.Get("/posts/new?listing=1&to=flea").Has("Sell or give away", `name="price"`, "EUR", "The day ends at midnight UTC.", `aria-describedby="listing-until-hint"`)
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
	b.Get("/flea?state=active&to=100&currency=EUR").Has("a lamp").Lacks("a bed")
	b.Get("/flea?state=active&from=100&currency=EUR").Has("a bed").Lacks("a lamp")
	b.Get("/flea?state=closed").Lacks("a bed", "a lamp").Has("No such listings")
	b.Get("/flea?state=active&from=cheap&currency=EUR").Wants(400).Has("Write the price as a number", `value="cheap"`)
	b.Get("/flea?state=lost").Wants(400).Has("Choose which listings")
	b.Get("/search?q=is:active+price:..20eur").Has("a lamp").Lacks("a bed")

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
	for _, page := range []string{"/flea", "/flea?state=active", "/flea?state=active&from=1&to=20&currency=EUR"} {
		bob.Visitor().Get(page).Wants(403).Lacks("a secret lamp", "€10")
	}
	bob.Visitor().Get("/search?q=is:active").Lacks("a secret lamp", "€10")
	bob.Visitor().Get("/search?q=in:flea+price:10eur").Lacks("a secret lamp")
}

// G22: the items of a feed file say what the page says of a listing.
func TestListingsInFeedFiles(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	ann := s.Person("ann")
	market(s, ann, "public")
	v, day := ann.Visitor(), time.Now().UTC().AddDate(0, 0, 10)
	v.Post("/posts", "key", "k", "body", "a lamp", "to", "flea", "listing", "1", "price", "12.50", "currency", "EUR", "condition", "good",
		"place", "<b>Old</b> & Town", "until", day.Format(time.DateOnly)).Wants(303)
	code := v.Get("/flea").Code()
	offer := func() string {
		t.Helper()
		var atom view.AtomFeed
		if err := xml.Unmarshal([]byte(s.Visitor().Get("/feeds/flea.atom").Wants(200).Body), &atom); err != nil || len(atom.Entries) != 1 {
			t.Fatalf("%d entries, %v", len(atom.Entries), err)
		}
		_, said, _ := strings.Cut(atom.Entries[0].Content.Text, "a lamp</p>")
		return said
	}
	want := "<p><bdi>€12.50</bdi> · <bdi>Good as new</bdi> · <bdi>&lt;b&gt;Old&lt;/b&gt; &amp; Town</bdi> · until " + day.Format("2\u00a0Jan") + "</p>"
	if got := offer(); got != want {
		t.Errorf("the feed says %q, want %q", got, want)
	}
	s.Visitor().Get("/feeds/flea.json").Wants(200).Has("€12.50", "Good as new")
	v.Post("/p/"+code+"/close", "how", "sold", "sold", "9").Wants(303)
	if got, want := offer(), "<p><bdi>€9</bdi> · <bdi>Sold</bdi> · <bdi>Good as new</bdi> · <bdi>&lt;b&gt;Old&lt;/b&gt; &amp; Town</bdi></p>"; got != want {
		t.Errorf("once it is sold the feed says %q, want %q", got, want)
	}
}

// G22: prices are compared in one currency, which the page says: that of the form, or the group's.
func TestListingsInOneCurrency(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	ann := s.Person("ann")
	market(s, ann, "public")
	v := ann.Visitor()
	for _, x := range [][2]string{{"a lamp", "EUR"}, {"a bed", "RUB"}, {"a cup", "USD"}} {
		v.Post("/posts", "key", x[0], "body", x[0], "to", "flea", "listing", "1", "price", "20", "currency", x[1]).Wants(303)
	}
	v.Get("/flea?state=active").Has("a lamp", "a bed", "a cup", `<option value="EUR" selected`)
	v.Get("/flea?state=active&from=10&to=30&currency=RUB").Has("a bed", `<option value="RUB" selected`).Lacks("a lamp", "a cup")
	v.Get("/flea?state=active&to=30").LeadsTo("/flea?currency=EUR&state=active&to=30")
	v.Get("/flea?state=active&to=30&currency=EUR").Has("a lamp", `<option value="EUR" selected`).Lacks("a bed", "a cup")
	v.Get("/flea?state=active&to=30&currency=QQQ").Wants(400).Has("Choose one of the currencies", `aria-invalid="true"`, `<option value="EUR" selected`)
	v.Get("/flea?state=active&currency=RUB").Has("a lamp", "a bed") // no price, so nothing is compared
	v.Get("/search?q=price:10..30usd").Has("a cup").Lacks("a lamp", "a bed")
	v.Get("/search?q=in:flea+-price:20USD").Has("a lamp", "a bed").Lacks("a cup")
	v.Get("/search?q=price:10..usd+price:..30eur").Has("Nothing").Lacks("a lamp", "a cup")
	v.Get("/search?q=price:10..30").Wants(400).Has("Say in which currency")
	v.Get("/search?q=price:10..30+EUR").Wants(400).Has("Say in which currency")
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

// G3, G22: the draft of a listing without a text is kept too, once its price or its place is typed. The
// other fields are in the form from the start.
func TestDraftOfAListingWithoutAText(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	ann := s.Person("ann")
	market(s, ann, "public")
	v := ann.Visitor()
	const form, place = "/posts/new?listing=1&to=flea", "/flea?listing"
	fields := func(price, at string) []string {
		return []string{"draft", place, "saved", savedAt(v, place), "body", "", "to", "flea", "listing", "1", "price", price, "place", at, "currency", "USD", "condition", "used"}
	}
	v.Post("/drafts", fields(" ", "")...).LeadsTo("/drafts")
	v.Get("/drafts").Lacks("Listing in Flea")
	v.Post("/drafts", fields("12", "")...).LeadsTo("/drafts")
	v.Get("/drafts").Has("Listing in Flea", "<bdi>12 USD</bdi>", `Drafts <span class="count">1</span>`)
	v.Post("/drafts", fields("12", "Old Town")...).LeadsTo("/drafts")
	v.Get("/drafts").Has("<bdi>12 USD · Old Town</bdi>")
	v.Get(form).Has(`value="12"`, `value="Old Town"`, `value="USD" selected`)
	v.Post("/drafts", "draft", "/", "body", "half a thought").LeadsTo("/drafts") // what is empty elsewhere goes now
	v.Post("/drafts", fields("", "Old Town")...).LeadsTo("/drafts")
	v.Get("/drafts").Has("<bdi>Old Town</bdi>", "half a thought")
	v.Post("/drafts", fields("", "")...).LeadsTo("/drafts")
	v.Get("/drafts").Lacks("Listing in Flea")
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

// G3, G22: "Offer something" is for members. It leads through the sign-in page to the form for a listing in its group, and
// changes no draft.
func TestOfferSignedOut(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	ann := s.Person("ann")
	market(s, ann, "public")
	ann.Visitor().Post("/drafts", "draft", "/ann", "body", "of the account").Wants(303)
	const form, login = "/posts/new?listing=1&to=flea", "/login?back=%2Fposts%2Fnew%3Flisting%3D1%26to%3Dflea"
	v := s.Visitor()
	v.Get("/posts/new").Wants(200)
	v.Post("/posts/new", "keep", "1", "draft", "/", "body", "of the visitor").Wants(303)
	v.Get(form).LeadsTo(login)
	v.Get(login).Wants(200).Lacks("Your text is kept") // that form will not have it
	v.Post("/login", "username", "ann", "password", webtest.Password, "back", form).LeadsTo(form)
	v.Get(form).Wants(200).Has(`name="price"`, `value="flea" checked`, `name="draft" value="/flea?listing"`).Lacks("of the visitor")
	v.Get("/drafts").Wants(200).Has("of the account", "of the visitor").Lacks("Put aside")
	v.Get("/posts/new").Wants(200).Has("of the visitor")
}
