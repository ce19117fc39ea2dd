package web_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync/atomic"
	"testing"

	"riverrun/timelines/sources"
	"riverrun/web/view"
	"riverrun/web/webtest"
)

// tell does what a job does every few seconds: it tells people of their sources.
func (f *flow) tell() {
	f.T.Helper()
	c, err := f.sources.TellAll(f.T.Context())
	if _, err := f.Tiers.Carry(f.T.Context(), c, err); err != nil {
		f.T.Fatal(err)
	}
}

func (f *flow) exec(sql string) {
	f.T.Helper()
	if _, err := f.DB.Primary.Exec(f.T.Context(), sql); err != nil {
		f.T.Fatal(err)
	}
}

// feedServer answers with a status, and with the feed of f while that is 200.
func (f *flow) feedServer(status *atomic.Int64) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if code := int(status.Load()); code != http.StatusOK {
			w.WriteHeader(code)
			return
		}
		w.Header().Set("Content-Type", "application/rss+xml")
		fmt.Fprint(w, *f.feed.Load())
	}))
	f.T.Cleanup(server.Close)
	return server.URL + "/tides"
}

// counts checks the number of unread notifications.
func counts(v *webtest.Visitor, want int) {
	v.T.Helper()
	page := v.Get("/settings").Wants(200)
	if want == 0 {
		page.Lacks("<title>(")
	} else {
		page.Has(fmt.Sprintf("<title>(%d) ", want))
	}
}

// A link that has failed for a day, or is gone, is told to each administrator of the group at the moment, until they
// have seen it or it works again.
func TestSourcesThatStop(t *testing.T) {
	t.Parallel()
	f := newFlow(t)
	ann, bob, eve := f.Person("ann"), f.Person("bob"), f.Person("eve")
	a, b, e := ann.Visitor(), bob.Visitor(), eve.Visitor()
	a.Post("/groups", "name", "sailing", "title", "Sailing", "access", "public").Wants(303)
	b.Post("/sailing/follow").Wants(303)
	e.Post("/sailing/follow").Wants(303)
	a.Post("/sailing/promote", "name", "bob").Wants(303)
	f.exec(`UPDATE subscriptions SET created_at = now() - interval '40 days'`) // no arrivals
	number := func(what string, ofAnn, ofBob, ofEve int) {
		t.Helper()
		t.Log(what)
		counts(a, ofAnn)
		counts(b, ofBob)
		counts(e, ofEve)
	}
	var status atomic.Int64
	status.Store(200)
	f.rss("One")
	at := leadsToSource(a.Post("/sailing/sources", "way", "link", "url", f.feedServer(&status), "title", "Tides & <moons>"))
	const title = "Tides &amp; &lt;moons&gt;"
	fetch := func(code int64) {
		t.Helper()
		status.Store(code)
		a.Post(at + "/fetch").Wants(303)
		f.work()
		f.tell()
	}
	f.work()
	fetch(503)
	f.exec(`UPDATE sources SET failing_since = failing_since - interval '23 hours'`)
	fetch(503)
	number("it has failed for less than a day", 0, 0, 0)
	f.exec(`UPDATE sources SET failing_since = failing_since - interval '1 hour'`)
	f.tell()
	number("it has failed for a day", 1, 1, 0)
	fetch(404)
	number("it fails in another way", 1, 1, 0)
	b.Header.Set("Sec-Purpose", "prefetch")
	b.Get(view.NotificationsPath)
	b.Header.Del("Sec-Purpose")
	number("its page was not looked at", 1, 1, 0)
	b.Get(view.NotificationsPath).Wants(200).Has(title, `href="`+at+`"`, "has failed to load for more than a day", `<span class="about">`, "Sailing", `class="fresh`)
	number("bob has seen it", 1, 0, 0)
	b.Get(view.NotificationsPath).Has(title, "has failed to load").Lacks(`class="fresh`)
	e.Get(view.NotificationsPath).Wants(200).Lacks(title)
	f.exec(`UPDATE sources SET alerted_at = alerted_at - 8 * 86400000000`)
	e.Post("/sailing/unfollow").Wants(303)
	b.Get(view.NotificationsPath).Lacks(title) // old news

	a.Header.Set("Accept-Language", "ru")
	a.Get(view.NotificationsPath).Has(title, "не загружается больше суток")
	a.Header.Del("Accept-Language")
	fetch(200)
	a.Get(view.NotificationsPath).Lacks(title)
	number("it works again", 0, 0, 0)

	fetch(410)
	number("it is gone", 1, 1, 0)
	f.tell()
	number("it is still gone", 1, 1, 0)
	a.Post("/sailing/demote", "name", "bob").Wants(303)
	number("bob is no administrator", 1, 0, 0)
	b.Get(view.NotificationsPath).Lacks(title)
	a.Post("/sailing/promote", "name", "bob").Wants(303)
	number("bob is one again", 1, 1, 0)
	a.Do("POST", "/settings/notices", url.Values{"kind": {"1", "2", "3", "4", "5", "6"}}).Wants(303)
	number("ann does not want to know", 0, 1, 0)
	a.Get(view.NotificationsPath).Lacks(title)
	a.Do("POST", "/settings/notices", url.Values{"kind": {"7"}}).Wants(303)
	number("ann wants to know", 1, 1, 0)
	b.Get(view.NotificationsPath).Has(title, "is gone")
	number("bob has seen that it is gone", 1, 0, 0)
	a.Post(at + "/resume").Wants(303)
	number("ann tries again", 0, 0, 0)
	f.work()
	f.tell()
	number("it is gone again", 1, 1, 0)
	a.Post(at+"/move", "to", "ann").Wants(303)
	number("it is ann's", 1, 0, 0)
	b.Get(view.NotificationsPath).Lacks(title)
	a.Get(view.NotificationsPath).Has(title).Lacks(`<span class="about">`)
	a.Post(at+"/remove", "gone", "keep").Wants(303)
	a.Get(view.NotificationsPath).Lacks(title)
}

