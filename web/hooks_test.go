package web_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"riverrun/rivers/lines"
	"riverrun/timelines"
	"riverrun/timelines/admin"
	"riverrun/timelines/hooks"
	"riverrun/web/webtest"
)

// receiver is the address of a webhook.
type receiver struct {
	testing.TB
	http   *httptest.Server
	secret string

	mu       sync.Mutex // guards what follows
	status   int        // of the next answers
	calls    int
	taken    []lines.Line // of deliveries that were answered with 2xx
	held     chan struct{}
	unsigned int
}

// receive starts a receiver. One that is held answers when the channel is closed.
func receive(t *testing.T, held chan struct{}) *receiver {
	t.Helper()
	r := &receiver{TB: t, status: http.StatusNoContent, held: held}
	r.http = httptest.NewServer(r)
	t.Cleanup(r.http.Close)
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, err := io.ReadAll(q.Body)
	if err != nil {
		return
	}
	r.mu.Lock()
	r.calls++
	status := r.status
	at, err := strconv.ParseInt(q.Header.Get("Riverrun-Timestamp"), 10, 64)
	if err != nil || q.Header.Get("Riverrun-Delivery") == "" || q.Header.Get("Riverrun-Signature") != hooks.Sign(r.secret, at, body) {
		r.unsigned++
	}
	var sent struct{ Changes []lines.Line }
	if err := json.Unmarshal(body, &sent); err != nil || len(sent.Changes) == 0 || len(sent.Changes) > 100 {
		r.Errorf("a delivery of %d lines: %v", len(sent.Changes), err)
	}
	if status/100 == 2 && r.held == nil {
		r.taken = append(r.taken, sent.Changes...)
	}
	r.mu.Unlock()
	if r.held != nil {
		select {
		case <-r.held:
		case <-q.Context().Done():
		}
	}
	w.WriteHeader(status)
}

func (r *receiver) answer(status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status = status
}

// has reports whether a line of the kind came for the post.
func (r *receiver) has(kind, code string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.taken, func(l lines.Line) bool { return l.Kind == kind && l.Code == code })
}

func (r *receiver) called() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.calls
}

// hook makes a webhook of somebody.
func hook(s *webtest.Site, p *webtest.Person, r *receiver, n hooks.New) {
	s.T.Helper()
	n.URL = r.http.URL
	r.mu.Lock()
	defer r.mu.Unlock()
	var err error
	if r.secret, err = hooks.Open(s.Store).Create(s.T.Context(), viewerOf(s, p), n); err != nil {
		s.T.Fatal(err)
	}
}

func viewerOf(s *webtest.Site, p *webtest.Person) timelines.Viewer {
	s.T.Helper()
	v := timelines.Viewer{AccountID: p.Account.ID}
	var hash []byte
	if err := s.DB.Primary.QueryRow(s.T.Context(), `SELECT token_hash FROM sessions WHERE account_id = $1 LIMIT 1`, v.AccountID).Scan(&hash); err != nil {
		s.T.Fatal(err)
	}
	copy(v.Session[:], hash)
	return v
}

func hooksOf(s *webtest.Site, p *webtest.Person) []hooks.Hook {
	s.T.Helper()
	list, err := hooks.Open(s.Store).List(s.T.Context(), p.Account.ID)
	if err != nil {
		s.T.Fatal(err)
	}
	return list
}

func execPrimary(s *webtest.Site, query string, args ...any) {
	s.T.Helper()
	if _, err := s.DB.Primary.Exec(s.T.Context(), query, args...); err != nil {
		s.T.Fatal(err)
	}
}

