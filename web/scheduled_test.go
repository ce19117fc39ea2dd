package web_test

import (
	"context"
	"fmt"
	"regexp"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"riverrun/timelines"
	"riverrun/timelines/drafts"
	"riverrun/timelines/scheduled"
	"riverrun/web/view"
	"riverrun/web/webtest"
)

// ahead is a time as forms have it, in UTC.
func ahead(d time.Duration) string { return time.Now().UTC().Add(d).Format(timelines.DueForm) }

// onlyScheduled is the one scheduled post of a person.
func onlyScheduled(s *webtest.Site, p *webtest.Person) scheduled.Post {
	s.T.Helper()
	all, err := s.Store.Scheduled.All(s.T.Context(), p.Viewer.AccountID)
	if err != nil || len(all) != 1 {
		s.T.Fatalf("%d scheduled posts, want 1: %v", len(all), err)
	}
	return all[0]
}

// comeDue makes the time of all scheduled posts come, and publishes them as the job does.
func comeDue(s *webtest.Site) {
	s.T.Helper()
	if _, err := s.DB.Primary.Exec(s.T.Context(), `UPDATE scheduled_posts SET due_at = now() WHERE failed_at IS NULL`); err != nil {
		s.T.Fatal(err)
	}
	due, err := s.Store.Maintenance.PostsDue(s.T.Context(), scheduled.Due{}, 100)
	if err != nil {
		s.T.Fatal(err)
	}
	for _, d := range due {
		c, _, err := s.Store.Maintenance.PublishDue(s.T.Context(), d)
		if _, err := s.Tiers.Carry(s.T.Context(), c, err); err != nil {
			s.T.Fatal(err)
		}
	}
}

