package web_test

import (
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"riverrun/timelines/files"
	"riverrun/web/webtest"
)

// TestAFormWithFilesOutlivesAFault checks that whatever happens to the files, the words that were
// typed are shown again or kept, and so are the files that came before.
func TestAFormWithFilesOutlivesAFault(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	v := s.Person("ann").Visitor()
	good := webtest.Upload{Name: "good.jpg", Content: webtest.Photo(30, 20)}

	// The disk is full.
	s.BlobsFull.Store(true)
	full := v.PostFiles("/posts", []webtest.Upload{good}, "body", "before a full disk").Wants(503).Has("before a full disk").Lacks("our mistake")
	if full.Header.Get("Retry-After") == "" {
		t.Error("nothing says when to try again")
	}
	v.PostFiles("/settings", []webtest.Upload{{Name: "me.jpg", Content: webtest.Photo(30, 20)}}, "title", "Ann", "about", "likes lakes").Wants(503).Has("likes lakes")
	s.BlobsFull.Store(false)

	// A draft is kept with the files that are good, and says which is not.
	v.PostFiles("/posts", []webtest.Upload{good, {Name: "empty.txt"}}, "keep", "1", "draft", "/", "body", "a draft").
		Wants(422).Has("“empty.txt” is empty", "a draft")
	d := draftAt(v, "/")
	if d.Body != "a draft" || len(d.Uploads) != 1 {
		t.Fatalf("the draft is %+v", d)
	}
	// The description of a picture is kept with it.
	v.Post("/drafts", "draft", "/", "body", "a draft", "upload", d.Uploads[0], "alt."+d.Uploads[0], "said of it").Wants(303)
	v.Get("/posts/new").Wants(200).Has("said of it")
	v.Header.Set("Accept", "application/json")
	v.Get("/files/" + d.Uploads[0] + "/state").Wants(200).Has("said of it")

	// The same file named thousands of times is one file.
	many := []string{"body", "many"}
	for range 5000 {
		many = append(many, "upload", d.Uploads[0])
	}
	v.Post("/posts", many...).Wants(200)
	v.Get("/ann").Wants(200).Has("good.jpg")
}

// TestUploadsAreBoundedBeforeTheyAreStored: who has too many files that are not attached, or sends
// too many at once, is refused before anything goes to the disk.
func TestUploadsAreBoundedBeforeTheyAreStored(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	v := s.Person("ann").Visitor()
	v.Header.Set("Accept", "application/json")
	one := []webtest.Upload{{Name: "one.txt", Content: []byte("one")}}

	// Files that are on their way.
	var sending []*io.PipeWriter
	answers := make(chan int, 4)
	for range 4 {
		body, pipe := io.Pipe()
		form := multipart.NewWriter(pipe)
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, v.Base+"/files", body)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", form.FormDataContentType())
		r.Header.Set("Accept", "application/json")
		go func() {
			reply, err := v.Client.Do(r)
			if err != nil {
				answers <- 0
				return
			}
			reply.Body.Close()
			answers <- reply.StatusCode
		}()
		part, err := form.CreateFormFile("file", "slow.txt")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := part.Write(make([]byte, 64<<10)); err != nil {
			t.Fatal(err)
		}
		sending = append(sending, pipe)
	}
	webtest.Await(t, "four files that arrive", func() bool { return s.BlobsPut.Load() == 4 })
	v.PostFiles("/files", one).Wants(429)
	for _, pipe := range sending {
		pipe.CloseWithError(io.ErrUnexpectedEOF)
	}
	for range sending {
		if status := <-answers; status == http.StatusOK {
			t.Error("half a form was taken")
		}
	}
	webtest.Await(t, "another", func() bool { return v.PostFiles("/files", one).Status == http.StatusOK })

	if _, err := s.DB.Primary.Exec(t.Context(), `
		INSERT INTO files (owner_id, code, state, bytes, name, sum)
		SELECT owner_id, translate(lpad(n::text, 10, '0'), 'ilou', ''), 'download', 1, 'x', sum
		FROM (SELECT owner_id, sum FROM files LIMIT 1) f, generate_series(1, $1::int) n`, files.Loose); err != nil {
		t.Fatal(err)
	}
	put := s.BlobsPut.Load()
	v.PostFiles("/files", one).Wants(422).Has(fmt.Sprint(files.Loose))
	if s.BlobsPut.Load() != put {
		t.Error("the store was given a file that was refused")
	}
}

