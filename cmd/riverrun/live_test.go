package main

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"riverrun/migrations/testdb"
	"riverrun/web/webtest"
)

// An archive is replayed, as fast as it goes, into a new group that two people
// have open in their browsers: both pages end equal to a reload, and every river
// to a rebuilt one. With RIVERRUN_ARCHIVES set it is a share of the live-blogging of a real
// conference, ISMB 2008: 640 comments in 89 posts.
func TestReplayIntoOpenPages(t *testing.T) {
	file := filepath.Join("..", "..", "timelines", "friendfeed", "testdata", "garden.json")
	if dir := os.Getenv("RIVERRUN_ARCHIVES"); dir != "" {
		seed, times := testdb.Chance(t)
		file = shareOf(t, filepath.Join(dir, "ismb-2008.json"), seed, times)
	}
	vars := map[string]string{"RIVERRUN_DATA": testdb.Dir(t), "RIVERRUN_LISTEN": "127.0.0.1:0"}
	server := background(t, vars)
	defer server.end(t)
	url := strings.TrimPrefix(server.said, "riverrun serves ")
	for _, name := range []string{"alice", "bob"} {
		out, err := once(t, vars, "correct horse\n", "account", "create", name)
		must(t, "created "+name+"\n", out, err)
	}

	browser := webtest.Chromium(t)
	alice, bob := openPage(t, browser, url, "alice"), openPage(t, browser, url, "bob")
	alice.do(t, chromedp.Navigate(url+"/groups"))
	alice.await(t, `(document.querySelector('details:has(#group-name)') ?? {}).open = true`)
	alice.do(t,
		chromedp.SendKeys(chromedp.CSS(`#group-name`), "live-ismb"),
		chromedp.SendKeys(chromedp.CSS(`input[name=title]`), "Live from the conference"),
		chromedp.Click(chromedp.CSS(`form[action="/groups"] button`)),
	)
	alice.await(t, `location.pathname === '/live-ismb'`)
	for _, p := range []*openedPage{alice, bob} {
		p.do(t, chromedp.Navigate(url+"/live-ismb"))
		p.await(t, `document.querySelector('#river') && document.documentElement.dataset.live === '1'`)
	}

	if _, err := once(t, vars, "", "replay", "-speed", "max", "-into", "live-ismb", file); err != nil {
		t.Fatalf("replay: %v", err)
	}

	for _, p := range []*openedPage{alice, bob} {
		p.equalsReload(t)
	}
	// Closed rivers follow within seconds: at rest nothing differs.
	deadline := time.Now().Add(time.Minute)
	for {
		out, err := once(t, vars, "", "check")
		if err == nil && strings.HasSuffix(out, "differences 0\n") && !strings.HasPrefix(out, "rivers 0 ") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("check: %q, %v", out, err)
		}
	}
}

// shareOf writes some of an archive's posts into a file of its own and returns its path:
// about a quarter, or more of them the greater times is.
func shareOf(t *testing.T, file string, seed uint64, times int) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var posts []json.RawMessage
	if err := json.Unmarshal(text, &posts); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	chance := rand.New(rand.NewPCG(seed, 0))
	some := slices.DeleteFunc(posts, func(json.RawMessage) bool { return chance.IntN(4) >= times })
	text, err = json.Marshal(some)
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "archive.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// openedPage is one person's browser.
type openedPage struct {
	name string
	ctx  context.Context
}

// pagePatience is for a machine that does everything at once.
const pagePatience = 90 * time.Second

func openPage(t testing.TB, browser context.Context, url, name string) *openedPage {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	// The tab lives as long as the context it is opened with.
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("%s: open a tab: %v", name, err)
	}
	p := &openedPage{name: name, ctx: ctx}
	p.do(t,
		chromedp.Navigate(url+"/login"),
		chromedp.SendKeys(chromedp.CSS(`input[name=username]`), name),
		chromedp.SendKeys(chromedp.CSS(`input[name=password]`), "correct horse"),
		chromedp.Click(chromedp.CSS(`main form button`)),
	)
	p.await(t, `document.querySelector('form[action="/logout"]')`)
	return p
}

func (p *openedPage) do(t testing.TB, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, pagePatience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		t.Fatalf("%s: %v", p.name, err)
	}
}

// await waits until an expression is true, across loads of the page.
func (p *openedPage) await(t testing.TB, expression string) {
	t.Helper()
	deadline := time.Now().Add(pagePatience)
	for {
		// A poll that a load cut off may never answer: ask again soon.
		ctx, cancel := context.WithTimeout(p.ctx, 2*time.Second)
		_, err := chromedp.Run(ctx, chromedp.Poll[bool]("Boolean("+expression+")",
			chromedp.WithPollingInterval(20*time.Millisecond), chromedp.WithPollingTimeout(time.Second)))
		cancel()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: waiting for %s: %v", p.name, expression, err)
		}
	}
}

// entriesOf says what a page's first entries are, without what passes by itself:
// how long ago things were, and what the script makes of templates.
const entriesOf = `(page) => [...page.querySelectorAll('#river article')].slice(0, 25).map((article) => {
	const copy = article.cloneNode(true);
	copy.querySelectorAll('time, .box, .menu, [data-menu]').forEach((x) => x.remove());
	return article.dataset.post + ' ' + copy.textContent.replace(/\s+/g, ' ');
})`

// equalsReload waits until the page shows what a reload would, once its reader has asked
// for what is new: entries that are looked at do not move by themselves.
func (p *openedPage) equalsReload(t testing.TB) {
	t.Helper()
	const both = `document.querySelector('#news button').click() ?? fetch(location.href).then((r) => r.text()).then((html) => {
		return [(` + entriesOf + `)(new DOMParser().parseFromString(html, 'text/html')), (` + entriesOf + `)(document)];
	})`
	deadline := time.Now().Add(pagePatience)
	var d string // of the last comparison
	for {
		ctx, cancel := context.WithDeadline(p.ctx, deadline)
		got, err := chromedp.Run(ctx, chromedp.Evaluate[[][]string](both, chromedp.EvalAwaitPromise))
		cancel()
		if err != nil {
			t.Fatalf("%s: compare with a reload: %v (-reload +page):\n%s", p.name, err, d)
		}
		d = cmp.Diff(got[0], got[1])
		if d == "" && len(got[0]) > 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: the page differs from a reload (-reload +page):\n%s", p.name, d)
		}
	}
}
