package web_test

import (
	"context"
	"errors"
	"fmt"
	"html"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"riverrun/timelines"
	"riverrun/timelines/admin"
	"riverrun/timelines/bulk"
	"riverrun/web/webtest"
)

// G10, G11: the tabs of "My posts" have what the numbers at them say, and nobody else's posts.
func TestMyPosts(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	ann, bob := s.Person("ann"), s.Person("bob")
	for i := range 30 {
		ann.Post(fmt.Sprintf("thought %d.", i))
	}
	bob.Post("words of bob")
	v := ann.Visitor()
	v.Post("/drafts", "draft", "/", "body", "half a thought").Wants(303)
	first := v.Get("/filter/mine").Wants(200).
		Has("thought 29.", "thought 5.", `All <span class="count">30</span>`, `Drafts <span class="count">1</span>`).
		Lacks("thought 4.", "words of bob")
	next := regexp.MustCompile(`rel="next" href="([^"]+)"`).FindStringSubmatch(first.Body)
	if next == nil {
		t.Fatal("no next page")
	}
	v.Get(html.UnescapeString(next[1])).Wants(200).Has("thought 4.", "thought 0.").Lacks("thought 5.", `rel="next"`)
	v.Get("/filter/mine?show=published").Wants(200).Has("thought 29.")
	for _, empty := range []string{"imported", "waiting", "blocked", "expired", "closed"} {
		v.Get("/filter/mine?show=" + empty).Wants(200).Lacks("thought")
	}
	// Tabs of what most people have nothing of are there only while they are open.
	v.Get("/filter/mine").Has("show=published", `href="/drafts"`, `href="/scheduled"`).Lacks("show=imported", "show=waiting", "show=blocked", "show=expired", "show=closed")
	v.Get("/filter/mine?show=closed").Has(`href="/filter/mine?show=closed" aria-current="page"`).Lacks("show=expired")
	v.Get("/filter/mine?show=nonsense").Wants(404)
	v.Get("/filter/mine?before=nonsense").Wants(200).Has("thought 29.")
	// A post of another says nothing, not even when it was made.
	v.Get("/filter/mine?before=" + bob.Post("later").Code).Wants(404)
	s.Visitor().Get("/filter/mine").LeadsTo("/login?back=%2Ffilter%2Fmine")
}

// workOn does the blocks of the last work on several posts, as its job does.
func workOn(t *testing.T, s *webtest.Site, blocks int) {
	t.Helper()
	var id int64
	if err := s.DB.Primary.QueryRow(t.Context(), `SELECT max(id) FROM bulk_acts`).Scan(&id); err != nil {
		t.Fatal(err)
	}
	for range blocks {
		more, err := bulk.Open(s.Store).Step(t.Context(), id, s.Tiers.Carry)
		if err != nil {
			t.Fatal(err)
		}
		if !more {
			return
		}
	}
}

