package ways_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"riverrun/timelines"
	"riverrun/timelines/admin"
	"riverrun/timelines/site"
	"riverrun/web/view"
	"riverrun/web/webtest"
)

// device is what somebody sits at.
type device struct {
	name, lang, agent string
	width, height     int64
	phone, dark       bool
}

var devices = []device{
	{
		name: "desktop in English", lang: "en", width: 1280, height: 900,
		agent: "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
	},
	{
		name: "phone in Russian", lang: "ru", width: 360, height: 740, phone: true, dark: true,
		agent: "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1",
	},
}

// onEach goes a way on each device, on a site of its own whose jobs are worked.
func onEach(t *testing.T, way func(*webtest.Site, device)) {
	t.Parallel()
	for _, d := range devices {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			way(webtest.NewLively(t), d)
		})
	}
}

// A walker goes through the site as a person does: they press what they see and read what comes. All
// words are those of a key of the catalogue, or the words themselves.
type walker struct {
	*webtest.Tab
	device device
	plain  bool // no script of a page runs
	locale *view.Locale
}

// walker has somebody sit down at a device.
func (d device) walker(s *webtest.Site, name string) *walker {
	s.T.Helper()
	w := &walker{Tab: s.Tab(webtest.Chromium(s.T), name), device: d, locale: view.LocaleOf(d.lang)}
	scheme := "light"
	if d.dark {
		scheme = "dark"
	}
	var screen []chromedp.EmulateViewportOption
	if d.phone {
		screen = append(screen, chromedp.EmulateMobile, chromedp.EmulateTouch)
	}
	w.Do(chromedp.EmulateViewport(d.width, d.height, screen...), chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
		})
		if err == nil {
			_, err = cdp.Call(ctx, t, emulation.SetUserAgentOverride, emulation.SetUserAgentOverrideParams{UserAgent: d.agent, AcceptLanguage: d.lang})
		}
		return err
	}))
	return w
}

// t returns words in the language of the walker.
func (w *walker) t(words string, pairs ...any) string { return w.locale.T(words, pairs...) }

// call makes a call of a function of the page's language.
func call(function string, args ...any) string {
	texts := make([]string, len(args))
	for i, a := range args {
		b, err := json.Marshal(a)
		if err != nil {
			panic(err)
		}
		texts[i] = string(b)
	}
	return "(" + function + ")(" + strings.Join(texts, ", ") + ")"
}

// find finds the visible elements of a selector with these words, and of several the one in the
// smallest part of the page that says the words of within, or the first of the page's own. It returns where to press it, once the
// place is at rest and nothing covers it; until then it says why not.
const find = `(selector, words, within) => {
	const plain = (s) => (s ?? '').replace(/\s+/g, ' ').trim().toLowerCase();
	const said = (e) => [e.innerText, e.querySelector('b')?.innerText, e.ariaLabel, e.title, e.placeholder].some((s) => plain(s) === plain(words));
	const part = (e) => {
		for (let of = e.parentElement; of; of = of.parentElement) {
			if (of.matches('article, li, form, section, details, main') && plain(of.innerText).includes(plain(within))) return of;
		}
	};
	const found = [...document.querySelectorAll(selector)]
		.filter((e) => e.checkVisibility({ visibilityProperty: true }) && e.getClientRects()[0]?.width > 1 && said(e) && (!within || part(e)));
	found.sort((a, b) => within ? part(a).innerText.length - part(b).innerText.length : !a.closest('main') - !b.closest('main'));
	const [e] = found;
	if (!e) return { why: 'it is not there' };
	e.scrollIntoView({ block: 'center', behavior: 'instant' });
	const box = e.getClientRects()[0];
	const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
	const top = document.elementFromPoint(x, y);
	if (!e.contains(top)) return { why: 'it is covered by ' + top?.outerHTML.slice(0, 200) };
	const was = document.rested;
	document.rested = { e, x, y };
	if (was?.e !== e || was.x !== x || was.y !== y) return { why: 'it moves' };
	const touched = document.touched ??= []; // a second press at the same place would be the half of a double click
	if (touched.some((t) => performance.now() - t.at < 600 && Math.hypot(t.x - x, t.y - y) < 20)) return { why: 'it is too soon' };
	touched.push({ x, y, at: performance.now() });
	document.left = true;
	return { x, y };
}`

// touch presses what find finds.
func (w *walker) touch(selector, words, within string) {
	w.T.Helper()
	var at struct {
		X, Y float64
		Why  string
	}
	webtest.Await(w.T, fmt.Sprintf("%s: to press %q of %s in %q", w.Name, words, selector, within), func() bool {
		ctx, cancel := context.WithTimeout(w.Ctx, time.Second)
		defer cancel()
		var err error
		at.Why = ""
		if at, err = chromedp.Run(ctx, chromedp.Evaluate[struct {
			X, Y float64
			Why  string
		}](call(find, selector, words, within))); err != nil {
			at.Why = err.Error() // a page that is left does not answer
		}
		return at.Why == ""
	}, func() string { return at.Why }, w.Text)
	if w.device.phone {
		w.Do(chromedp.TapXY(at.X, at.Y))
	} else {
		w.Do(chromedp.MouseClickXY(at.X, at.Y))
	}
}

