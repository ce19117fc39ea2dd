package web_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"riverrun/web/webtest"
)

// TestUploadsInABrowser: files are sent when they are chosen, pasted or dropped; one that is refused
// says so; the post is sent with those that stay, and open pages show pictures when they are made.
func TestUploadsInABrowser(t *testing.T) {
	t.Parallel()
	browser := webtest.Chromium(t)
	s := webtest.New(t, nil)
	s.Person("ann")
	dir := t.TempDir()
	file := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	a, b := s.Tab(browser, "ann"), s.Tab(browser, "somebody")
	a.SignIn("ann")
	a.Visit("/")
	a.Live()
	b.Visit("/everything")
	b.Live()
	choose := chromedp.CSS(`#composer .attach input`)
	a.Do(
		chromedp.SendKeys(chromedp.CSS(`#composer textarea`), "Fog on the lake"),
		chromedp.SetUploadFiles(choose, []string{file("lake.jpg", webtest.Photo(600, 400)), file("notes.txt", []byte("notes")), file("empty.txt", nil)}),
	)
	a.Await("two files and an error", `document.querySelectorAll('#compose .tile[data-code]').length === 2 &&
		document.querySelector('#compose .tile.wrong [role=alert]')?.textContent.includes('is empty')`)
	// A second look at the same form: a picture that is pasted, and one that is dropped on the page.
	webtest.Eval[bool](a, `(() => {
		const data = new DataTransfer();
		data.items.add(new File([Uint8Array.from([1, 2, 3])], 'pasted.bin'));
		document.querySelector('#compose textarea').dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
		const other = new DataTransfer();
		other.items.add(new File([Uint8Array.from([4, 5])], 'dropped.bin'));
		document.querySelector('main').dispatchEvent(new DragEvent('drop', { dataTransfer: other, bubbles: true, cancelable: true }));
		return true;
	})()`)
	a.Await("four files", `document.querySelectorAll('#compose .tile[data-code]').length === 4`)
	a.Do(
		chromedp.Click(chromedp.CSS(`#compose .tile.wrong .tool`)),
		chromedp.Click(chromedp.CSS(`#compose .tile:last-child .tool`)),
		chromedp.SendKeys(chromedp.CSS(`#compose .tile:first-child input:not([type])`), "A lake in fog"),
	)
	a.Await("three files", `document.querySelectorAll('#compose .tile').length === 3`)
	a.Do(chromedp.Click(chromedp.CSS(`#compose .send > button`)))
	code := a.CodeOf("Fog on the lake")
	a.Await("an empty form", `!document.querySelector('#compose .tile') && !document.querySelector('#compose textarea').value`)
	a.Shows(code, "body", "lake.jpg will be here in a moment")
	b.Shows(code, "body", "pasted.bin")
	s.MakePictures()
	for _, tab := range []*webtest.Tab{a, b} {
		tab.Await("the picture", `[...document.querySelectorAll('#p-`+code+` > .body .pic img:not(.blur)')].some((i) => i.alt === 'A lake in fog' && i.complete && i.naturalWidth > 0)`)
	}
	a.SaysNone("dropped.bin")

	// A comment that is only a picture, sent before the file has arrived.
	a.Do(chromedp.Click(chromedp.CSS(`#p-` + code + ` > .acts .talk`)))
	webtest.Eval[bool](a, `(() => {
		const box = document.querySelector('#p-`+code+`-box');
		new MutationObserver((_, observer) => {
			if (!box.querySelector('.tile')) return;
			observer.disconnect();
			box.querySelector('.send > button').click(); // the driver would press where the button was before
		}).observe(box, { childList: true, subtree: true });
		return true;
	})()`)
	a.Do(chromedp.SetUploadFiles(chromedp.CSS(`#p-`+code+`-box .attach input`), []string{file("cat.jpg", webtest.Photo(900, 900))}))
	a.Await("a comment", `document.querySelector('#p-`+code+` > .comments .coming, #p-`+code+` > .comments .pic')`)
	s.MakePictures()
	b.Await("its picture", `document.querySelector('#p-`+code+` > .comments .pic img')`)
	a.EqualsReload()
}
