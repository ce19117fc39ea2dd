package ways_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"riverrun/timelines"
	"riverrun/web/webtest"
)

// onEachAndPlainly goes a way on each device, and once more without scripts.
func onEachAndPlainly(t *testing.T, way func(s *webtest.Site, d device, begin func(name string) *walker)) {
	onEach(t, func(s *webtest.Site, d device) {
		way(s, d, func(name string) *walker { return d.walker(s, name) })
	})
	plain := devices[1]
	t.Run(plain.name+", without scripts", func(t *testing.T) {
		t.Parallel()
		s := webtest.NewLively(t)
		way(s, plain, func(name string) *walker {
			w := plain.walker(s, name)
			w.shutsOutScripts()
			return w
		})
	})
}

// shutsOutScripts has the browser run no script of any page. Those of the test still run.
func (w *walker) shutsOutScripts() {
	w.T.Helper()
	w.plain = true
	w.Do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		return err
	}))
}

// A stranger begins to write, signs up, finds the text and posts it (G3, G4).
func TestAStrangersWay(t *testing.T) {
	onEachAndPlainly(t, func(s *webtest.Site, d device, begin func(string) *walker) {
		s.Person("bob").Post("The last boat leaves at ten.")
		w := begin("zoe")
		w.types("/everything")
		if d.phone {
			w.touch(".bar a", w.t("compose.title"), "")
		} else {
			w.touch(".places a", w.t("nav.write"), "")
		}
		w.arrives("compose.title")
		w.says("visitor.lead")
		w.fill("compose.body", "Is there a boat at eleven?")
		if w.plain {
			w.press("drafts.keep")
			w.arrives("compose.title")
			w.says("visitor.kept")
		} else {
			w.says("drafts.kept")
		}
		w.types("/everything")
		w.says("The last boat leaves at ten.")
		w.types("/posts/new")
		w.reads("compose.body", "Is there a boat at eleven?")
		w.press("compose.post")
		w.arrives("login.title")
		w.says("visitor.waits")
		w.touch("main a", w.t("nav.signup"), "")
		w.arrives("signup.title")
		w.fill("signup.name", "zoe")
		w.fill("signup.password", webtest.Password)
		w.press("signup.do")
		w.arrives("compose.title")
		w.reads("compose.body", "Is there a boat at eleven?")
		w.press("compose.post")
		w.returns()
		w.types("/zoe")
		w.says("Is there a boat at eleven?")
		w.goesTo("drafts.title")
		w.arrives("drafts.title")
		w.says("drafts.none")
	})
}

// Somebody schedules a post, changes its time, and cancels it: it is a draft then (G4).
func TestASchedulersWay(t *testing.T) {
	onEachAndPlainly(t, func(s *webtest.Site, d device, begin func(string) *walker) {
		s.Person("ann")
		w := begin("ann")
		w.signsIn("ann", webtest.Password)
		if d.phone {
			w.follow("compose.title")
		}
		w.fill("compose.body", "A boat for tomorrow")
		w.open("later.title")
		w.fill("later.zone", "Nowhere/At-All")
		tomorrow := time.Now().UTC().Add(24 * time.Hour).Truncate(time.Minute)
		w.dates("later.due", tomorrow.Format(timelines.DueForm))
		w.press("compose.post")
		w.says("invalid.due_zone")
		w.fill("later.zone", "Europe/Berlin")
		w.dates("later.due", tomorrow.Format(timelines.DueForm))
		w.press("compose.post")
		w.arrives("scheduled.title")
		w.says("A boat for tomorrow")
		w.says("Europe/Berlin")
		w.touch(".pages a", w.t("mine.show.scheduled")+" 1", "")
		w.arrives("scheduled.title")

		w.pressIn("A boat for tomorrow", "scheduled.edit")
		w.arrives("scheduled.edit.title")
		w.fill("compose.body", "A boat for the day after")
		w.fill("later.zone", "UTC")
		later := tomorrow.Add(25 * time.Hour)
		w.dates("later.due", later.Format(timelines.DueForm))
		w.press("scheduled.save")
		w.arrives("scheduled.title")
		w.says("A boat for the day after")
		w.loses("A boat for tomorrow")
		w.Await("the new time", `document.querySelector('.scheduled time').dateTime === '`+later.Format(time.RFC3339)+`'`)

		w.pressIn("A boat for the day after", "scheduled.cancel")
		w.arrives("drafts.title")
		w.says("A boat for the day after")
		w.touch(".pages a", w.t("mine.show.scheduled"), "")
		w.arrives("scheduled.title")
		w.says("scheduled.none")
	})
}