// press presses a button.
func (w *walker) press(words string) { w.T.Helper(); w.pressIn("", words) }

// pressIn presses the button in the part of the page that says something.
func (w *walker) pressIn(within, words string) {
	w.T.Helper()
	w.touch("button, a.button", w.t(words), within)
}

// follow goes by a link.
func (w *walker) follow(words string) { w.T.Helper(); w.followIn("", words) }

// followIn goes by the link in the part of the page that says something.
func (w *walker) followIn(within, words string) {
	w.T.Helper()
	w.touch("a[href]", w.t(words), within)
}

// open opens what is folded.
func (w *walker) open(words string) { w.T.Helper(); w.openIn("", words) }

// openIn opens what is folded in the part of the page that says something.
func (w *walker) openIn(within, words string) {
	w.T.Helper()
	w.touch("details:not([open]) > summary", w.t(words), within)
}

// fill writes into the field of a label, in the place of what it has.
func (w *walker) fill(label, text string) { w.T.Helper(); w.fillIn("", label, text) }

// fillIn is fill in the part of the page that says something.
func (w *walker) fillIn(within, label, text string) {
	w.T.Helper()
	w.touch("label:not(.choice), textarea[aria-label], input[aria-label]", w.t(label), within)
	w.Await("the caret in "+label, `document.activeElement?.matches('input, textarea')`)
	webtest.Eval[bool](w.Tab, `document.activeElement.select(), true`)
	w.Do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, input.InsertText, input.InsertTextParams{Text: text})
		return err
	}))
}

// choose chooses what a label says, unless it is chosen.
func (w *walker) choose(words string) {
	w.T.Helper()
	w.touch("label.choice:not(:has(:checked))", w.t(words), "")
	w.Await(words+" to be chosen", call(`(words) => [...document.querySelectorAll('label.choice')]
		.some((l) => l.innerText.trim() === words && l.querySelector('input').checked)`, w.t(words)))
}

// pick picks one of a list.
func (w *walker) pick(label, option string) {
	w.T.Helper()
	w.touch("label", w.t(label), "") // the list of a browser without windows does not open
	w.Await(option+" to be picked", call(`(words) => {
		const list = document.activeElement;
		const is = [...list.options ?? []].find((o) => o.text === words);
		if (!is) return false;
		list.value = is.value;
		return list.dispatchEvent(new Event('change', { bubbles: true }));
	}`, w.t(option)))
}

// says waits until the page says something.
func (w *walker) says(words string, pairs ...any) {
	w.T.Helper()
	w.Await("the page to say "+words, call(saysIt, w.t(words, pairs...)))
	w.look()
}

// loses waits until the page does not say something any more.
func (w *walker) loses(words string, pairs ...any) {
	w.T.Helper()
	w.Await("the page not to say "+words, "!"+call(saysIt, w.t(words, pairs...)))
	w.look()
}

const saysIt = `(words) => {
	const plain = (s) => s.replace(/\s+/g, ' ').toLowerCase();
	return plain(document.body.innerText).includes(plain(words));
}`

// arrives waits until the page that was left has made room for one with this heading.
func (w *walker) arrives(heading string, pairs ...any) {
	w.T.Helper()
	w.Await("a page headed "+heading, call(`(words) => !document.left && document.readyState === 'complete' &&
		[...document.querySelectorAll('h1')].some((h) => h.innerText.trim() === words)`, w.t(heading, pairs...)))
	w.look()
}

// returns waits until the page that was left has made room for another.
func (w *walker) returns() {
	w.T.Helper()
	w.Await("another page", `!document.left && document.readyState === 'complete'`)
	w.look()
}

// types goes to an address that somebody was sent, or has in a bookmark.
func (w *walker) types(address string) { w.T.Helper(); w.Visit(address); w.look() }

// signsIn goes through the form.
func (w *walker) signsIn(name, password string) {
	w.T.Helper()
	w.types("/login")
	w.fill("signup.name", name)
	w.fill("signup.password", password)
	w.press("login.do")
	w.returns()
}

// goesTo goes by the list of places to one of them, which a phone has behind a button.
func (w *walker) goesTo(place string) {
	w.T.Helper()
	if w.device.phone {
		w.press("nav.all")
	}
	switch place {
	case "mine.title", "drafts.title", "nav.settings", "admin.title", "nav.signout":
		w.touch(".places summary", w.t("nav.more"), "")
	}
	w.touch(".places :is(a, button)", w.t(place), "")
}

// seen is what a page shows: elements that are out of the screen, too small for a finger, or buttons over the
// words before them; and the words of what people press and of what heads something.
type seen struct{ Wide, Small, Over, Said []string }

