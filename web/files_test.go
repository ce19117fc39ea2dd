package web_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"image"
	_ "image/jpeg" // decodes what is served
	"image/png"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"riverrun/timelines"
	"riverrun/timelines/links"
	"riverrun/web/view"
	"riverrun/web/webtest"
)

var fileAddress = regexp.MustCompile(`(?:src|href)="(/files/[^"]+)"`)

func filesOn(html string) (found []string) {
	for _, m := range fileAddress.FindAllStringSubmatch(html, -1) {
		found = append(found, m[1])
	}
	return found
}

func TestAPostWithPicturesWithoutScripts(t *testing.T) {
	s := webtest.New(t, nil)
	anna, bob := s.Person("anna"), s.Person("bob")
	v, other, nobody := anna.Visitor(), bob.Visitor(), s.Visitor()
	lake := webtest.Photo(1500, 1000)
	list := []webtest.Upload{{Name: "lake.jpg", Content: lake}, {Name: `C:\notes.txt`, Content: []byte("<script>alert(1)</script>")}}
	v.PostFiles("/posts", list, "body", "A lake", "key", "k").LeadsTo("/")
	// A reload sends everything once more, and makes nothing.
	v.PostFiles("/posts", list, "body", "A lake", "key", "k").LeadsTo("/")
	page := v.Get("/anna").Wants(200).Has("A lake", "lake.jpg will be here in a moment", "notes.txt")
	if n := strings.Count(page.Body, `class="entry"`); n != 1 {
		t.Fatalf("%d posts, want 1", n)
	}
	if strings.Contains(page.Body, `<img src="/files`) {
		t.Errorf("a picture that cannot be fetched yet stands on the page:\n%s", page.Body)
	}
	open := s.Open(bob, "/anna")
	s.MakePictures()
	open.Until("the picture", func(f webtest.Frame) bool { return strings.Contains(f.Parts["body"]+f.HTML, `/medium"`) })

	page = other.Get("/anna").Wants(200).Has(`width="1500" height="1000"`, `alt="Picture: lake.jpg"`, "data:image/png;base64,", "25 B")
	addresses := filesOn(page.Body)
	if len(addresses) < 3 {
		t.Fatalf("addresses %q", addresses)
	}
	for _, address := range addresses {
		reply := nobody.Get(address).Wants(200)
		h := reply.Header
		if got := h.Get("Cache-Control"); got != "private, no-cache" {
			t.Errorf("%s: Cache-Control %q", address, got)
		}
		if got := h.Get("Content-Security-Policy"); !strings.Contains(got, "sandbox") || h.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: policy %q", address, got)
		}
		switch h.Get("Content-Type") {
		case "image/jpeg":
			if _, _, err := image.Decode(strings.NewReader(reply.Body)); err != nil {
				t.Errorf("%s: %v", address, err)
			}
		case "application/octet-stream":
			if got := h.Get("Content-Disposition"); got != `attachment; filename=notes.txt` {
				t.Errorf("%s: %q", address, got)
			}
		default:
			t.Errorf("%s: type %q", address, h.Get("Content-Type"))
		}
		nobody.Header.Set("If-None-Match", h.Get("ETag"))
		nobody.Get(address).Wants(http.StatusNotModified)
		nobody.Header.Del("If-None-Match")
	}
	nobody.Get("/files/0000000000").Wants(404)
	nobody.Get("/files/x/full").Wants(404)
	nobody.Get(addresses[0] + "/upload").Wants(404)

	// Feeds name them for programs.
	base := s.HTTP.URL
	var atom view.AtomFeed
	if err := xml.Unmarshal([]byte(nobody.Get("/feeds/anna.atom").Wants(200).Body), &atom); err != nil {
		t.Fatal(err)
	}
	for i, kind := range []string{"image/jpeg", "application/octet-stream"} {
		link := atom.Entries[0].Links[i+1]
		if link.Rel != "enclosure" || link.Type != kind || link.Length == 0 || nobody.Get(strings.TrimPrefix(link.Href, base)).Status != 200 {
			t.Errorf("enclosure %+v", link)
		}
	}
	nobody.Get("/feeds/anna.json").Wants(200).Has(`"mime_type": "image/jpeg"`)

	// People who may not read the post any more get nothing, whatever they kept.
	post := regexp.MustCompile(`data-post="(\w+)"`).FindStringSubmatch(page.Body)[1]
	v.Post("/p/"+post+"/edit", "body", "A lake", "to", timelines.ToEyes)
	for _, address := range addresses {
		other.Header.Set("If-None-Match", `"`+strings.TrimPrefix(address, "/files/")+`."`)
		other.Get(address).Wants(404)
		nobody.Get(address).Wants(404)
		v.Get(address).Wants(200)
	}
	// The edit form says which files there are; one that is unchecked goes.
	form := v.Get("/p/"+post+"/edit").Wants(200).Has(`name="upload"`, "lake.jpg", "notes.txt")
	codes := regexp.MustCompile(`name="upload" value="(\w+)"`).FindAllStringSubmatch(form.Body, -1)
	v.Post("/p/"+post+"/edit", "body", "A lake", "files", "1", "upload", codes[0][1], "alt."+codes[0][1], "Morning fog").LeadsTo("/p/" + post)
	v.Get("/p/" + post).Wants(200).Has(`alt="Morning fog"`).Lacks("notes.txt")
	v.Get("/files/" + codes[1][1]).Wants(404)
	v.Post("/p/" + post + "/delete")
	v.Get("/files/" + codes[0][1]).Wants(404)
}