// G8: what happens comes to webhooks, signed, as far as their owners may read it. Webhooks that are slow or dead hold up no other.
func TestWebhooksGetWhatTheirOwnersMayRead(t *testing.T) {
	t.Parallel()
	s := webtest.NewLively(t)
	ann, bob, eve := s.Person("ann"), s.Person("bob"), s.Person("eve")
	before := ann.Post("before the webhook")
	s.RelayChanges()
	held := make(chan struct{})
	t.Cleanup(func() { close(held) })
	slow, dead, failing := receive(t, held), receive(t, nil), receive(t, nil)
	dead.http.Close()
	failing.answer(http.StatusInternalServerError)
	toBob, toEve := receive(t, nil), receive(t, nil)
	for range 3 {
		hook(s, ann, slow, hooks.New{})
		hook(s, ann, dead, hooks.New{})
	}
	hook(s, ann, failing, hooks.New{})
	hook(s, bob, toBob, hooks.New{})
	hook(s, eve, toEve, hooks.New{})

	letter := ann.Post("a letter", "bob")
	post := ann.Post("to all")
	for what, r := range map[string]*receiver{"bob": toBob, "eve": toEve} {
		webtest.Await(t, "the post to come to "+what, func() bool { return r.has("post", post.Code) })
	}
	webtest.Await(t, "the letter to come to bob", func() bool { return toBob.has("post", letter.Code) })
	ann.Remove(letter.Code)
	webtest.Await(t, "bob to learn that it is gone", func() bool { return toBob.has("gone", letter.Code) })
	ann.SetAccess("", timelines.Private)
	hidden := ann.Post("to friends")
	last := bob.Post("later")
	webtest.Await(t, "what is later to come to eve", func() bool { return toEve.has("post", last.Code) })
	for _, code := range []string{letter.Code, hidden.Code} {
		if toEve.has("post", code) || toEve.has("gone", code) {
			t.Errorf("eve learned of %s", code)
		}
	}
	for _, r := range []*receiver{toBob, toEve} {
		r.mu.Lock()
		if r.unsigned > 0 {
			t.Errorf("%d of %d deliveries are not signed as documented", r.unsigned, r.calls)
		}
		r.mu.Unlock()
		if r.has("post", before.Code) {
			t.Error("a webhook got what was before it")
		}
	}
	webtest.Await(t, "the others to have been tried", func() bool { return slow.called() > 0 && failing.called() > 0 })
	webtest.Await(t, "their failures to be noted", func() bool {
		noted := map[string]int{}
		for _, h := range hooksOf(s, ann) {
			noted[h.Code]++
		}
		return noted["status"] == 1 && noted["connection"] == 3
	})
}

// A delivery that failed comes again, later each time, until it is stopped for good. Its owner has it sent again, and it has all.
func TestWebhooksAreSentAgain(t *testing.T) {
	t.Parallel()
	s := webtest.NewLively(t)
	ann := s.Person("ann")
	r := receive(t, nil)
	hook(s, ann, r, hooks.New{})
	r.answer(http.StatusInternalServerError)
	post := ann.Post("to all")
	for i, wait := range hooks.Waits {
		var h hooks.Hook
		webtest.Await(t, "the failure "+strconv.Itoa(i+1), func() bool { h = hooksOf(s, ann)[0]; return h.Failed == i+1 })
		var left float64
		if err := s.DB.Primary.QueryRow(t.Context(), `SELECT extract(epoch FROM next_at - now())::float8 FROM webhooks`).Scan(&left); err != nil {
			t.Fatal(err)
		}
		if h.State != hooks.Active || h.Code != "status" || h.Status != 500 || left > wait.Seconds() || left < wait.Seconds()-8 {
			t.Fatalf("after failure %d: %+v, again in %v s, want %v", i+1, h, left, wait)
		}
		execPrimary(s, `UPDATE webhooks SET next_at = now()`)
	}
	webtest.Await(t, "the webhook to be stopped", func() bool { return hooksOf(s, ann)[0].State == hooks.Stopped })
	calls := r.called()
	if calls != len(hooks.Waits)+1 {
		t.Errorf("%d tries, want %d", calls, len(hooks.Waits)+1)
	}
	r.answer(http.StatusOK)
	if err := hooks.Open(s.Store).Again(t.Context(), viewerOf(s, ann), hooksOf(s, ann)[0].ID); err != nil {
		t.Fatal(err)
	}
	webtest.Await(t, "the post to come", func() bool { return r.has("post", post.Code) })
	webtest.Await(t, "the webhook to be well", func() bool {
		h := hooksOf(s, ann)[0]
		return h.State == hooks.Active && h.Failed == 0 && h.Code == "" && h.Behind == nil && h.Arrived != nil
	})
}

var shownSecret = regexp.MustCompile(`value="(rrwh_[\w-]{43})"`)

