package web_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"riverrun/web/webtest"
)

// A page that did not change is not sent again, and one that changed in anything is.
func TestUnchangedPage(t *testing.T) {
	s := webtest.New(t, nil)
	ann, bob := s.Person("ann"), s.Person("bob")
	post := bob.Post("A boat on the lake")
	bob.Comment(post.Code, "It leaks")
	for _, address := range []string{"/bob", "/everything", "/p/" + post.Code, "/", "/filter/discussions", "/filter/mine"} {
		reader := ann.Visitor()
		had := reader.Get(address).Wants(http.StatusOK)
		tag := had.Header.Get("ETag")
		if !strings.HasPrefix(tag, "W/") {
			t.Fatalf("%s has the tag %q", address, tag)
		}
		reader.Header.Set("If-None-Match", tag)
		if again := reader.Get(address).Wants(http.StatusNotModified); again.Body != "" || again.Header.Get("ETag") != tag {
			t.Errorf("%s: a tag of %q, and %d bytes", address, again.Header.Get("ETag"), len(again.Body))
		}
	}

	reader, page := ann.Visitor(), "/p/"+post.Code
	unchanged := func(after string) {
		t.Helper()
		tag := reader.Get(page).Header.Get("ETag")
		reader.Header.Set("If-None-Match", tag)
		reader.Get(page).Wants(http.StatusNotModified)
	}
	changed := func(after string) {
		t.Helper()
		if a := reader.Get(page); a.Status != http.StatusOK {
			t.Fatalf("after %s the page is said to be unchanged", after)
		}
		unchanged(after)
	}
	unchanged("nothing")
	bob.Comment(post.Code, "It floats")
	changed("a comment")
	ann.Visitor().Post(page + "/like").Wants(http.StatusSeeOther)
	changed("a like")
	bob.Visitor().Post("/settings", "title", "Robert").Wants(http.StatusSeeOther)
	changed("a new name")
	reader.Header.Set("Accept-Language", "ru")
	changed("another language")
	reader.Header.Set("If-None-Match", bob.Visitor().Get(page).Header.Get("ETag"))
	reader.Get(page).Wants(http.StatusOK) // what bob saw
	unchanged("bob's")
	ann.Visitor().Post("/bob/ban").Wants(http.StatusSeeOther)
	if a := reader.Get(page); a.Status == http.StatusNotModified {
		t.Error("after a ban the page is said to be unchanged")
	}
}

// The form of a page that comes from the browser's cache has a key of before. A post that
// it makes is made once, and the next one is not lost.
func TestKeyOfAnUnchangedPage(t *testing.T) {
	s := webtest.New(t, nil)
	ann := s.Person("ann").Visitor()
	first := newKey(ann.Get("/"))
	if again := newKey(ann.Get("/")); again != first {
		t.Errorf("the same page has the keys %q and %q", first, again)
	}
	ann.Post("/posts", "body", "Words", "key", first).Wants(http.StatusSeeOther)
	ann.Post("/posts", "body", "Words", "key", first).Wants(http.StatusSeeOther)
	page := ann.Get("/")
	if n := strings.Count(page.Body, "<article"); n != 1 {
		t.Errorf("%d posts, want 1", n)
	}
	second := newKey(page)
	if second == first {
		t.Error("the page with the post has the key of the page without it")
	}
	ann.Post("/posts", "body", "More words", "key", second).Wants(http.StatusSeeOther)
	ann.Get("/").Has("Words", "More words")

	post := "/p/" + ann.Get("/").Code()
	key := newKey(ann.Get(post))
	ann.Post(post+"/comments", "body", "And more", "key", key).Wants(http.StatusSeeOther)
	if again := newKey(ann.Get(post)); again == key {
		t.Error("the page with the comment has the key of the page without it")
	}
}

// A page is compressed once while it does not change, and each client gets its own page in an encoding
// that it accepts.
func TestPackedPages(t *testing.T) {
	s := webtest.New(t, nil)
	ann, bob := s.Person("ann"), s.Person("bob")
	ann.Post(strings.Repeat("A heron above the weir. ", 100))
	for _, accept := range []string{"zstd", "gzip"} {
		first := carry(ann.Visitor(), "GET", "/everything", accept)
		hits := s.Server.PackedUse().Hits
		again := carry(ann.Visitor(), "GET", "/everything", accept)
		if use := s.Server.PackedUse(); use.Hits != hits+1 || use.Bytes == 0 || !bytes.Equal(first.wire, again.wire) {
			t.Errorf("%s: %+v after %d hits, and the same bytes: %v", accept, use, hits, bytes.Equal(first.wire, again.wire))
		}
		other := carry(bob.Visitor(), "GET", "/everything", accept)
		if !bytes.Contains(first.body, []byte(`data-viewer="ann"`)) || !bytes.Contains(other.body, []byte(`data-viewer="bob"`)) {
			t.Errorf("%s: ann or bob got another's page", accept)
		}
		ann.Post("A stork, " + accept)
		if next := carry(ann.Visitor(), "GET", "/everything", accept); !bytes.Contains(next.body, []byte("A stork, "+accept)) {
			t.Errorf("%s: the page of before came again", accept)
		}
	}
	// A header may be long, and would be kept with the page.
	before := s.Server.PackedUse().Bytes
	carry(ann.Visitor(), "GET", "/everything", "zstd, "+strings.Repeat("x", 100))
	if now := s.Server.PackedUse().Bytes; now != before {
		t.Errorf("a page was kept with a long header: %d bytes, %d before", now, before)
	}
	if plain := carry(ann.Visitor(), "GET", "/everything", ""); !bytes.Contains(plain.body, []byte(`data-viewer="ann"`)) {
		t.Error("without compression another page came")
	}
}

// A page may have a key once more though its form was sent: the post is gone, or stands elsewhere. Another
// text is another form then, and the same text counts anew when its post is gone.
func TestKeyOfAPageThatIsAsBefore(t *testing.T) {
	s := webtest.New(t, nil)
	ann := s.Person("ann").Visitor()
	key := newKey(ann.Get("/"))
	ann.Post("/posts", "body", "Words", "key", key).Wants(http.StatusSeeOther)
	first := "/p/" + ann.Get("/").Code()
	ann.Post("/posts", "body", "Other words", "key", key).Wants(http.StatusSeeOther)
	ann.Get("/").Has("Words", "Other words")
	ann.Post(first + "/delete").Wants(http.StatusSeeOther)
	ann.Get("/").Lacks(">Words<")
	for range 2 {
		ann.Post("/posts", "body", "Words", "key", key).Wants(http.StatusSeeOther)
	}
	if n := strings.Count(ann.Get("/").Has(">Words<", "Other words").Body, "<article"); n != 2 {
		t.Errorf("%d posts, want 2", n)
	}
}