// Several posts are deleted and moved at once; what cannot be changed is skipped, and says why.
func TestSeveralPostsAtOnce(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	ann, bob := s.Person("ann"), s.Person("bob")
	v := ann.Visitor()
	v.Post("/groups", "name", "sailing", "title", "Sailing", "access", "public").Wants(303)
	bob.Visitor().Post("/groups", "name", "closed", "title", "Closed", "access", "private").Wants(303)
	first := ann.Post("first").Code
	for i := range 29 {
		ann.Post(fmt.Sprintf("thought %d.", i))
	}
	hers, his := ann.Post("second").Code, bob.Post("words of bob").Code

	said := v.Post("/filter/mine", "act", "delete").Wants(422).Has("Choose at least one post.")
	if strings.Index(said.Body, "Choose at least one post.") > strings.Index(said.Body, "thought 28.") {
		t.Error("the error stands below the posts, where nobody sees it")
	}
	v.Post("/filter/mine", "act", "delete", "post", first).Wants(200).Has("Delete “first”?")
	v.Post("/filter/mine", "act", "delete", "post", his).Wants(200).Has("Delete 1 post?").Lacks("words of bob")
	v.Post("/filter/mine", "act", "delete", "post", first, "post", hers).Wants(200).Has("Delete 2 posts?")
	v.Post("/filter/mine", "act", "explode", "post", first).Wants(422)
	v.Post("/filter/mine", "act", "move", "post", first).Wants(422).Has("Choose at least one place.", "autofocus")
	v.Post("/filter/mine", "act", "move", "post", first, "to", "nobody-there").Wants(422)
	v.Post("/filter/mine", "act", "move", "post", first, "to", "closed").Wants(422)

	many := []string{"act", "move", "to", "sailing"}
	for i := range bulk.MostChosen + 1 {
		many = append(many, "post", fmt.Sprintf("%010d", i))
	}
	v.Post("/filter/mine", many...).Wants(422).Has("Choose at most 100 posts")

	// Chosen ones. Another's post is as one that never was.
	v.Post("/filter/mine", "act", "move", "to", "sailing", "post", first, "post", hers, "post", his).LeadsTo("/filter/mine")
	v.Get("/filter/mine").Wants(200).Has("Moving: 0 of 3")
	v.Post("/filter/mine/progress/seen").Wants(303) // forgets only what is over
	v.Post("/filter/mine", "act", "move", "to", "ann", "post", first).Wants(409).Has("already")
	workOn(t, s, 10)
	v.Get("/filter/mine").Wants(200).Has("Moved: 2 of 3", "1 post was skipped", "You may not change them.")
	v.Get("/sailing").Wants(200).Has("first", "second").Lacks("thought", "words of bob")
	v.Post("/filter/mine/progress/seen").LeadsTo("/filter/mine")
	v.Get("/filter/mine").Wants(200).Lacks("Moved")

	// All of a preset, and only those that were there when it began.
	asked := v.Post("/filter/mine", "act", "delete", "all", "1", "show", "published").Wants(200).Has("Delete 31 posts?")
	v.Post("/filter/mine", "act", "delete", "all", "1", "show", "published", "sure", "1", "until", untilOf(t, asked)).LeadsTo("/filter/mine?show=published")
	ann.Post("the day after")
	workOn(t, s, 1)
	v.Get("/filter/mine").Wants(200).Has("Deleting: 24 of 31", `All <span class="count">8</span>`)
	workOn(t, s, 10)
	v.Get("/filter/mine").Wants(200).Has("Deleted: 31 of 31", "the day after", `All <span class="count">1</span>`).Lacks("thought")
	v.Get("/sailing").Wants(200).Lacks("first", "second")
}

// The end of the work brings the same tab as it is now, its numbers and its list, to a page that follows it
// with scripts; without them "Look again" and "OK" lead to that tab.
func TestSeveralPostsEndInTheSameTab(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	ann := s.Person("ann")
	v := ann.Visitor()
	for i := range 30 {
		ann.Post(fmt.Sprintf("thought %d.", i))
	}
	const tab, progress = "/filter/mine?show=published", "/filter/mine/progress?show=published"
	v.Post("/filter/mine", "act", "delete", "all", "1", "show", "published", "sure", "1").LeadsTo(tab)
	ann.Post("the day after")
	v.Get(tab).Has(`data-again="`+progress+`"`, `href="`+tab+`">Look again`)
	v.Get(progress).LeadsTo(tab)
	v.Header.Set("X-River-Page", "1")
	v.Get(progress).Wants(200).Has(`data-again="`+progress+`"`).Lacks("mine-list", "mine-tabs", "<html")
	workOn(t, s, 10)
	v.Get(progress).Wants(200).
		Has("Deleted: 30 of 30", `id="mine-tabs"`, `Published <span class="count">1</span>`, `href="`+tab+`" aria-current`, `id="mine-list"`, "the day after").
		Lacks("thought", "data-again", "<html", "disabled")
	v.Get("/filter/mine/progress?show=nonsense").Wants(404)
	v.Header.Del("X-River-Page")
	v.Get(tab).Has(`action="/filter/mine/progress/seen"><input type="hidden" name="show" value="published"`)
	v.Post("/filter/mine/progress/seen", "show", "published").LeadsTo(tab)
	v.Post("/filter/mine/progress/stop", "show", "published").LeadsTo(tab)
}

