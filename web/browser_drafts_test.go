package web_test

import (
	"testing"

	"github.com/chromedp/chromedp"

	"riverrun/web/webtest"
)

const keptNote = `.querySelector('.kept')?.textContent.includes('Draft kept')`

// A second browser goes on with the draft that the first one kept. Text that is not kept yet stays.
func TestDraftsOnTwoDevices(t *testing.T) {
	t.Parallel()
	browser := webtest.Chromium(t)
	s := webtest.New(t, nil)
	ann, bob := s.Person("ann"), s.Person("bob")
	code := bob.Post("words of bob").Code
	ann.Visitor().Post("/groups", "name", "chess-club", "title", "Chess Club", "access", "public").Wants(303)
	desk, phone := s.Tab(browser, "desk"), s.Tab(browser, "phone")
	for _, b := range []*webtest.Tab{desk, phone} {
		b.SignIn("ann")
		b.Visit("/")
		b.Live()
	}
	const text = `#compose textarea`
	value := func(b *webtest.Tab, is string) {
		t.Helper()
		b.Await("the text "+is, `document.querySelector('#compose textarea').value === '`+is+`'`)
	}
	kept := func(b *webtest.Tab) {
		t.Helper()
		b.Await("word that it is kept", `document.querySelector('#compose')`+keptNote)
	}
	desk.Do(chromedp.Click(chromedp.CSS(text)), chromedp.SendKeys(chromedp.CSS(text), "half a thought"))
	webtest.Eval[bool](desk, `(() => { document.querySelector('#compose .adding').open = true; document.querySelector('#compose [value=chess-club]').click(); return true; })()`)
	kept(desk)
	phone.Do(chromedp.Click(chromedp.CSS(text)))
	value(phone, "half a thought")
	phone.Await("the group chosen", `document.querySelector('#compose [value=chess-club]').checked`)

	// Both go on. Words that one device has not stored yet are not replaced by those that the other
	// stores.
	phone.Do(chromedp.SendKeys(chromedp.CSS(text), ", whole"))
	webtest.Await(t, "the draft of the phone", func() bool { return draftAt(ann.Visitor(), "/").Body == "half a thought, whole" })
	webtest.Eval[bool](desk, `(document.querySelector('#compose textarea').focus(), true)`)
	desk.Do(chromedp.SendKeys(chromedp.CSS(text), " of my own"))
	webtest.Await(t, "the draft of the desk", func() bool { return draftAt(ann.Visitor(), "/").Body == "half a thought of my own" })
	value(phone, "half a thought, whole")
	value(desk, "half a thought of my own")
	// The text that it replaced is not lost: it stands beside.
	desk.Await("the other draft", `document.querySelector('#compose .newer textarea')?.value === 'half a thought, whole'`)

	// Sent, it is nowhere any more.
	desk.Do(chromedp.Click(chromedp.CSS(`#compose .send > button`)))
	desk.CodeOf("half a thought of my own")
	webtest.Await(t, "no draft", func() bool { return draftAt(ann.Visitor(), "/").Body == "" })
	desk.Await("no word of a draft", `!document.querySelector('#compose .kept')`)

	// A comment: kept when the page is left at once, there after a reload, gone when discarded.
	box := `#p-` + code + `-box`
	desk.Visit("/p/" + code)
	desk.Live()
	desk.Do(chromedp.Click(chromedp.CSS(box+` textarea`)), chromedp.SendKeys(chromedp.CSS(box+` textarea`), "half a comment"))
	desk.Await("the draft asked for", `document.querySelector('`+box+` form').fetched`)
	desk.Visit("/help/keys")
	webtest.Await(t, "the draft of the comment", func() bool { return draftAt(ann.Visitor(), "/p/"+code).Body == "half a comment" })
	desk.Visit("/p/" + code)
	desk.Do(chromedp.Click(chromedp.CSS(box + ` textarea`)))
	desk.Await("the comment", `document.querySelector('`+box+` textarea').value === 'half a comment'`)
	desk.Do(chromedp.Click(chromedp.CSS(box + ` .kept button`)))
	desk.Await("an empty box", `document.querySelector('`+box+` textarea').value === '' && !document.querySelector('`+box+` .kept')`)
	if d := draftAt(ann.Visitor(), "/p/"+code); d.Body != "" {
		t.Errorf("the discarded draft is %+v", d)
	}
}