// TestSchedulePost (G4): a form with a time makes a scheduled post, which its author alone sees, changes, publishes
// and cancels. It works without scripts.
func TestSchedulePost(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	ann, bob := s.Person("ann"), s.Person("bob")
	v, w := ann.Visitor(), bob.Visitor()
	bob.Subscribe("ann")
	v.Get("/").Wants(200).Has(`name="due"`, `name="zone" value="UTC"`, `data-src="/static/later.`)
	v.Get("/scheduled").Wants(200).Has("Nothing is scheduled")
	s.Visitor().Get("/scheduled").LeadsTo("/login?back=%2Fscheduled")

	v.Post("/drafts", "draft", "/", "body", "half a boat").Wants(303)
	send := []string{"body", "a boat for tomorrow", "to", "ann", "key", "k", "draft", "/", "saved", savedAt(v, "/"), "due", "2026-01-01T00:00", "zone", "UTC"}
	v.Post("/posts", send...).Wants(422).Has("at least a minute ahead", "a boat for tomorrow", `value="2026-01-01T00:00"`)
	send[11], send[13] = ahead(24*time.Hour), "Mars/Olympus"
	v.Post("/posts", send...).Wants(422).Has("no such time zone", `value="Mars/Olympus"`)
	send[11], send[13] = "tomorrow", "UTC"
	v.Post("/posts", send...).Wants(422).Has("Write the time")
	send[11] = ahead(24 * time.Hour)
	v.Post("/posts", "body", "x", "to", "nobody-here", "due", send[11]).Wants(422).Has("Nobody here is called", `value="`+send[11]+`"`)
	v.Post("/posts", send...).LeadsTo("/scheduled")
	v.Post("/posts", send...).LeadsTo("/scheduled") // counts once
	if d := draftAt(v, "/"); d.Body != "" {
		t.Errorf("the draft is still there: %+v", d)
	}
	p := onlyScheduled(s, ann)
	v.Get("/scheduled").Wants(200).Has("a boat for tomorrow", "My page", "(UTC)", `datetime="`+p.DueAt.UTC().Format("2006-01-02T15:04:05Z")+`"`)
	edit := "/scheduled/" + p.Code + "/edit"
	for _, address := range []string{"/", "/ann", "/everything", "/search?q=boat", "/scheduled", "/drafts"} {
		w.Get(address).Wants(200).Lacks("a boat for tomorrow")
	}
	w.Get(edit).Wants(404)
	w.Post("/scheduled/" + p.Code + "/publish").Wants(404)
	w.Post("/scheduled/"+p.Code+"/cancel", "version", "1").Wants(404)
	w.Post("/posts", "body", "stolen", "scheduled", p.Code, "version", version(v.Get(edit)), "due", send[11]).Wants(409)

	// An edit shows the time in its zone, and replaces.
	form := v.Get(edit).Wants(200).Has("a boat for tomorrow", `value="`+p.DueAt.UTC().Format(timelines.DueForm)+`"`, "Save").Lacks(`name="draft"`)
	change := []string{"body", "a ship", "key", "k2", "scheduled", p.Code, "version", version(form), "due", "2026-01-01T00:00", "zone", "Europe/Berlin"}
	v.Post("/posts", change...).Wants(422).Has(`name="scheduled" value="` + p.Code + `"`)
	change[9] = ahead(48 * time.Hour)
	v.Post("/posts", change...).LeadsTo("/scheduled")
	v.Get("/scheduled").Has("a ship", "(Europe/Berlin)").Lacks("a boat for tomorrow")
	change[3] = "k3" // another form that was filled from the former version
	v.Post("/posts", change...).Wants(409).Has("meanwhile", "a ship").Lacks(`name="scheduled"`)

	// Cancelled, it is a draft; if there is no room for it, it stays until its author says that it may go.
	v.Post("/scheduled/"+p.Code+"/cancel", "version", version(v.Get(edit))).LeadsTo("/drafts")
	if d := draftAt(v, "/"); d.Body != "a ship" {
		t.Errorf("the draft is %+v", d)
	}
	for i := range drafts.Most - 1 {
		v.Post("/drafts", "draft", fmt.Sprintf("/group-%d", i), "body", "text").Wants(303)
	}
	v.Post("/posts", "body", "a raft", "due", send[11]).LeadsTo("/scheduled")
	p = onlyScheduled(s, ann)
	cancel := "/scheduled/" + p.Code + "/cancel"
	sure := v.Post(cancel, "version", view.SavedAs(p.SavedAt)).Wants(409).Has("a raft", `name="discard"`)
	v.Post(cancel, "version", "17", "discard", "1").Wants(409).Has("meanwhile")
	v.Post(cancel, "version", version(sure), "discard", "1").LeadsTo("/scheduled")
	v.Get("/scheduled").Lacks("a raft")

	// It is published at once by its button, or by a form without a time.
	for i, at := range []string{"publish", "save"} {
		text := []string{"a canoe", "a kayak"}[i]
		v.Post("/posts", "body", text, "due", send[11]).LeadsTo("/scheduled")
		p = onlyScheduled(s, ann)
		var made *webtest.Answer
		if at == "publish" {
			made = v.Post("/scheduled/" + p.Code + "/publish")
		} else {
			made = v.Post("/posts", "body", text, "scheduled", p.Code, "version", view.SavedAs(p.SavedAt), "due", "")
		}
		w.Get(made.Wants(303).Header.Get("Location")).Wants(200).Has(text)
		v.Get("/scheduled").Lacks(text)
	}
	// river.js goes where the answer says.
	v.Header.Set("Accept", "application/json")
	v.Post("/posts", "body", "a ferry", "due", send[11]).Wants(200).Has(`{"t":"done","version":"0.0","to":"/scheduled"}`)
	v.Header.Set("X-River-Page", "/bob")
	v.Post("/posts", "body", "a note", "to", "~eyes").Wants(200).Has(`"to":"/p/`)
}

// The field of the time says what becomes of it: a draft has none, and a scheduled post without one is published.
func TestHintsOfTimes(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	ann := s.Person("ann")
	v := ann.Visitor()
	v.Post("/posts", "body", "a boat", "due", ahead(time.Hour)).LeadsTo("/scheduled")
	address := "/scheduled/" + onlyScheduled(s, ann).Code + "/edit"
	const draft, save = "A draft doesn’t keep the time.", "Without a time “Save” publishes the post at once."
	v.Get("/posts/new").Wants(200).Has(draft, `aria-describedby="due-hint"`, `id="due-hint"`).Lacks(save)
	v.Get(address).Wants(200).Has(save, `<button>Save</button>`).Lacks(draft)
	v.Header.Set("Accept-Language", "ru")
	v.Get("/posts/new").Wants(200).Has("В черновике время не сохраняется.")
	v.Get(address).Wants(200).Has("Без времени кнопка «Сохранить» сразу опубликует запись.", `<button>Сохранить</button>`)
}