// The same in a browser, where the page stays.
func TestSeveralPostsInABrowser(t *testing.T) {
	t.Parallel()
	browser := webtest.Chromium(t)
	s := webtest.New(t, nil)
	ann := s.Person("ann")
	ann.Post("thought 1.")
	ann.Visitor().Post("/filter/mine", "act", "delete", "all", "1", "show", "published", "sure", "1").Wants(303)
	ann.Post("the day after")
	page := s.Tab(browser, "ann")
	page.SignIn("ann")
	page.Visit("/filter/mine?show=published")
	page.Await("the list as it was", `document.querySelector('#mine-list').textContent.includes('thought 1.')`)
	webtest.Eval[bool](page, `(window.same = true)`)
	workOn(t, s, 10)
	page.Await("the end of the work", `window.same && document.querySelector('#mine-work:not([data-again])')?.textContent.includes('Deleted: 1 of 1')`)
	page.Await("the list and its number", `!document.querySelector('#mine-list').textContent.includes('thought 1.') &&
		document.querySelector('#mine-list').textContent.includes('the day after') &&
		document.querySelector('#mine-tabs [aria-current] .count')?.textContent === '1'`)
	page.Do(chromedp.Click(chromedp.CSS(`#mine-work button`)))
	page.Await("the same tab", `!window.same && location.search === '?show=published' && !document.querySelector('#mine-work button')`)
}

// untilOf returns which posts a page speaks of that speaks of all of a list.
func untilOf(t *testing.T, page *webtest.Answer) string {
	t.Helper()
	until := regexp.MustCompile(`name="until" value="([0-9]+)"`).FindStringSubmatch(page.Body)
	if until == nil {
		t.Fatal("the page does not say of which posts it speaks")
	}
	return until[1]
}

// All of a list are those that were there when the page said how many there are, whatever came until it was answered.
func TestAllOfAListAreThoseThatWereShown(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	ann := s.Person("ann")
	v := ann.Visitor()
	v.Post("/groups", "name", "sailing", "title", "Sailing", "access", "public").Wants(303)
	for i := range 27 {
		ann.Post(fmt.Sprintf("thought %d.", i))
	}
	listed := v.Get("/filter/mine").Wants(200).Has("All 27 posts of this list")
	ann.Post("came after the list.")
	v.Post("/filter/mine", "act", "move", "to", "sailing", "all", "1", "until", untilOf(t, listed)).Wants(303)
	workOn(t, s, 10)
	v.Get("/filter/mine").Wants(200).Has("Moved: 27 of 27")
	v.Get("/sailing").Wants(200).Has("thought 26.").Lacks("came after")

	// The question before posts are deleted counts them anew.
	asked := v.Post("/filter/mine", "act", "delete", "all", "1", "until", untilOf(t, listed)).Wants(200).Has("Delete 28 posts?")
	ann.Post("came after the question.")
	for _, until := range []string{"x", "-1", "0"} {
		v.Post("/filter/mine", "act", "delete", "all", "1", "sure", "1", "until", until).Wants(404)
	}
	v.Post("/filter/mine", "act", "delete", "all", "1", "sure", "1", "until", untilOf(t, asked)).Wants(303)
	workOn(t, s, 10)
	v.Get("/filter/mine").Wants(200).Has("Deleted: 28 of 28", "came after the question.", `All <span class="count">1</span>`)

	// Nobody deletes what is yet to come.
	v.Post("/filter/mine", "act", "delete", "all", "1", "sure", "1", "until", "9223372036854775807").Wants(303)
	ann.Post("came after all.")
	workOn(t, s, 10)
	v.Get("/filter/mine").Wants(200).Has("Deleted: 1 of 1", "came after all.")
	v.Post("/filter/mine", "act", "delete", "all", "1", "show", "closed").Wants(422)
}