func TestFilesOfACommentWithoutScripts(t *testing.T) {
	s := webtest.New(t, nil)
	anna, bob := s.Person("anna"), s.Person("bob")
	post := anna.Post("hello")
	v := bob.Visitor()
	v.PostFiles("/p/"+post.Code+"/comments", []webtest.Upload{{Name: "cat.png", Content: webtest.Photo(30, 20)}}, "key", "k")
	s.MakePictures()
	page := anna.Visitor().Get("/p/" + post.Code).Wants(200).Has(`alt="Picture: cat.png"`)
	address := filesOn(page.Body)[0]
	anna.Visitor().Get(address).Wants(200)
	var id int64
	if err := s.DB.Primary.QueryRow(t.Context(), `SELECT id FROM comments`).Scan(&id); err != nil {
		t.Fatal(err)
	}
	edit := view.CommentURL(post.Code, id, "edit")
	v.Get(string(edit)).Wants(200).Has(`name="upload"`, "cat.png")
	v.Post(string(edit), "body", "a cat", "files", "1")
	v.Get("/p/" + post.Code).Wants(200).Lacks("cat.png")
	anna.Visitor().Get(address).Wants(404)
}

// TestAFormWithABadFileLosesNothing: the form comes again with its text and with the good files,
// and each bad one has its error.
func TestAFormWithABadFileLosesNothing(t *testing.T) {
	s := webtest.New(t, nil)
	anna := s.Person("anna")
	v := anna.Visitor()
	good := webtest.Upload{Name: "good.jpg", Content: webtest.Photo(30, 20)}
	var wide bytes.Buffer
	if err := png.Encode(&wide, image.NewGray(image.Rect(0, 0, 70_000, 1))); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name    string
		content []byte
		says    string
	}{
		{"huge.bin", make([]byte, 10_000_001), "“huge.bin” is too large. The limit is 10 MB."},
		{"empty.txt", nil, "“empty.txt” is empty."},
		{"wide.png", wide.Bytes(), "“wide.png” has too many pixels"},
		{"script.gif", []byte("GIF89a/*\x00*/=1;alert(1)//"), "“script.gif” has too many pixels"},
		{"cut.jpg", []byte("\xff\xd8\xff\xe0\x00\x10JFIF"), "“cut.jpg” is damaged"},
		{"arithmetic.jpg", []byte("\xff\xd8\xff\xc9\x00\x0b\x08\x00\x08\x00\x08\x01\x01\x11\x00"), "“arithmetic.jpg” is a picture in a form"},
		{"<b>.txt\u202e", nil, "“&lt;b&gt;.txt"},
	} {
		again := v.PostFiles("/posts", []webtest.Upload{good, {Name: tc.name, Content: tc.content}}, "body", "Written with care", "key", "k").Wants(422)
		again.Has("Written with care", "good.jpg", `name="upload"`, tc.says)
	}
	// Files after one that is refused come too.
	v.PostFiles("/posts", []webtest.Upload{{Name: "none.txt"}, good, {Name: "nothing.txt"}}, "body", "Written with care").
		Wants(422).Has("“none.txt” is empty. “nothing.txt” is empty.", "good.jpg", `name="upload"`)
	// As many as may be, and one more.
	many := make([]webtest.Upload, 21)
	for i := range many {
		many[i] = webtest.Upload{Name: fmt.Sprintf("%d.txt", i), Content: []byte{byte(i)}}
	}
	v.PostFiles("/posts", many, "body", "many").Wants(422).Has("more than 20 files", "many")
	v.PostFiles("/posts", many[:20], "body", "many").LeadsTo("/")
	v.Get("/anna").Wants(200).Has("0.txt", "19.txt").Lacks("Written with care")

	// Someone who is not signed in is asked to, with the text kept; nothing is stored.
	s.Visitor().PostFiles("/posts", []webtest.Upload{good}, "body", "Not lost").Wants(401).Has("Not lost")
	// A form of very many empty fields.
	many = nil
	v.PostFiles("/posts", many, slices.Repeat([]string{"x", ""}, 10_000)...).Wants(413)
	// Malformed.
	for _, body := range []string{"", "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\nabc"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, v.Base+"/posts", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "multipart/form-data; boundary=x")
		reply, err := v.Client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		reply.Body.Close()
		if reply.StatusCode != 400 {
			t.Errorf("%q: status %d, want 400", body, reply.StatusCode)
		}
	}
}