// A load that would remove much counts until somebody answers, and not only until it was seen.
func TestSourcesThatAsk(t *testing.T) {
	t.Parallel()
	f := newFlow(t)
	ann, bob := f.Person("ann"), f.Person("bob")
	a, b := ann.Visitor(), bob.Visitor()
	rows := func(n int) []webtest.Upload {
		text := "id,title\n"
		for i := range n {
			text += fmt.Sprintf("i%d,Item %d\n", i, i)
		}
		return upload("file", "boats.csv", text)
	}
	at := leadsToSource(a.PostFiles("/settings/sources", rows(40), "way", "file"))
	load := func(n int) {
		t.Helper()
		a.PostFiles(at+"/file", rows(n)).LeadsTo(at)
		f.work()
		f.tell()
	}
	f.work()
	load(40)
	counts(a, 0)
	load(10)
	counts(a, 1)
	counts(b, 0)
	a.Get(view.NotificationsPath).Wants(200).Has("boats", `href="`+at+`"`, "waits for your answer", `class="fresh`)
	b.Get(view.NotificationsPath).Lacks("boats")
	a.Post(view.NotificationsPath + "/read").Wants(303)
	counts(a, 1)
	a.Post(at+"/discard", "no", "3").LeadsTo(at)
	counts(a, 0)
	a.Get(view.NotificationsPath).Lacks("boats")
	load(9)
	counts(a, 1)
	load(40) // which does not ask
	counts(a, 0)
	load(8)
	counts(a, 1)
	a.Post(at+"/confirm", "no", "6").LeadsTo(at)
	counts(a, 0)
	f.work()
	f.tell()
	counts(a, 0)
}

// The number on open pages follows, with the jobs of a node alone.
func TestOpenPagesAreToldOfSources(t *testing.T) {
	t.Parallel()
	browser := webtest.Chromium(t)
	s := webtest.NewLively(t)
	ann := s.Person("ann")
	tab := s.Tab(browser, "ann")
	tab.SignIn("ann")
	source, err := sources.Open(s.Store).Add(t.Context(), ann.Account.ID, sources.New{Owner: "ann", Way: sources.File, Title: "Tides"})
	if err != nil {
		t.Fatal(err)
	}
	tab.Visit("/everything")
	tab.Live()
	problem := func(p string) {
		t.Helper()
		if _, err := s.DB.Primary.Exec(t.Context(), `UPDATE sources SET problem = $2 WHERE id = $1`, source.ID, p); err != nil {
			t.Fatal(err)
		}
	}
	problem("gone")
	tab.Await("the number", `document.title.startsWith('(1) ')`)
	problem("")
	tab.Await("no number", `!document.title.startsWith('(')`)
	problem("gone")
	tab.Await("the number again", `document.title.startsWith('(1) ')`)
}