// G22: things are closed several at once, each counts once, and what they brought is told.
func TestSeveralListings(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	ann := s.Person("ann")
	v := ann.Visitor()
	v.Post("/groups", "name", "market", "title", "Market", "access", "public").Wants(303)
	v.Post("/settings/listings", "group", "market", "currency", "EUR").Wants(303)
	for i := range 3 {
		v.Post("/posts", "to", "market", "body", fmt.Sprintf("chair %d.", i), "listing", "1", "price", "10", "currency", "EUR").Wants(303)
	}
	ann.Post("no thing")
	v.Get("/filter/mine").Has("€10 · until ", "Sold", "Given away")
	codes := map[string]string{}
	for _, m := range regexp.MustCompile(`href="/p/([0-9a-z]{10})"><bdi>([a-z0-9 ]+)`).FindAllStringSubmatch(v.Get("/filter/mine").Wants(200).Body, -1) {
		codes[m[2]] = m[1]
	}
	v.Post("/groups", "name", "sailing", "title", "Sailing", "access", "public").Wants(303)
	v.Post("/filter/mine", "act", "move", "to", "sailing", "post", codes["chair 1"], "post", codes["no thing"]).Wants(303)
	workOn(t, s, 10)
	v.Get("/filter/mine").Wants(200).Has("Moved: 1 of 2", "1 post was skipped", "None of these groups takes listings.")
	v.Get("/sailing").Wants(200).Has("no thing").Lacks("chair 1.")
	v.Post("/p/"+codes["chair 2"]+"/close", "how", "sold", "sold", "7.50").Wants(303)
	v.Post("/filter/mine", "act", "close.given", "post", codes["chair 0"], "post", codes["chair 2"], "post", codes["no thing"]).Wants(303)
	workOn(t, s, 10)
	v.Get("/filter/mine").Wants(200).Has("Closed: 2 of 3", "They are no listings.", "2 things sold or given away", "€7.50 earned")
	v.Get("/filter/mine?show=closed").Wants(200).Has("chair 0.", "chair 2.").Lacks("chair 1.", "no thing")
	v.Get("/filter/mine?show=published").Wants(200).Has("chair 1.", "no thing").Lacks("chair 0.")

	// They are closed from the first page, too, if they stand further down.
	for i := range 30 {
		ann.Post(fmt.Sprintf("thought %d.", i))
	}
	v.Get("/filter/mine").Lacks("chair").Has(`value="close.sold"`, `value="close.given"`)
	v.Post("/filter/mine", "act", "close.given", "post", codes["chair 1"]).Wants(303)
	workOn(t, s, 10)
	v.Get("/filter/mine").Lacks(`value="close.sold"`)
}

// Somebody who is suspended changes no more posts, and the list names nobody who is unseen.
func TestSeveralPostsOfSomebodySuspended(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	ann := s.Person("ann")
	s.Person("bob")
	staff := admin.Open(s.Store)
	v := ann.Visitor()
	v.Post("/groups", "name", "sailing", "title", "Sailing", "access", "public").Wants(303)
	ann.Post("between us", "bob")
	v.Get("/filter/mine").Wants(200).Has("Message to @bob")
	c, err := staff.Suspend(t.Context(), admin.By{}, "bob", admin.Suspension{Reason: "spam", Hide: true})
	if _, err := s.Tiers.Carry(t.Context(), c, err); err != nil {
		t.Fatal(err)
	}
	v.Get("/filter/mine").Wants(200).Has("between us", "Somewhere you can’t see any more").Lacks("@bob")
	for i := range 60 {
		ann.Post(fmt.Sprintf("thought %d.", i))
	}
	v.Post("/filter/mine", "act", "move", "to", "sailing", "all", "1").Wants(303)
	workOn(t, s, 1)
	c, err = staff.Suspend(t.Context(), admin.By{}, "ann", admin.Suspension{Reason: "spam"})
	if _, err := s.Tiers.Carry(t.Context(), c, err); err != nil {
		t.Fatal(err)
	}
	workOn(t, s, 10)
	w, err := bulk.Open(s.Store).Find(t.Context(), ann.Account.ID)
	if err != nil || w.State != bulk.Stopped || w.Done != 25 {
		t.Errorf("the work is %+v, %v", w, err)
	}
}

// crashing is s.Tiers.Carry, but the process ends after the commit of the n-th change.
func crashing(s *webtest.Site, n int) bulk.Carrying {
	return func(ctx context.Context, c timelines.Change, err error) (timelines.Change, error) {
		if n--; n == 0 {
			return timelines.Change{}, errCrash
		}
		return s.Tiers.Carry(ctx, c, err)
	}
}

var errCrash = errors.New("the process ended")

