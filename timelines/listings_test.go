package timelines

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/listings"
)

// market makes a group of bob's that takes listings.
func (w *town) market(bob Account) {
	w.Helper()
	w.group(bob, "market", Public)
	_, err := w.Groups.SetListings(w.Context(), bob.ID, "market", "EUR")
	w.must(err)
}

// offer makes a listing in the group.
func (w *town) offer(author Account, body, price string) Change {
	w.Helper()
	c, err := w.Posts.Create(w.Context(), NewPost{
		Author: author.ID, Body: body, To: []string{"market"},
		Listing: &listings.Fields{Price: price, Currency: "EUR", Place: "Berlin", Condition: "good"},
	})
	w.must(err)
	return c
}

func (w *town) listing(c Change) listings.Listing {
	w.Helper()
	l, err := listings.Find(w.Context(), w.pool, c.PostID)
	w.must(err)
	return l
}

// over lets the listing's last day be over.
func (w *town) over(c Change) {
	w.Helper()
	w.exec(`UPDATE listings SET until_at = now() - interval '1 hour' WHERE post_id = $1`, c.PostID)
}

// codes returns the codes of the InvalidErrors in an error.
func codesOf(err error) string {
	var codes []string
	var walk func(error)
	walk = func(err error) {
		if invalid := (*InvalidError)(nil); errors.As(err, &invalid) {
			if joined, ok := err.(interface{ Unwrap() []error }); ok {
				for _, e := range joined.Unwrap() {
					walk(e)
				}
				return
			}
			codes = append(codes, invalid.Field+": "+invalid.Code)
		}
	}
	walk(err)
	return strings.Join(codes, ", ")
}

// G22: a post becomes a listing in a group that takes listings, and nowhere else. With a wrong field
// nothing is written.
func TestAListing(t *testing.T) {
	w := newTown(t)
	ctx := t.Context()
	bob, ann := w.user("bob"), w.user("ann")
	w.market(bob)
	w.group(bob, "club", Public)
	c := w.offer(ann, "a lamp", "12,50")
	l := w.listing(c)
	if l.State != listings.Active || *l.Price != 1250 || l.Currency != "EUR" || l.Place != "Berlin" || l.Condition != "good" {
		t.Errorf("got %+v", l)
	}
	fields := &listings.Fields{Currency: "EUR"}
	for name, tc := range map[string]struct {
		to     []string
		fields *listings.Fields
		want   string
	}{
		"on one's own page":     {nil, fields, "to: listing_place"},
		"in another group":      {[]string{"club"}, fields, "to: listing_place"},
		"with two wrong fields": {[]string{"market"}, &listings.Fields{Price: "x", Currency: "x"}, "price: price_format, currency: currency_unknown"},
	} {
		_, err := w.Posts.Create(ctx, NewPost{Author: ann.ID, Body: "a lamp", To: tc.to, Listing: tc.fields})
		if got := codesOf(err); got != tc.want {
			t.Errorf("%s: got %q, want %q", name, got, tc.want)
		}
	}
	if n := value[int](w, `SELECT count(*) FROM posts`); n != 1 {
		t.Errorf("%d posts, want 1", n)
	}
	w.sound()
}

// G22: its author moves a listing only so that it stands in a group that takes listings. It stays in one
// that takes no more, and when an administrator takes it out.
func TestAListingMoves(t *testing.T) {
	w := newTown(t)
	ctx := t.Context()
	bob, ann := w.user("bob"), w.user("ann")
	w.market(bob)
	w.group(bob, "club", Public)
	c, plain := w.offer(ann, "a lamp", "10"), w.post(ann, "no listing", "market")
	move := func(want, code string, to ...string) {
		t.Helper()
		body := strings.Join(to, " and ")
		_, err := w.Posts.Revise(ctx, ann.ID, code, Revision{Body: &body, To: to})
		if got := codesOf(err); got != want || err != nil && want == "" {
			t.Errorf("to %s: got %q (%v), want %q", body, got, err, want)
		}
	}
	move("to: listing_place", c.Code, "club")
	move("to: listing_place", c.Code, "ann", "club")
	move("to: listing_place", c.Code, ToEyes)
	move("", c.Code, "market", "ann")
	move("", c.Code, "market", "club")
	move("", plain.Code, "club")
	if got := value[string](w, `SELECT body FROM posts WHERE id = $1`, c.PostID); got != "market and club" {
		t.Errorf("the text is %q: a move that is refused changes it", got)
	}
	_, err := w.Groups.SetListings(ctx, bob.ID, "market", "")
	w.must(err)
	move("", c.Code, "market", "club")
	move("to: listing_place", c.Code, "market")
	_, err = w.Posts.RemoveFromGroup(ctx, bob.ID, c.Code, "market")
	w.must(err)
	if l := w.listing(c); l.State != listings.Active {
		t.Errorf("taken out of the group: %+v", l)
	}
	w.sound()
}