// Somebody looks at what has become of their posts, moves two at once and deletes one (G10).
func TestATidyPersonsWay(t *testing.T) {
	onEachAndPlainly(t, func(s *webtest.Site, d device, begin func(string) *walker) {
		ann := s.Person("ann")
		v := ann.Visitor()
		v.Post("/groups", "name", "ferry", "title", "Ferry", "access", "public").Wants(303)
		for _, text := range []string{"Cheap oars", "Fog at six", "No boat on Sunday"} {
			ann.Post(text)
		}
		v.Post("/drafts", "draft", "/", "body", "Half a thought").Wants(303)
		w := begin("ann")
		w.signsIn("ann", webtest.Password)
		w.goesTo("mine.title")
		w.arrives("mine.title")
		w.says("No boat on Sunday")
		tab := func(name string, n int) {
			words := w.t("mine.show." + name)
			if n > 0 {
				words += " " + strconv.Itoa(n)
			}
			w.touch(".pages a", words, "")
			w.returns()
		}
		for _, name := range []string{"imported", "waiting", "blocked", "expired", "closed"} {
			w.types("/filter/mine?show=" + name) // its tab is there only while it has posts, or is open
			w.says("mine.none." + name)
		}
		tab("drafts", 1)
		w.says("Half a thought")
		tab("scheduled", 0)
		w.says("scheduled.none")
		tab("published", 3)
		w.says("Cheap oars")
		tab("all", 3)

		w.press("mine.move")
		w.arrives("mine.title")
		w.says("invalid.to_none")
		w.fill("mine.to", "ferry")
		w.press("mine.move")
		w.arrives("mine.title")
		w.says("invalid.posts_none")
		w.marks("Fog at six")
		w.marks("No boat on Sunday")
		w.press("mine.move")
		w.arrives("mine.title")
		w.awaits("mine.work.move.done", "done", "2", "total", "2")
		w.press("mine.seen")
		w.arrives("mine.title")
		w.loses("mine.work.move.done", "done", "2", "total", "2")
		if got := webtest.Eval[string](w.Tab, `[...document.querySelectorAll('.mine .choice')].map((l) => l.innerText.trim()).join()`); got != "Ferry,Ferry,"+w.t("compose.to.own") {
			s.T.Errorf("the posts stand in %s, want the first two in Ferry", got)
		}

		w.marks("Cheap oars")
		w.press("mine.delete")
		w.arrives("mine.delete")
		w.says("mine.delete.this", "post", "Cheap oars")
		w.follow("mine.keep")
		w.arrives("mine.title")
		w.marks("Cheap oars")
		w.press("mine.delete")
		w.arrives("mine.delete")
		w.press("mine.delete")
		w.arrives("mine.title")
		w.awaits("mine.work.delete.done", "done", "1", "total", "1")
		w.press("mine.seen")
		w.arrives("mine.title")
		w.loses("Cheap oars")
		tab("all", 2)
	})
}