// TestUploadsBeforeTheForm is what upload.js does.
func TestUploadsBeforeTheForm(t *testing.T) {
	s := webtest.New(t, nil)
	anna, bob := s.Person("anna"), s.Person("bob")
	v, other := anna.Visitor(), bob.Visitor()
	v.Header.Set("Accept", "application/json")
	var made []struct{ Code, Name, State string }
	reply := v.PostFiles("/files", []webtest.Upload{{Name: "lake.jpg", Content: webtest.Photo(600, 500)}}, "viewer", "anna").Wants(200)
	if err := json.Unmarshal([]byte(reply.Body), &made); err != nil || len(made) != 1 || made[0].State != "waiting" {
		t.Fatalf("%v %s", err, reply.Body)
	}
	code := made[0].Code
	v.Get("/files/" + code + "/thumb").Wants(404)
	s.MakePictures()
	v.Get("/files/" + code + "/state").Wants(200).Has(`"state":"picture"`)
	v.Get("/files/" + code + "/thumb").Wants(200)
	other.Get("/files/" + code + "/thumb").Wants(404)
	other.Get("/files/" + code + "/state").Wants(404)
	other.Post("/files/" + code + "/discard").Wants(404)
	other.Post("/posts", "body", "stolen", "upload", code).Wants(422)
	v.Post("/posts", "body", "", "upload", code, "upload", code).Wants(200)
	other.Get("/files/" + code + "/thumb").Wants(200)
	v.Post("/files/" + code + "/discard").Wants(404)
	other.Get("/anna").Wants(200).Has("Picture: lake.jpg")

	v.PostFiles("/files", nil).Wants(400)
	v.PostFiles("/files", []webtest.Upload{{Name: "a", Content: nil}}).Wants(422).Has("is empty")
	v.PostFiles("/files", []webtest.Upload{{Name: "a", Content: []byte("a")}}, "viewer", "bob").Wants(409)
	if err := json.Unmarshal([]byte(v.PostFiles("/files", []webtest.Upload{{Name: "b", Content: []byte("b")}}).Wants(200).Body), &made); err != nil {
		t.Fatal(err)
	}
	v.Post("/files/" + made[0].Code + "/discard").Wants(200)
	v.Get("/files/" + made[0].Code).Wants(404)
}

