package main

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"riverrun/migrations/testdb"
	"riverrun/web/webtest"
)

// BenchmarkLikeToOtherBrowser is from the click on "like" in one person's browser
// to the name under the post in another's, through everything: the form, a
// durable commit, the tiers, the bus, the socket, the page. Likes follow one
// another with pauses, as people's do. It reports the median and the slowest.
func BenchmarkLikeToOtherBrowser(b *testing.B) {
	vars := map[string]string{
		"RIVERRUN_DATA": testdb.Dir(b), "RIVERRUN_LISTEN": "127.0.0.1:0", "RIVERRUN_LOG_LEVEL": "warn",
	}
	server := background(b, vars)
	defer server.end(b)
	site := strings.TrimPrefix(server.said, "riverrun serves ")
	for _, name := range []string{"alice", "bob"} {
		out, err := once(b, vars, "correct horse\n", "account", "create", name)
		must(b, "created "+name+"\n", out, err)
	}
	browser := webtest.Chromium(b)
	alice, bob := openPage(b, browser, site, "alice"), openPage(b, browser, site, "bob")
	// await would take the promise itself for true, and the next load would end the request.
	if !evaluate[bool](b, alice, `fetch('/posts', {method: 'POST', body: new URLSearchParams({body: 'to like'})}).then((r) => r.ok)`) {
		b.Fatal("alice could not write the post")
	}
	for _, p := range []*openedPage{alice, bob} {
		p.do(b, chromedp.Navigate(site+"/everything"))
		p.await(b, `document.querySelector('article') && document.documentElement.dataset.live === '1'`)
	}
	// Both clocks are this machine's.
	const arm = `(() => {
		const line = document.querySelector('article .likes');
		window.seen = new Promise((done) => new MutationObserver((_, o) => {
			o.disconnect();
			done(performance.timeOrigin + performance.now());
		}).observe(line, {childList: true, subtree: true, characterData: true}));
		return true;
	})()`
	const click = `(() => {
		const at = performance.timeOrigin + performance.now();
		document.querySelector('article .acts form button').click();
		return at;
	})()`
	var took []float64
	for b.Loop() {
		evaluate[bool](b, bob, arm)
		began := evaluate[float64](b, alice, click)
		took = append(took, evaluate[float64](b, bob, `window.seen`)-began)
		// river.js takes clicks half a second apart for one double click.
		evaluate[bool](b, alice, `new Promise((done) => setTimeout(() => done(true), 600))`)
	}
	slices.Sort(took)
	b.ReportMetric(took[len(took)/2], "ms/median")
	b.ReportMetric(took[len(took)-1], "ms/slowest")
	b.ReportMetric(0, "ns/op") // mostly the pauses
}

func evaluate[T any](t testing.TB, p *openedPage, expression string) T {
	t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, pagePatience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatalf("%s: %s: %v", p.name, expression, err)
	}
	return v
}