// TestScheduledPostIsTold: what could not be published stands in the list, and counts among the notifications until
// it was seen.
func TestScheduledPostIsTold(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	ann, bob := s.Person("ann"), s.Person("bob")
	v := ann.Visitor()
	bob.Visitor().Post("/groups", "name", "chess-club", "title", "Chess Club", "access", "public").Wants(303)
	v.Post("/posts", "body", "my opening", "to", "chess-club", "due", ahead(time.Hour)).LeadsTo("/scheduled")
	v.Get("/filter/notifications").Wants(200).Lacks("my opening")
	bob.Visitor().Post("/chess-club/block", "name", "ann").Wants(303)
	comeDue(s)
	v.Get("/").Has(`>1</`)
	v.Get("/filter/notifications").Wants(200).Has("could not be published", "my opening")
	v.Get("/scheduled").Wants(200).Has("Not published", "You can’t write to “Chess Club”")
	bob.Visitor().Get("/filter/notifications").Lacks("my opening")
	v.Post("/scheduled/" + onlyScheduled(s, ann).Code + "/publish").Wants(422).Has("You can’t write to “chess-club”")
	v.Post("/posts", "body", "my opening", "scheduled", onlyScheduled(s, ann).Code, "version", view.SavedAs(onlyScheduled(s, ann).SavedAt), "due", ahead(time.Hour)).LeadsTo("/scheduled")
	v.Get("/filter/notifications").Wants(200).Lacks("my opening")
	comeDue(s)
	s.FollowUp()
	bob.Visitor().Get("/ann").Wants(200).Has("my opening")
}

var versionForm = regexp.MustCompile(`name="version" value="(\d+)"`)

// version is that of the scheduled post in a form.
func version(r *webtest.Answer) string {
	if m := versionForm.FindStringSubmatch(r.Body); m != nil {
		return m[1]
	}
	return ""
}

// TestScheduleInABrowser (G4): on a phone and at a desk somebody chooses a time in their own time zone, and finds the post
// in the list, from which it goes back into the form.
func TestScheduleInABrowser(t *testing.T) {
	t.Parallel()
	browser := webtest.Chromium(t)
	s := webtest.New(t, nil)
	for name, width := range map[string]int64{"ann": 390, "bob": 1280} {
		who := s.Person(name)
		b := s.Tab(browser, name)
		b.Do(chromedp.EmulateViewport(width, 800), chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
			_, err := cdp.Call(ctx, t, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: "America/New_York"})
			return err
		}))
		b.SignIn(name)
		b.Visit("/")
		b.Live()
		if width < 640 {
			b.Do(chromedp.Click(chromedp.CSS(`.bar .compose`)))
		}
		b.Do(chromedp.Click(chromedp.CSS(`#compose textarea`)), chromedp.SendKeys(chromedp.CSS(`#compose textarea`), "a boat for tomorrow"))
		b.Do(chromedp.Click(chromedp.CSS(`#compose .later summary`)))
		b.Await("the time zone of the browser", `document.querySelector('#compose [name=zone]').value === 'America/New_York'`)
		tomorrow := time.Now().Add(24 * time.Hour).Truncate(time.Minute)
		newYork, err := time.LoadLocation("America/New_York")
		if err != nil {
			t.Fatal(err)
		}
		webtest.Eval[bool](b, `(document.querySelector('#compose [name=due]').value = '`+tomorrow.In(newYork).Format(timelines.DueForm)+`', true)`)
		if over := webtest.Eval[bool](b, `document.documentElement.scrollWidth > innerWidth`); over {
			t.Errorf("at %d the composer is wider than the page", width)
		}
		send := `#compose .send > button`
		if width < 640 {
			send = `.sheethead .post`
		}
		b.Do(chromedp.Click(chromedp.CSS(send)))
		b.Await("the list", `location.pathname === '/scheduled' && document.querySelector('.scheduled .text')?.textContent.includes('a boat for tomorrow')`)
		if p := onlyScheduled(s, who); !p.DueAt.Equal(tomorrow) {
			t.Errorf("due at %v, want %v", p.DueAt, tomorrow)
		}
		if over := webtest.Eval[bool](b, `document.documentElement.scrollWidth > innerWidth`); over {
			t.Errorf("at %d the list is wider than the page", width)
		}
		b.Do(chromedp.Click(chromedp.CSS(`.scheduled a.button`)))
		b.Await("the form", `document.querySelector('#compose textarea')?.value === 'a boat for tomorrow' && document.querySelector('#compose [name=zone]').value === 'America/New_York'`)
		b.Do(chromedp.Click(chromedp.CSS(`#compose textarea`)), chromedp.SendKeys(chromedp.CSS(`#compose textarea`), ", or a ship"), chromedp.Click(chromedp.CSS(`#compose .send > button`)))
		b.Await("the list", `location.pathname === '/scheduled' && document.querySelector('.scheduled .text')?.textContent.includes('or a ship')`)
		b.Do(chromedp.Click(chromedp.CSS(`.scheduled .loss`)))
		b.Await("the drafts", `location.pathname === '/drafts' && document.querySelector('.drafts .text')?.textContent.includes('or a ship')`)
	}
}