// G22: only its author edits, renews and closes a listing.
func TestOnlyItsAuthorChangesAListing(t *testing.T) {
	w := newTown(t)
	ctx := t.Context()
	bob, ann, cat := w.user("bob"), w.user("ann"), w.user("cat")
	w.market(bob)
	c := w.offer(ann, "a lamp", "10")
	plain := w.post(ann, "no listing")
	sold := listings.Sale{How: listings.Sold, Price: "9"}
	for _, other := range []Account{bob, cat} {
		_, err := w.Posts.Close(ctx, other.ID, c.Code, sold)
		w.fails("closed by "+other.Name, err, ErrForbidden)
		_, err = w.Posts.Renew(ctx, other.ID, c.Code)
		w.fails("renewed by "+other.Name, err, ErrForbidden)
		_, err = w.Posts.Revise(ctx, other.ID, c.Code, Revision{Listing: &listings.Fields{Currency: "EUR"}})
		w.fails("edited by "+other.Name, err, ErrForbidden)
	}
	for want, err := range map[string]error{
		"listing: listing_none": second(w.Posts.Close(ctx, ann.ID, plain.Code, sold)),
		"how: how_unknown":      second(w.Posts.Close(ctx, ann.ID, c.Code, listings.Sale{How: "lost"})),
		"sold: price_format":    second(w.Posts.Close(ctx, ann.ID, c.Code, listings.Sale{How: listings.Sold, Price: "x"})),
	} {
		if got := codesOf(err); got != want {
			t.Errorf("got %q (%v), want %q", got, err, want)
		}
	}
	if got := codesOf(second(w.Posts.Renew(ctx, ann.ID, plain.Code))); got != "listing: listing_none" {
		t.Errorf("renewing a post: got %q", got)
	}
	if l := w.listing(c); l.State != listings.Active {
		t.Errorf("got %+v", l)
	}
}

// G22: closing is final. Closing again, in the same or other words, changes nothing, so it counts once.
func TestClosingTwiceCountsOnce(t *testing.T) {
	w := newTown(t)
	ctx := t.Context()
	bob, ann := w.user("bob"), w.user("ann")
	w.market(bob)
	c := w.offer(ann, "a lamp", "10")
	// Two at once: one waits for the other's lock.
	first := during(func() error {
		return second(w.Posts.Close(ctx, ann.ID, c.Code, listings.Sale{How: listings.Sold, Price: "9"}))
	})
	other := during(func() error {
		return second(w.Posts.Close(ctx, ann.ID, c.Code, listings.Sale{How: listings.Sold, Price: "9"}))
	})
	w.must(errors.Join(first(), other()))
	version := value[int64](w, `SELECT version FROM posts WHERE id = $1`, c.PostID)
	if version != 2 {
		t.Errorf("version %d after one closing, want 2", version)
	}
	w.heard.take()
	for _, sale := range []listings.Sale{{How: listings.Sold, Price: "9"}, {How: listings.Given}, {How: listings.Sold, Price: "11"}} {
		_, err := w.Posts.Close(ctx, ann.ID, c.Code, sale)
		w.must(err)
	}
	if heard := w.heard.take(); len(heard) > 0 || value[int64](w, `SELECT version FROM posts WHERE id = $1`, c.PostID) != version {
		t.Errorf("closing again announced %v", heard)
	}
	if l := w.listing(c); l.State != listings.Closed || l.How != listings.Sold || *l.Paid != 900 {
		t.Errorf("got %+v", l)
	}
	for total, want := range map[string]int64{"closed": 1, "earned": 900} {
		if got := value[int64](w, `SELECT sum(value)::bigint FROM author_totals WHERE author_id = $1 AND total = $2`, ann.ID, total); got != want {
			t.Errorf("the total %s is %d, want %d", total, got, want)
		}
	}
	if got := codesOf(second(w.Posts.Renew(ctx, ann.ID, c.Code))); got != "listing: listing_closed" {
		t.Errorf("renewing: got %q", got)
	}
	if got := codesOf(second(w.Posts.Revise(ctx, ann.ID, c.Code, Revision{Listing: &listings.Fields{Currency: "EUR"}}))); got != "listing: listing_closed" {
		t.Errorf("editing: got %q", got)
	}
	w.sound()
}