// A form that the browser sends by itself while its text is being kept takes the draft with it.
func TestDraftKeptWhileItIsSent(t *testing.T) {
	t.Parallel()
	browser := webtest.Chromium(t)
	s := webtest.New(t, nil)
	ann := s.Person("ann")
	b := s.Tab(browser, "ann")
	b.SignIn("ann")
	b.Visit("/posts/new")
	webtest.Eval[bool](b, `(() => {
		const plain = window.fetch;
		const late = new Promise((go) => { window.release = go; });
		window.fetch = async (address, how) => {
			const reply = await plain(address, how);
			if (address === '/drafts') { window.held = true; await late; }
			return reply;
		};
		return true;
	})()`)
	const text = `#compose textarea`
	b.Do(chromedp.Click(chromedp.CSS(text)), chromedp.SendKeys(chromedp.CSS(text), "kept and sent"))
	b.Await("the draft on its way", `window.held`)
	b.Do(chromedp.Click(chromedp.CSS(`#compose .send > button`)))
	webtest.Eval[bool](b, `(release(), true)`)
	b.Await("the home page", `location.pathname === '/'`)
	if got := draftAt(ann.Visitor(), "/").Body; got != "" {
		t.Errorf("what was sent is still a draft: %q", got)
	}
}

// Text typed before the kept draft has arrived stands below it: neither is lost.
func TestDraftArrivesWhileTyping(t *testing.T) {
	t.Parallel()
	browser := webtest.Chromium(t)
	s := webtest.New(t, nil)
	ann := s.Person("ann")
	ann.Visitor().Post("/drafts", "draft", "/", "body", "kept before").Wants(303)
	b := s.Tab(browser, "ann")
	b.SignIn("ann")
	b.Visit("/")
	b.Live()
	webtest.Eval[bool](b, `(() => {
		const plain = window.fetch;
		const late = new Promise((go) => { window.release = go; });
		window.fetch = async (address, how) => {
			if (String(address).startsWith('/drafts?')) await late;
			return plain(address, how);
		};
		return true;
	})()`)
	const text = `#compose textarea`
	b.Do(chromedp.Click(chromedp.CSS(text)), chromedp.SendKeys(chromedp.CSS(text), "typed now"))
	webtest.Eval[bool](b, `(release(), true)`)
	b.Await("both texts", `document.querySelector('#compose textarea').value === 'kept before\ntyped now'`)
	webtest.Await(t, "both texts to be kept", func() bool { return draftAt(ann.Visitor(), "/").Body == "kept before\ntyped now" })
}

// The line that says that a draft is kept comes a second after the last letter, when its writer may be about to
// press something below. So its place is free from the first letter on.
func TestDraftLineMovesNothing(t *testing.T) {
	t.Parallel()
	browser := webtest.Chromium(t)
	s := webtest.New(t, nil)
	ann := s.Person("ann")
	below, second, first := ann.Post("words below").Code, ann.Post("more words").Code, ann.Post("words of ann").Code
	for _, c := range []struct {
		width            int64
		open, text, next string
	}{
		{1280, "#compose textarea", "#compose textarea", "#river"},
		{1280, "#p-" + first + " > .acts .talk", "#p-" + first + "-box textarea", "#p-" + second},
		{390, "#p-" + second + " > .acts .talk", "#p-" + second + "-box textarea", "#p-" + below},
	} {
		b := s.Tab(browser, c.text)
		b.Do(chromedp.EmulateViewport(c.width, 700))
		b.SignIn("ann")
		b.Visit("/")
		b.Live()
		b.Do(chromedp.Click(chromedp.CSS(c.open)))
		webtest.Eval[bool](b, `(() => {
			const text = document.querySelector('`+c.text+`');
			const top = () => document.querySelector('`+c.next+`').getBoundingClientRect().top + scrollY;
			text.addEventListener('input', () => text.value === 'half a thought' && requestAnimationFrame(() => (window.began = top())));
			window.moved = () => top() - began;
			return true;
		})()`)
		b.Do(chromedp.SendKeys(chromedp.CSS(c.text), "half a thought"))
		b.Await("word that it is kept", `document.querySelector('`+c.text+`').form`+keptNote)
		if by := webtest.Eval[float64](b, `moved()`); by != 0 {
			t.Errorf("%d pixels wide, the line below %s moves %s by %v pixels", c.width, c.text, c.next, by)
		}
	}
}