// TestAddressesThatNobodyMade: what cannot be a code, a place or an endpoint is nothing that is there.
func TestAddressesThatNobodyMade(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	v := s.Person("ann").Visitor()
	for _, bad := range []string{"%00", "%ff", "a%00b", "%e2%80", strings.Repeat("x", 300)} {
		for _, address := range []string{"/files/%s", "/files/%s/full", "/files/%s/state", "/files/0000000000/%s", "/p/%s/preview", "/p/%s/history", "/drafts/edit?place=%s"} {
			v.Get(fmt.Sprintf(address, bad)).Wants(404)
		}
		v.Post(fmt.Sprintf("/files/%s/discard", bad)).Wants(404)
	}
	for _, bad := range []string{"\x00", "\xff", "a\x00b", "//x"} {
		v.Post("/drafts/discard", "draft", bad).Wants(404)
		v.Post("/push/remove", "endpoint", bad).Wants(303)
		for _, a := range []*webtest.Answer{
			v.Post("/drafts", "draft", "/", "body", "x", "key", bad, "upload", bad),
			v.Post("/posts", "body", "x", "key", bad, "upload", bad, "alt."+bad, bad),
			v.PostFiles("/posts", []webtest.Upload{{Name: bad + ".txt", Content: []byte("x")}}, "body", "an odd name"),
		} {
			if a.Status >= 500 {
				t.Errorf("%s with %q: %d", a.What, bad, a.Status)
			}
		}
	}
}

// TestTheButtonPressedWhileFilesArrive: "Keep as draft" keeps, and does not post, when the last file
// has arrived. Another device then has the file too, also if it had text of its own.
func TestTheButtonPressedWhileFilesArrive(t *testing.T) {
	t.Parallel()
	browser := webtest.Chromium(t)
	s := webtest.New(t, nil)
	ann := s.Person("ann")
	desk, phone := s.Tab(browser, "desk"), s.Tab(browser, "phone")
	for _, b := range []*webtest.Tab{desk, phone} {
		b.SignIn("ann")
	}
	desk.Visit("/posts/new")
	phone.Visit("/")
	phone.Live()
	webtest.Eval[bool](desk, `(() => {
		const { send } = XMLHttpRequest.prototype;
		XMLHttpRequest.prototype.send = function (...of) { window.release = () => send.apply(this, of); };
		const list = new DataTransfer();
		list.items.add(new File(['notes'], 'notes.txt'));
		const field = document.querySelector('#compose .attach input');
		field.files = list.files;
		field.dispatchEvent(new Event('change', { bubbles: true }));
		return true;
	})()`)
	desk.Await("the file on its way", `!!window.release`)
	desk.Do(chromedp.SendKeys(chromedp.CSS(`#compose textarea`), "not yet"))
	webtest.Eval[bool](desk, `(document.querySelector('#compose [name=keep]').click(), true)`)
	webtest.Eval[bool](desk, `(release(), true)`)
	webtest.Await(t, "the draft", func() bool {
		d := draftAt(ann.Visitor(), "/")
		return d.Body == "not yet" && len(d.Uploads) == 1
	})
	s.Visitor().Get("/ann").Wants(200).Lacks("not yet")
	phone.Do(chromedp.SendKeys(chromedp.CSS(`#compose textarea`), "my own"))
	phone.Await("the file", `document.querySelector('#compose .tile[data-code]')?.textContent.includes('notes.txt')`)
}