// G22: a listing whose last day is over expires once, whichever of two nodes finds it; its author
// renews it.
func TestListingsExpire(t *testing.T) {
	w := newTown(t)
	ctx := t.Context()
	bob, ann := w.user("bob"), w.user("ann")
	w.market(bob)
	var due []Change
	for range 5 {
		c := w.offer(ann, "a lamp", "10")
		w.over(c)
		due = append(due, c)
	}
	fresh, closed := w.offer(ann, "a chair", "10"), w.offer(ann, "a bed", "10")
	_, err := w.Posts.Close(ctx, ann.ID, closed.Code, listings.Sale{How: listings.Given})
	w.must(err)
	w.over(closed)
	expire := func() error {
		for {
			if _, more, err := w.Maintenance.ExpireListings(ctx, 2); err != nil || !more {
				return err
			}
		}
	}
	w.heard.take()
	one, other := during(expire), during(expire)
	w.must(errors.Join(one(), other()))
	told := 0
	for _, e := range w.heard.take() {
		if batch, ok := e.(TouchedBatch); ok {
			told += len(batch)
		}
	}
	if told != len(due) {
		t.Errorf("%d posts are announced, want %d", told, len(due))
	}
	for _, c := range due {
		if l := w.listing(c); l.State != listings.Expired {
			t.Errorf("got %+v", l)
		}
		if v := value[int64](w, `SELECT version FROM posts WHERE id = $1`, c.PostID); v != 2 {
			t.Errorf("version %d after it expired once, want 2", v)
		}
	}
	if w.listing(fresh).State != listings.Active || w.listing(closed).State != listings.Closed {
		t.Errorf("got %v and %v", w.listing(fresh).State, w.listing(closed).State)
	}
	place := value[int64](w, `SELECT fresh_at FROM posts WHERE id = $1`, due[0].PostID)
	_, err = w.Posts.Renew(ctx, ann.ID, due[0].Code)
	w.must(err)
	if l := w.listing(due[0]); l.State != listings.Active || l.Until.Before(time.Now().AddDate(0, 0, listings.DefaultDays)) {
		t.Errorf("renewed: got %+v", l)
	}
	if got := value[int64](w, `SELECT fresh_at FROM posts WHERE id = $1`, due[0].PostID); got != place {
		t.Error("renewing lifts the post")
	}
	// An edit that leaves the day lets it stay expired; one with another day makes it active.
	f := w.listing(due[1]).Fields()
	f.Price = "8"
	_, err = w.Posts.Revise(ctx, ann.ID, due[1].Code, Revision{Listing: &f})
	w.must(err)
	if l := w.listing(due[1]); l.State != listings.Expired || *l.Price != 800 {
		t.Errorf("edited: got %+v", l)
	}
	f.Until = listings.FormatDay(time.Now().AddDate(0, 0, 10))
	_, err = w.Posts.Revise(ctx, ann.ID, due[1].Code, Revision{Listing: &f})
	w.must(err)
	if l := w.listing(due[1]); l.State != listings.Active {
		t.Errorf("with another day: got %+v", l)
	}
	w.sound()
}

// G22: renewing never makes a listing end earlier, and is a change of words like others: not for
// somebody who may not post in the group any more.
func TestRenewing(t *testing.T) {
	w := newTown(t)
	ctx := t.Context()
	bob, ann := w.user("bob"), w.user("ann")
	w.market(bob)
	c := w.offer(ann, "a lamp", "10")
	for name, tc := range map[string]struct {
		until time.Time
		stays bool
	}{
		"before": {listings.Renewed(time.Now()).AddDate(0, 0, -1), false},
		"after":  {listings.Renewed(time.Now()).AddDate(0, 0, 1), true},
	} {
		w.exec(`UPDATE listings SET until_at = $1 WHERE post_id = $2`, tc.until, c.PostID)
		_, err := w.Posts.Renew(ctx, ann.ID, c.Code)
		w.must(err)
		want := listings.Renewed(time.Now())
		if tc.stays {
			want = tc.until
		}
		if got := w.listing(c).Until; !got.Equal(want) {
			t.Errorf("renewed a day %s: until %s, want %s", name, got, want)
		}
	}
	w.setWriters(bob, "market", WritersAdmins)
	w.over(c)
	_, err := w.Posts.Renew(ctx, ann.ID, c.Code)
	w.invalid("renewing where one may not post", err, "to_closed")
}

// G22: a listing that its author renewed while the job looked for what is over does not expire.
func TestARenewedListingDoesNotExpire(t *testing.T) {
	w := newTown(t)
	ctx := t.Context()
	bob, ann := w.user("bob"), w.user("ann")
	w.market(bob)
	c := w.offer(ann, "a lamp", "10")
	w.must(w.InTx(ctx, func(tx pgx.Tx) error {
		over, err := listings.ExpireTx(ctx, tx, []int64{c.PostID})
		if len(over) > 0 {
			t.Errorf("expired %v", over)
		}
		return err
	}))
	if l := w.listing(c); l.State != listings.Active {
		t.Errorf("got %+v", l)
	}
}

