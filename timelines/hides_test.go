package timelines

import (
	"strconv"
	"strings"
	"testing"
)

func FuzzCleanTerm(f *testing.F) {
	f.Add("go")
	f.Add("a b\tC")
	f.Fuzz(func(t *testing.T, term string) {
		cleaned, err := cleanTerm(term)
		if err != nil {
			return
		}
		again, err := cleanTerm(cleaned)
		if err != nil || again != cleaned {
			t.Fatalf("%q is stored as %q, and that as %q (%v)", term, cleaned, again, err)
		}
	})
}

// A hidden account, term or post is listed and moves the clock. Nothing changes for anybody
// else.
func TestHides(t *testing.T) {
	w := newTown(t)
	ctx := t.Context()
	ann, bob := w.user("ann"), w.user("bob")
	w.group(bob, "club", Public)
	post := w.post(bob, "hello")
	version := value[int64](w, `SELECT version FROM posts WHERE id = $1`, post.PostID)
	w.heard.take()

	do := map[string]func(bool) (Change, error){
		"a post": func(on bool) (c Change, err error) {
			id := int64(0)
			if on {
				id, c, err = w.Hides.HidePost(ctx, ann.ID, post.Code)
			} else {
				id, c, err = w.Hides.UnhidePost(ctx, ann.ID, post.Code)
			}
			if id != post.PostID {
				t.Errorf("a post: got id %d, want %d", id, post.PostID)
			}
			return c, err
		},
		"a person": func(on bool) (Change, error) {
			if on {
				return w.Hides.HideAccount(ctx, ann.ID, "bob")
			}
			return w.Hides.UnhideAccount(ctx, ann.ID, "bob")
		},
		"a group": func(on bool) (Change, error) {
			if on {
				return w.Hides.HideAccount(ctx, ann.ID, "club")
			}
			return w.Hides.UnhideAccount(ctx, ann.ID, "club")
		},
		"a tag": func(on bool) (Change, error) {
			if on {
				return w.Hides.HideTerm(ctx, ann.ID, " #Go ")
			}
			return w.Hides.UnhideTerm(ctx, ann.ID, "#go")
		},
		"words": func(on bool) (Change, error) {
			if on {
				return w.Hides.HideTerm(ctx, ann.ID, "Happy   end")
			}
			return w.Hides.UnhideTerm(ctx, ann.ID, "happy end")
		},
	}
	for what, set := range do {
		before, err := set(true)
		w.must(err)
		again, err := set(true)
		w.must(err)
		if before.Clock == 0 || again.Clock < before.Clock || before.PostID != 0 || len(before.Replace) != 0 {
			t.Errorf("hiding %s: got %+v, then %+v", what, before, again)
		}
		w.must(second(set(false)))
		w.must(second(set(false)))
	}
	for _, set := range do {
		w.must(second(set(true)))
	}
	accounts, err := w.Hides.Accounts(ctx, ann.ID, "", 10)
	w.must(err)
	posts, err := w.Hides.Posts(ctx, ann.ID, HiddenPost{}, 10)
	w.must(err)
	if len(accounts) != 2 || len(posts) != 1 || posts[0].Code != post.Code {
		t.Errorf("ann hides %+v and %+v", accounts, posts)
	}
	terms, err := w.Hides.Terms(ctx, ann.ID)
	w.must(err)
	w.same("terms", terms, []string{"#go", "happy end"})
	if events := w.heard.take(); len(events) != 0 {
		t.Errorf("hiding announced %+v, want nothing", events)
	}
	if now := value[int64](w, `SELECT version FROM posts WHERE id = $1`, post.PostID); now != version {
		t.Errorf("hiding moved the post's version from %d to %d", version, now)
	}
	// A person who may no longer read the post can still take the hide back, and learns
	// nothing else. The list does not show the post.
	w.setAccess(bob, "", Private)
	posts, err = w.Hides.Posts(ctx, ann.ID, HiddenPost{}, 10)
	w.must(err)
	if len(posts) != 0 {
		t.Errorf("the list shows %+v, which ann may not read", posts)
	}
	w.must(second(do["a post"](false)))
	_, _, err = w.Hides.UnhidePost(ctx, ann.ID, post.Code)
	w.fails("unhiding what is not hidden and not to be read", err, ErrNotFound)
	_, _, err = w.Hides.HidePost(ctx, ann.ID, post.Code)
	w.fails("hiding what is not to be read", err, ErrNotFound)
}

func TestHideRefused(t *testing.T) {
	w := newTown(t)
	ctx := t.Context()
	ann := w.user("ann")
	for term, code := range map[string]string{
		"": "term_empty", " ,.- # ": "term_empty", strings.Repeat("x", 51): "term_long", "a\x00b": "text_invalid",
		strings.Repeat("㌖", 20): "term_long", strings.Repeat("\ufdfa", 50): "term_long",
		"@bob": "term_person", " @Bob-the-2nd ": "term_person",
	} {
		_, err := w.Hides.HideTerm(ctx, ann.ID, term)
		w.invalid("hiding "+strconv.Quote(term), err, code)
	}
	// A text that only begins like a name counts as words.
	w.must(second(w.Hides.HideTerm(ctx, ann.ID, "@bob said")))
	w.must(second(w.Hides.UnhideTerm(ctx, ann.ID, "bob said")))
	// Marks that say nothing do not count, and what was hidden when more could be is
	// shown again.
	w.must(second(w.Hides.HideTerm(ctx, ann.ID, strings.Repeat("x", 50)+strings.Repeat("!", 50))))
	w.must(second(w.Hides.UnhideTerm(ctx, ann.ID, strings.Repeat("x", 50))))
	w.exec(`INSERT INTO hidden_terms (account_id, term) VALUES ($1, $2)`, ann.ID, strings.Repeat("x", 60))
	w.must(second(w.Hides.UnhideTerm(ctx, ann.ID, strings.Repeat("x", 60))))
	if n := value[int64](w, `SELECT count(*) FROM hidden_terms`); n != 0 {
		t.Errorf("%d words are still hidden, want none", n)
	}
	_, err := w.Hides.HideAccount(ctx, ann.ID, "ann")
	w.fails("hiding oneself", err, ErrForbidden)
	_, err = w.Hides.HideAccount(ctx, ann.ID, "nobody-here")
	w.fails("hiding nobody", err, ErrNotFound)
	_, _, err = w.Hides.HidePost(ctx, ann.ID, "0000000000")
	w.fails("hiding no post", err, ErrNotFound)
	for i := range maxHiddenTerms {
		w.exec(`INSERT INTO hidden_terms (account_id, term) VALUES ($1, $2)`, ann.ID, strconv.Itoa(i))
	}
	_, err = w.Hides.HideTerm(ctx, ann.ID, "one-more")
	w.invalid("one word too many", err, "hides_many")
	w.must(second(w.Hides.HideTerm(ctx, ann.ID, "7")))
	if n := value[int64](w, `SELECT count(*) FROM hidden_terms`); n != maxHiddenTerms {
		t.Errorf("%d words are hidden, want %d", n, maxHiddenTerms)
	}
}