const seenNow = `() => {
	const found = { Wide: [], Small: [], Over: [], Said: [] };
	if (document.documentElement.scrollWidth > innerWidth) {
		found.Wide = [...document.querySelectorAll('body *')].filter((e) => e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.outerHTML.slice(0, 150));
	}
	for (const e of document.querySelectorAll('main :is(button, select, textarea, input:not([type=hidden], [type=checkbox], [type=radio]), .button, .part)')) {
		const box = e.getBoundingClientRect();
		if (box.width <= 1 || !e.checkVisibility({ visibilityProperty: true })) continue;
		if (box.height < 24) found.Small.push(e.outerHTML.slice(0, 150));
		if (!e.matches('button') || !e.previousElementSibling) continue;
		const said = document.createRange();
		said.selectNodeContents(e.previousElementSibling);
		if ([...said.getClientRects()].some((s) => s.width > 1 && s.right > box.left + 1 && s.left < box.right - 1 && s.bottom > box.top + 1 && s.top < box.bottom - 1)) {
			found.Over.push(e.outerHTML.slice(0, 150));
		}
	}
	for (const e of document.querySelectorAll('h1, h2, h3, legend, label, button, summary b, summary, th, dt, .lead, .hint, .part b, .part .now, .tabs a')) {
		if (e.checkVisibility()) found.Said.push(e.innerText.replace(/\s+/g, ' ').trim());
	}
	return found;
}`

// look checks what holds for every page: it is not wider than the screen, what one presses is large
// enough and covers no words, and all words are of one language.
func (w *walker) look() {
	w.T.Helper()
	var found seen
	webtest.Await(w.T, w.Name+": a page to look at", func() bool {
		ctx, cancel := context.WithTimeout(w.Ctx, time.Second)
		defer cancel()
		var err error
		found, err = chromedp.Run(ctx, chromedp.Evaluate[seen](call(seenNow)))
		return err == nil // a page that is left does not answer
	})
	at := func() string { return webtest.Eval[string](w.Tab, `location.pathname + location.search`) }
	if len(found.Wide) > 0 {
		w.T.Errorf("%s: %s is wider than the screen:\n%s", w.Name, at(), strings.Join(found.Wide, "\n"))
	}
	if len(found.Over) > 0 {
		w.T.Errorf("%s: %s has what lies over the words before it:\n%s", w.Name, at(), strings.Join(found.Over, "\n"))
	}
	if len(found.Small) > 0 && w.device.phone {
		w.T.Errorf("%s: %s has what is too small for a finger:\n%s", w.Name, at(), strings.Join(found.Small, "\n"))
	}
	for _, said := range found.Said {
		if foreign[w.device.lang][said] {
			w.T.Errorf("%s: %s says %q in another language", w.Name, at(), said)
		}
		if _, key := w.locale.Texts[said]; key && strings.Contains(said, ".") {
			w.T.Errorf("%s: %s says %q, which is a key", w.Name, at(), said)
		}
	}
}

// foreign are the texts that no page in a language says.
var foreign = func() map[string]map[string]bool {
	all := map[string]map[string]bool{}
	for _, l := range view.Locales {
		own := map[string]bool{}
		for _, text := range l.Texts {
			own[text] = true
		}
		all[l.Lang] = map[string]bool{}
		for _, other := range view.Locales {
			for _, text := range other.Texts {
				if !own[text] {
					all[l.Lang][text] = true
				}
			}
		}
	}
	return all
}()

// inCharge gives somebody a role, by the command line.
func inCharge(p *webtest.Person, role admin.Role) {
	p.Act(func(ctx context.Context) (timelines.Change, error) {
		return admin.Open(p.Site.Store).SetRole(ctx, admin.By{}, p.Account.Name, role)
	})
}

// set changes what holds for the site, by the command line.
func set(s *webtest.Site, change func(*site.Site)) {
	s.T.Helper()
	c, err := site.Open(s.Store).Set(s.T.Context(), admin.By{}, change)
	if _, err := s.Tiers.Carry(s.T.Context(), c, err); err != nil {
		s.T.Fatal(err)
	}
}

// goesToPerson finds somebody among the people whom those in charge see.
func (w *walker) goesToPerson(name string) {
	w.T.Helper()
	w.goesTo("admin.title")
	w.arrives("admin.title")
	w.follow("admin.people")
	w.arrives("admin.people")
	w.fill("admin.people.find", name)
	w.press("search.do")
	w.arrives("admin.people")
	w.followIn("@"+name, name)
	w.arrives(name)
}

// readsField returns what the field of a label has, in the part of the page that says something.
func (w *walker) readsField(within, label string) string {
	w.T.Helper()
	w.touch("label", w.t(label), within)
	w.Await("the caret in "+label, `document.activeElement?.matches('input, textarea')`)
	return strings.TrimPrefix(webtest.Eval[string](w.Tab, `document.activeElement.value`), webtest.Eval[string](w.Tab, `location.origin`))
}

// goesUp goes to the page that this one belongs to: by the arrow beside the title, or, on a phone, by
// the list of places.
func (w *walker) goesUp(to string) {
	w.T.Helper()
	if w.device.phone {
		w.goesTo(to)
		return
	}
	w.follow(to)
}