// G22: what is earned is counted in the currency of each listing.
func TestEarnedByCurrency(t *testing.T) {
	w := newTown(t)
	ctx := t.Context()
	bob, ann := w.user("bob"), w.user("ann")
	w.market(bob)
	for _, currency := range []string{"EUR", "USD"} {
		c, err := w.Posts.Create(ctx, NewPost{
			Author: ann.ID, Body: "a lamp", To: []string{"market"}, Listing: &listings.Fields{Price: "10", Currency: currency},
		})
		w.must(err)
		_, err = w.Posts.Close(ctx, ann.ID, c.Code, listings.Sale{How: listings.Sold, Price: map[string]string{"EUR": "9", "USD": "11"}[currency]})
		w.must(err)
	}
	n, err := w.Publishing.Numbers(ctx, ann.ID)
	w.must(err)
	w.same("earned", n.Earned, map[string]int64{"EUR": 900, "USD": 1100})
}

// A deleted post is no listing any more.
func TestADeletedListing(t *testing.T) {
	w := newTown(t)
	bob, ann := w.user("bob"), w.user("ann")
	w.market(bob)
	c := w.offer(ann, "a lamp", "10")
	_, err := w.Posts.Delete(t.Context(), ann.ID, c.Code)
	w.must(err)
	if n := value[int](w, `SELECT count(*) FROM listings`); n != 0 {
		t.Errorf("%d listings", n)
	}
}

// A group's administrators alone say whether it takes listings.
func TestSetListings(t *testing.T) {
	w := newTown(t)
	ctx := t.Context()
	bob, ann := w.user("bob"), w.user("ann")
	w.market(bob)
	w.fails("by another", second(w.Groups.SetListings(ctx, ann.ID, "market", "USD")), ErrForbidden)
	w.fails("of no group", second(w.Groups.SetListings(ctx, ann.ID, "nothing", "USD")), ErrNotFound)
	w.fails("of a person", second(w.Groups.SetListings(ctx, ann.ID, "ann", "USD")), ErrNotFound)
	if got := codesOf(second(w.Groups.SetListings(ctx, bob.ID, "market", "ABC"))); got != "currency: currency_unknown" {
		t.Errorf("got %q", got)
	}
	_, err := w.Groups.SetListings(ctx, bob.ID, "market", "")
	w.must(err)
	_, err = w.Posts.Create(ctx, NewPost{Author: ann.ID, Body: "a lamp", To: []string{"market"}, Listing: &listings.Fields{Currency: "EUR"}})
	if got := codesOf(err); got != "to: listing_place" {
		t.Errorf("got %q", got)
	}
}

// Listings are found by their state and price, as far as one may read them.
func TestListingsAreFound(t *testing.T) {
	w := newTown(t)
	ctx := t.Context()
	bob, ann, cat := w.user("bob"), w.user("ann"), w.user("cat")
	w.market(bob)
	w.offer(ann, "a lamp", "10")
	w.offer(ann, "a bed", "150")
	w.offer(bob, "a chair", "")
	gone := w.offer(ann, "a cup", "2")
	over := w.offer(ann, "a book", "3")
	w.post(bob, "who has a lamp?", "market")
	w.over(over)
	_, _, err := w.Maintenance.ExpireListings(ctx, 10)
	w.must(err)
	_, err = w.Posts.Close(ctx, ann.ID, gone.Code, listings.Sale{How: listings.Given})
	w.must(err)
	for query, want := range map[string]string{
		"in:market is:active":                   "a chair, a bed, a lamp",
		"в:market это:активно":                  "a chair, a bed, a lamp",
		"is:active price:..100eur":              "a lamp",
		"is:active price:10eur":                 "a lamp",
		"price:5..eur price:..200eur in:market": "a bed, a lamp",
		"цена:150..eur in:market":               "a bed",
		"price:0..eur":                          "a book, a cup, a bed, a lamp",
		"is:closed":                             "a cup",
		"is:expired is:closed":                  "a book, a cup",
		"in:market -is:active":                  "who has a lamp?, a book, a cup",
		"in:market -price:..100eur is:active":   "a chair, a bed",
		"lamp is:active":                        "a lamp",
		"lamp in:market":                        "who has a lamp?, a lamp",
	} {
		w.finds(cat.ID, query, strings.Split(want, ", ")...)
	}
	w.finds(cat.ID, "in:nowhere is:active")
	w.finds(cat.ID, "in:market price:..100usd")
	w.finds(cat.ID, "price:..100eur price:..100usd")
	w.setAccess(bob, "market", Private)
	w.finds(cat.ID, "is:active")
	w.finds(cat.ID, "in:market price:..100eur")
	w.finds(bob.ID, "is:active", "a chair", "a bed", "a lamp")
}