// People make webhooks on a page, which asks for the password and shows the secret once. It says how each stands, and has one that
// was stopped sent again.
func TestWebhooksPage(t *testing.T) {
	t.Parallel()
	s := webtest.NewLively(t)
	ann := s.Person("ann")
	v, bob := ann.Visitor(), s.Person("bob").Visitor()
	r := receive(t, nil)
	newHook := func(v *webtest.Visitor, address, password string, more ...string) *webtest.Answer {
		return v.Post("/settings/hooks", append([]string{"url", address, "present", password}, more...)...)
	}
	for _, page := range []string{"/settings", "/help/api"} {
		v.Get(page).Wants(200).Has(`href="/settings/hooks"`)
	}
	s.Visitor().Get("/settings/hooks").LeadsTo("/login?back=" + url.QueryEscape("/settings/hooks"))
	newHook(v, r.http.URL, "not the one").Wants(422).Has("Wrong password.", r.http.URL).Lacks("rrwh_")
	newHook(v, "ftp://a.example/", webtest.Password).Wants(422).Has("This isn’t an address of a webhook.", `aria-invalid="true"`).Lacks("rrwh_")
	newHook(v, r.http.URL, webtest.Password, "whole_site", "1").Wants(403)
	v.Get("/settings/hooks").Wants(200).Has("There are no webhooks.").Lacks("whole_site")

	page := newHook(v, r.http.URL+"/?a=<b>", webtest.Password).Wants(200)
	m := shownSecret.FindStringSubmatch(page.Body)
	if m == nil || page.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("the secret: %v, to be kept: %q", m, page.Header.Get("Cache-Control"))
	}
	r.secret = m[1] // nothing has been sent yet
	page = v.Get("/settings/hooks").Wants(200).Has("?a=&lt;b&gt;", "no delivery yet").Lacks("rrwh_", "Send again")
	id := regexp.MustCompile(`name="id" value="(\d+)"`).FindStringSubmatch(page.Body)[1]
	newHook(v, "http://10.0.0.1/", webtest.Password).Wants(200)
	first := ann.Post("to all")
	webtest.Await(t, "the post to come", func() bool { return r.has("post", first.Code) })
	says := func(text string) {
		t.Helper()
		webtest.Await(t, text, func() bool { return strings.Contains(v.Get("/settings/hooks").Wants(200).Body, text) })
	}
	says("last delivery arrived")
	says("everything was sent")
	says("The site may not connect to this address: it must be public, with port 80 or 443. The site tries again in ")

	r.answer(http.StatusInternalServerError)
	second := ann.Post("to all")
	says("The address answered with the status 500. The site tries again in ")
	execPrimary(s, `UPDATE webhooks SET failed = $2, next_at = now() WHERE id = $1`, id, len(hooks.Waits))
	says("stopped")
	v.Header.Set("Accept-Language", "ru")
	v.Get("/settings/hooks").Has("Вебхуки", "остановлен", "Адрес ответил с кодом 500.", "не отправлено то, что изменилось с ")
	v.Header.Del("Accept-Language")
	r.answer(http.StatusOK)
	bob.Post("/settings/hooks/again", "id", id).Wants(404)
	bob.Post("/settings/hooks/delete", "id", id).LeadsTo("/settings/hooks?done=delete")
	v.Post("/settings/hooks/again", "id", id).LeadsTo("/settings/hooks?done=again")
	v.Get("/settings/hooks?done=again").Wants(200).Has("The site sends again")
	webtest.Await(t, "what it missed", func() bool { return r.has("post", second.Code) })

	v.Post("/settings/hooks/delete", "id", id).LeadsTo("/settings/hooks?done=delete")
	v.Get("/settings/hooks?done=delete").Wants(200).Has("The webhook is deleted.", "10.0.0.1").Lacks("a=&lt;b&gt;")
	v.Post("/settings/hooks/delete", "id", id).LeadsTo("/settings/hooks?done=delete")
	v.Post("/settings/hooks/delete", "id", "x").Wants(404)
	for range hooks.Most {
		newHook(bob, "https://a.example/", webtest.Password).Wants(200)
	}
	newHook(bob, "https://a.example/", webtest.Password).Wants(422).Has("You have 10 webhooks")
	if r.unsigned > 0 {
		t.Errorf("%d deliveries are not signed by the secret that was shown", r.unsigned)
	}
}

// An administrator makes a webhook that gets the whole site.
func TestWebhookForTheWholeSite(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	zoe := s.Person("zoe")
	inCharge(zoe, admin.Administrator)
	v := zoe.Visitor()
	v.Get("/settings/hooks").Wants(200).Has("whole_site")
	v.Post("/settings/hooks", "url", "https://a.example/", "whole_site", "1", "present", webtest.Password).Wants(200).Has("rrwh_")
	v.Get("/settings/hooks").Has("<span>the whole site</span>")
	if list := hooksOf(s, zoe); len(list) != 1 || !list[0].WholeSite {
		t.Errorf("got %+v", list)
	}
}