// A work that was cut off within a block repeats it and changes nothing twice; one that is stopped stops. Each post is in
// one of the counts, whichever the act, and whether the posts leave the list by it.
func TestSeveralPostsAfterACrash(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	ann := s.Person("ann")
	v := ann.Visitor()
	v.Post("/groups", "name", "market", "title", "Market", "access", "public").Wants(303)
	v.Post("/settings/listings", "group", "market", "currency", "EUR").Wants(303)
	store := bulk.Open(s.Store)
	crash := func() {
		t.Helper()
		w, err := store.Find(t.Context(), ann.Account.ID)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := store.Step(t.Context(), w.ID, crashing(s, 2)); !errors.Is(err, errCrash) {
			t.Fatalf("got %v", err)
		}
	}
	var chosen []string
	for i := range 30 {
		code := ann.Post(fmt.Sprintf("thought %d.", i)).Code
		chosen = append(chosen, "post", code)
	}
	for range 30 {
		v.Post("/posts", "to", "market", "body", "a chair", "listing", "1", "currency", "EUR").Wants(303)
	}
	for _, tc := range []struct {
		name  string
		pairs []string
		want  bulk.Work
	}{
		{"close all", []string{"act", "close.sold", "all", "1", "show", "published"}, bulk.Work{Total: 60, Done: 30, Skipped: 30, Problem: "listing_none"}},
		{"move all", []string{"act", "move", "to", "ann", "all", "1", "show", "published"}, bulk.Work{Total: 30, Done: 30}},
		{"delete those chosen", append([]string{"act", "delete", "sure", "1"}, chosen[:2*28]...), bulk.Work{Total: 28, Done: 28}},
	} {
		v.Post("/filter/mine", tc.pairs...).Wants(303)
		crash()
		workOn(t, s, 1)
		crash()
		workOn(t, s, 10)
		w, err := store.Find(t.Context(), ann.Account.ID)
		got := bulk.Work{Total: w.Total, Done: w.Done, Skipped: w.Skipped, Problem: w.Problem}
		if diff := cmp.Diff(tc.want, got); err != nil || diff != "" || w.State != bulk.Done {
			t.Errorf("%s: %s, %v\n%s", tc.name, w.State, err, diff)
		}
	}

	for i := range 28 {
		ann.Post(fmt.Sprintf("another thought %d.", i))
	}
	v.Post("/filter/mine", "act", "delete", "all", "1", "sure", "1").Wants(303)
	crash()
	workOn(t, s, 1)
	v.Get("/filter/mine").Wants(200).Has("Deleting: 25 of 60", `All <span class="count">35</span>`)
	crash()
	v.Post("/filter/mine/progress/stop").Wants(303)
	workOn(t, s, 10)
	v.Get("/filter/mine").Wants(200).Has("Stopped.", `All <span class="count">33</span>`)
	v.Post("/filter/mine", "act", "delete", "all", "1", "sure", "1").Wants(303)
	workOn(t, s, 10)
	v.Get("/filter/mine").Wants(200).Has("Deleted: 33 of 33")
	if wrong, err := s.Store.Publishing.Compare(t.Context(), ann.Account.ID); err != nil || len(wrong) > 0 {
		t.Errorf("%+v, %v", wrong, err)
	}
}

// Two processes with the same block: the slower one does not set the work back.
func TestSeveralPostsByTwoProcesses(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	ann := s.Person("ann")
	v := ann.Visitor()
	for i := range 60 {
		ann.Post(fmt.Sprintf("thought %d.", i))
	}
	v.Post("/filter/mine", "act", "delete", "all", "1", "sure", "1").Wants(303)
	store := bulk.Open(s.Store)
	w, err := store.Find(t.Context(), ann.Account.ID)
	if err != nil {
		t.Fatal(err)
	}
	others := 2 // blocks that the other does within the slower one's first change
	more, err := store.Step(t.Context(), w.ID, func(ctx context.Context, c timelines.Change, err error) (timelines.Change, error) {
		blocks := others
		others = 0
		workOn(t, s, blocks)
		return s.Tiers.Carry(ctx, c, err)
	})
	if err != nil || more {
		t.Errorf("the slower one: more %t, %v", more, err)
	}
	if w, err = store.Find(t.Context(), ann.Account.ID); err != nil || w.Done != 50 {
		t.Errorf("%d are done (%v), want 50", w.Done, err)
	}
	workOn(t, s, 1)
	v.Get("/filter/mine").Wants(200).Has("Deleted: 60 of 60")
}