// Somebody offers a thing in a group that takes listings, finds it by its price, renews it, and closes
// it as sold (G22).
func TestASellersWay(t *testing.T) {
	onEachAndPlainly(t, func(s *webtest.Site, d device, begin func(string) *walker) {
		v := s.Person("ann").Visitor()
		v.Post("/groups", "name", "flea", "title", "Flea Market", "access", "public").Wants(303)
		v.Post("/settings/listings", "group", "flea", "currency", "EUR").Wants(303)
		s.Person("bob")
		w := begin("bob")
		w.signsIn("bob", webtest.Password)
		w.types("/flea")
		w.follow("listings.offer")
		w.arrives("listings.new")
		w.Await("who reads a group that bob does not follow", `document.querySelector('.audience span').textContent !== ''`)
		w.fill("compose.body", "A pair of oars")
		w.fill("listings.price", "a lot")
		w.press("compose.post")
		w.says("invalid.price_format")
		w.fill("listings.price", "40")
		w.pick("listings.condition", "listings.condition.good")
		w.fill("listings.place", "East bank")
		w.attaches("oars.jpg", webtest.Photo(600, 400))
		w.press("compose.post")
		w.returns()
		w.types("/flea")
		w.says("A pair of oars")
		w.says(w.locale.Price(4000, "EUR"))
		w.says("listings.condition.good")
		w.says("East bank")
		webtest.Await(s.T, "the picture", func() bool {
			var made int
			err := s.DB.Primary.QueryRow(s.T.Context(), `SELECT count(*) FROM files WHERE state = 'picture'`).Scan(&made)
			return err == nil && made == 1
		})

		w.touch(".listingfilter a", w.t("listings.active"), "")
		w.returns()
		w.says("A pair of oars")
		w.fill("listings.from", "50")
		w.press("listings.filter")
		w.returns()
		w.says("listings.empty")
		w.fill("listings.from", "30")
		w.fill("listings.to", "45")
		w.press("listings.filter")
		w.returns()
		w.says("A pair of oars")
		w.Await("the picture to be shown", `document.querySelector('.entry .pics img')?.naturalWidth`)
		w.touch(".listingfilter a", w.t("listings.closed"), "")
		w.returns()
		w.says("listings.empty")

		// A week later. It is not renewed where that would change nothing.
		if _, err := s.DB.Primary.Exec(s.T.Context(), `UPDATE listings SET until_at = until_at - interval '7 days'`); err != nil {
			s.T.Fatal(err)
		}
		w.types("/flea")
		w.followIn("A pair of oars", "listings.manage")
		w.arrives("listings.manage")
		w.press("listings.renew")
		w.returns()
		w.followIn("A pair of oars", "listings.manage")
		w.arrives("listings.manage")
		w.fill(w.t("listings.paid", "currency", "EUR"), "35.50")
		w.press("listings.close")
		w.returns()
		w.says("listings.sold")
		w.says(w.locale.Price(3550, "EUR"))
		w.types("/")
		w.goesTo("mine.title")
		w.arrives("mine.title")
		w.says(w.locale.N("mine.closed", 1) + " · " + w.t("mine.earned", "price", w.locale.Price(3550, "EUR")))
		w.touch(".pages a", w.t("mine.show.closed")+" 1", "")
		w.returns()
		w.says("A pair of oars")
		w.says("mine.status.closed")
	})
}

// reads waits until the field of a label has this text.
func (w *walker) reads(label, text string) {
	w.T.Helper()
	w.Await("the text in "+label, call(`(label, text) => [...document.querySelectorAll('textarea')].some((e) => e.ariaLabel === label && e.value === text)`, w.t(label), text))
}

// marks marks the post of a list that says this.
func (w *walker) marks(text string) {
	w.T.Helper()
	w.Await("the post "+text, call(`(text) => {
		const row = [...document.querySelectorAll('.mine li')].find((li) => li.innerText.includes(text));
		return row && (document.row = row.querySelector('.choice').innerText);
	}`, text))
	w.touch("label.choice:not(:has(:checked))", webtest.Eval[string](w.Tab, `document.row`), text)
	w.Await(text+" to be marked", call(`(text) => [...document.querySelectorAll('.mine li:has(:checked)')].some((li) => li.innerText.includes(text))`, text))
}

// dates sets a field of a date and a time, whose parts a browser asks for in the order of its own country.
func (w *walker) dates(label, at string) {
	w.T.Helper()
	w.touch("label", w.t(label), "")
	w.Await("the time in "+label, call(`(at) => {
		const field = document.activeElement;
		if (!field?.matches('input[type^=date]')) return false;
		field.value = at;
		field.dispatchEvent(new Event('input', { bubbles: true }));
		return field.dispatchEvent(new Event('change', { bubbles: true }));
	}`, at))
}

// awaits waits until the page, which goes on by itself, says something. Without scripts somebody loads it again.
func (w *walker) awaits(words string, pairs ...any) {
	w.T.Helper()
	if w.plain {
		webtest.Await(w.T, words, func() bool {
			w.types("/filter/mine")
			return webtest.Eval[bool](w.Tab, call(saysIt, w.t(words, pairs...)))
		})
	}
	w.says(words, pairs...)
}

// attaches chooses a file for the form of a post.
func (w *walker) attaches(name string, content []byte) {
	w.T.Helper()
	file := filepath.Join(w.T.TempDir(), name)
	if err := os.WriteFile(file, content, 0o600); err != nil {
		w.T.Fatal(err)
	}
	w.Do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		field, err := cdp.Call(ctx, t, runtime.Evaluate, runtime.EvaluateParams{Expression: `document.querySelector('.composer .attach input')`})
		if err != nil {
			return err
		}
		_, err = cdp.Call(ctx, t, dom.SetFileInputFiles, dom.SetFileInputFilesParams{Files: []string{file}, ObjectID: field.Result.ObjectID})
		return err
	}))
	if !w.plain {
		w.Await("the file in the form", `document.querySelector('.composer .tile') && !document.querySelector('.composer .tile progress')`)
	}
}