// A webhook that was stopped for longer than the log is kept learns of the gap.
func TestWebhooksLearnOfGaps(t *testing.T) {
	t.Parallel()
	s := webtest.NewLively(t)
	ann := s.Person("ann")
	r := receive(t, nil)
	s.RelayChanges()
	hook(s, ann, r, hooks.New{})
	execPrimary(s, `UPDATE changes_head SET trimmed = seq`)
	execPrimary(s, `UPDATE webhooks SET seq = 1`)
	webtest.Await(t, "the gap", func() bool { return r.has("gap", "") })
	post := ann.Post("to all")
	webtest.Await(t, "the post", func() bool { return r.has("post", post.Code) })
}

// A new password, a suspension and the wish to leave stop webhooks, as they end sessions. One with a new password is sent again.
func TestWebhooksEndAsSessionsDo(t *testing.T) {
	t.Parallel()
	s := webtest.NewLively(t)
	ann, bob, cat, eve := s.Person("ann"), s.Person("bob"), s.Person("cat"), s.Person("eve")
	toAnn, toBob, toCat, toEve := receive(t, nil), receive(t, nil), receive(t, nil), receive(t, nil)
	hook(s, ann, toAnn, hooks.New{})
	hook(s, bob, toBob, hooks.New{})
	hook(s, cat, toCat, hooks.New{})
	hook(s, eve, toEve, hooks.New{})
	execPrimary(s, `INSERT INTO leaving (account_id, ends_at, by_staff) VALUES ($1, now() + interval '7 days', false)`, cat.Account.ID)
	execPrimary(s, `UPDATE credentials SET updated_at = now() WHERE account_id = $1`, ann.Account.ID)
	execPrimary(s, `INSERT INTO suspensions (account_id, reason) VALUES ($1, 'rude')`, bob.Account.ID)
	post := eve.Post("to all")
	webtest.Await(t, "the post to come to eve", func() bool { return toEve.has("post", post.Code) })
	for p, want := range map[*webtest.Person]string{ann: "password", bob: "account", cat: "account"} {
		webtest.Await(t, want, func() bool { h := hooksOf(s, p)[0]; return h.State == hooks.Stopped && h.Code == want })
	}
	if toAnn.has("post", post.Code) || toBob.has("post", post.Code) || toCat.has("post", post.Code) {
		t.Error("a webhook got something after it ended")
	}
	if err := hooks.Open(s.Store).Again(t.Context(), viewerOf(s, ann), hooksOf(s, ann)[0].ID); err != nil {
		t.Fatal(err)
	}
	webtest.Await(t, "the post to come to ann", func() bool { return toAnn.has("post", post.Code) })
}

// No webhook reaches what is not public, and one of the whole site is for administrators, while they are.
func TestWebhooksOfTheWholeSiteAndOfOtherNetworks(t *testing.T) {
	t.Parallel()
	s := webtest.NewLively(t)
	ann, bob := s.Person("ann"), s.Person("bob")
	store := hooks.Open(s.Store)
	for _, address := range []string{"", "ftp://a.example/", "http://", "https://u:p@a.example/", "/x", "http://a.example/\xff"} {
		if _, err := store.Create(t.Context(), viewerOf(s, bob), hooks.New{URL: address}); err == nil {
			t.Errorf("%q is taken", address)
		}
	}
	if _, err := store.Create(t.Context(), viewerOf(s, bob), hooks.New{URL: "https://a.example/", WholeSite: true}); err == nil {
		t.Error("bob reads the whole site")
	}
	if _, err := store.Create(t.Context(), viewerOf(s, bob), hooks.New{URL: "http://10.0.0.1/"}); err != nil {
		t.Fatal(err)
	}
	inCharge(ann, admin.Administrator)
	r := receive(t, nil)
	hook(s, ann, r, hooks.New{WholeSite: true})
	secret := bob.Post("for bob alone", timelines.ToEyes)
	webtest.Await(t, "bob's own post to come to ann", func() bool { return r.has("post", secret.Code) })
	webtest.Await(t, "10.0.0.1 to be refused", func() bool { return hooksOf(s, bob)[0].Code == "address" })
	inCharge(ann, admin.Nobody)
	later, all := bob.Post("for bob alone too", timelines.ToEyes), bob.Post("to all")
	webtest.Await(t, "what is for all to come to ann", func() bool { return r.has("post", all.Code) })
	if r.has("post", later.Code) {
		t.Error("somebody who is no administrator any more got another's post")
	}
	for i := 1; i < hooks.Most; i++ {
		if _, err := store.Create(t.Context(), viewerOf(s, bob), hooks.New{URL: "https://a.example/"}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := store.Create(t.Context(), viewerOf(s, bob), hooks.New{URL: "https://a.example/"}); err == nil {
		t.Error("bob has one more than the limit")
	}
}