func TestPicturesOfAccountsOnPages(t *testing.T) {
	s := webtest.New(t, nil)
	anna, bob := s.Person("anna"), s.Person("bob")
	v, other := anna.Visitor(), bob.Visitor()
	anna.Post("hello")
	v.Post("/groups", "name", "club", "title", "Club", "access", "public")
	open := s.Open(bob, "/anna")
	answer := v.PostFiles("/settings", []webtest.Upload{{Name: "me.jpg", Content: webtest.Photo(300, 200)}}, "title", "Anna", "about", "Likes *lakes*").Wants(303)
	v.Get(answer.Header.Get("Location")).Wants(200).Has("in a moment", "data-await", "Likes *lakes*").Lacks("<img")
	s.MakePictures()
	open.Until("the face", func(f webtest.Frame) bool { return strings.Contains(f.Parts["body"]+f.HTML, "/avatar-small") })
	page := other.Get("/anna").Wants(200).Has("/avatar-small", "/avatar-large")
	first := filesOn(page.Body)[0]
	if got := s.Visitor().Get(first).Wants(200).Header.Get("Cache-Control"); got != "public, max-age=86400, immutable" {
		t.Errorf("Cache-Control %q", got)
	}
	v.PostFiles("/club/manage", []webtest.Upload{{Name: "club.png", Content: webtest.Photo(20, 30)}}).Wants(303)
	s.MakePictures()
	other.Get("/club").Wants(200).Has("/avatar-large")
	put := s.BlobsPut.Load()
	other.PostFiles("/club/manage", []webtest.Upload{{Name: "x.png", Content: webtest.Photo(20, 30)}}).Wants(403)
	if got := s.BlobsPut.Load(); got != put {
		t.Errorf("a stranger had %d files stored", got-put)
	}
	other.Post("/club/manage", "remove", "1").Wants(403)
	other.PostFiles("/anna/manage", []webtest.Upload{{Name: "x.png", Content: webtest.Photo(20, 30)}}).Wants(404)
	// Text typed beside a wrong picture is not lost, wherever the form stands.
	for _, form := range []string{"/settings", "/welcome/you", "/club/manage"} {
		v.PostFiles(form, []webtest.Upload{{Name: "notes.txt", Content: []byte("no")}}, "title", "Another", "about", "Half a life").
			Wants(422).Has("is not a picture", `value="Another"`, "Half a life")
		v.PostFiles(form, nil, "title", "", "about", "Half a life").Wants(422).Has("Half a life")
	}
	v.PostFiles("/settings", nil, "remove", "1", "title", "Anna A.").LeadsTo("/settings?saved")
	v.Get("/settings").Wants(200).Has(`value="Anna A."`, "Likes *lakes*")
	other.Get("/anna").Wants(200).Lacks(first)
	s.Visitor().Get(first).Wants(404)
}

// TestPictureOfACardIsItsReaders checks that people who may not read the post any more get
// nothing of the picture of its card, whatever copy they have.
func TestPictureOfACardIsItsReaders(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	v, other := s.Person("anna").Visitor(), s.Visitor()
	const page = "https://example.org/lake"
	v.Post("/posts", "body", "look: "+page).LeadsTo("/")
	code := v.Get("/anna").Wants(200).Code()
	address := "/p/" + code + "/preview"
	other.Get(address).Wants(404)
	sum, n, err := s.Blobs.Put(t.Context(), strings.NewReader("a picture"), 100)
	if err != nil {
		t.Fatal(err)
	}
	var id int64
	if err := s.DB.Primary.QueryRow(t.Context(), `SELECT id FROM links WHERE url = $1`, page).Scan(&id); err != nil {
		t.Fatal(err)
	}
	card := links.Page{Title: "A lake", Host: "example.org", Picture: &sum, Bytes: n, Width: 4, Height: 3, Type: "image/png"}
	if err := s.Store.Links.Record(t.Context(), id, card); err != nil {
		t.Fatal(err)
	}
	reply := other.Get(address).Wants(200).Has("a picture")
	other.Header.Set("If-None-Match", reply.Header.Get("ETag"))
	other.Get(address).Wants(http.StatusNotModified)
	v.Post("/p/"+code+"/edit", "body", "look: "+page, "to", timelines.ToEyes).Wants(303)
	other.Get(address).Wants(404).Lacks("a picture")
	v.Get(address).Wants(200)
	v.Post("/p/"+code+"/edit", "body", "do not look").Wants(303)
	v.Get(address).Wants(404)
}
