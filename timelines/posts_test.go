package timelines

import (
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
)

// standsIn returns the names "kind of owner" of the timelines that hold the
// post, and whether those in posts.decisive.
func (w *town) standsIn(post int64) (all, decisive []string) {
	w.Helper()
	read := func(where string) []string {
		rows, err := w.pool.Query(w.Context(), `
			SELECT t.kind || coalesce(' of ' || a.name, '')
			FROM timelines t LEFT JOIN accounts a ON a.id = t.their_id AND t.kind NOT IN ('post', 'everything')
			WHERE `+where+` ORDER BY t.kind, a.name`, post)
		w.must(err)
		names, err := pgx.CollectRows(rows, pgx.RowTo[string])
		w.must(err)
		return names
	}
	return read(`t.id IN (SELECT timeline_id FROM timeline_entries WHERE post_id = $1 AND NOT withdrawn)`),
		read(`t.id = ANY((SELECT decisive FROM posts WHERE id = $1)::bigint[])`)
}

func TestCreatePost(t *testing.T) {
	w := newTown(t)
	bob, ann, cid := w.user("bob"), w.user("ann"), w.user("cid")
	w.group(ann, "open", Public)
	w.group(ann, "guarded", Protected)
	w.group(ann, "closed", Private)
	w.subscribe(bob, "guarded")
	w.setAccess(cid, "", Private)
	w.heard.take()
	for _, tc := range []struct {
		name     string
		author   Account
		to       []string
		all      string
		decisive string
		public   bool
	}{
		{
			"own feed by default", bob, nil,
			"discussions of bob, everything, feed of bob, post", "feed of bob",
			true,
		},
		{
			"own feed by name", bob,
			[]string{"bob", " bob ", ""},
			"discussions of bob, everything, feed of bob, post", "feed of bob",
			true,
		},
		{
			"a private feed", cid, nil,
			"discussions of cid, everything, feed of cid, post", "feed of cid",
			false,
		},
		{
			"a public group, by no member", bob,
			[]string{"open"},
			"discussions of bob, everything, group of open, post", "group of open",
			true,
		},
		{
			"a guarded group, by a member", bob,
			[]string{"guarded"},
			"discussions of bob, everything, group of guarded, post", "group of guarded",
			false,
		},
		{
			"a closed group, by its administrator", ann,
			[]string{"closed"},
			"discussions of ann, everything, group of closed, post", "group of closed",
			false,
		},
		{
			"a direct", bob,
			[]string{"ann"},
			"directs of ann, directs of bob, discussions of bob, notifications of ann, post", "directs of ann, directs of bob",
			false,
		},
		{
			"a direct to two", bob,
			[]string{"ann", "cid"},
			"directs of ann, directs of bob, directs of cid, discussions of bob, notifications of ann, notifications of cid, post",
			"directs of ann, directs of bob, directs of cid",
			false,
		},
		{
			"all at once", bob,
			[]string{"ann", "guarded", "bob"},
			"directs of ann, directs of bob, discussions of bob, everything, feed of bob, group of guarded, notifications of ann, post",
			"directs of ann, directs of bob, feed of bob, group of guarded",
			true,
		},
	} {
		c, err := w.Posts.Create(t.Context(), NewPost{Author: tc.author.ID, Body: "hello\r\n", To: tc.to})
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		all, decisive := w.standsIn(c.PostID)
		w.same(tc.name+": stands in", strings.Join(all, ", "), tc.all)
		w.same(tc.name+": decisive", strings.Join(decisive, ", "), tc.decisive)
		w.same(tc.name+": public", w.isPublic(c.PostID), tc.public)
		entered := value[[]int64](w, `SELECT array_agg(timeline_id ORDER BY timeline_id) FROM timeline_entries WHERE post_id = $1`, c.PostID)
		w.same(tc.name+": change", c, Change{Actor: tc.author.ID, PostID: c.PostID, Code: c.Code, Touched: entered})
		w.same(tc.name+": announced", w.heard.take(), []Event{Touched{PostID: c.PostID, Timelines: entered}})
		id, err := w.Posts.ID(t.Context(), strings.ToUpper(c.Code))
		if err != nil || id != c.PostID {
			t.Errorf("%s: PostID(%q): got %d, %v; want %d", tc.name, c.Code, id, err, c.PostID)
		}
		body, err := w.Posts.Body(t.Context(), tc.author.ID, c.Code)
		if err != nil || body != "hello" {
			t.Errorf("%s: PostBody: got %q, %v; want %q", tc.name, body, err, "hello")
		}
	}
	w.sound()
}

func TestCreatePostErrors(t *testing.T) {
	w := newTown(t)
	bob, ann := w.user("bob"), w.user("ann")
	w.group(ann, "guarded", Protected)
	w.group(ann, "closed", Private)
	crowd := []string{}
	for range MaxDestinations + 1 {
		crowd = append(crowd, "x"+newCode())
	}
	for _, tc := range []struct {
		name        string
		post        NewPost
		code, value string
	}{
		{"nothing said", NewPost{Body: " \n"}, "body_empty", ""},
		{"too much said", NewPost{Body: strings.Repeat("я", MaxPostRunes+1)}, "body_long", ""},
		{"long key", NewPost{Body: "a", Key: strings.Repeat("k", 101)}, "key_long", ""},
		{"nobody", NewPost{Body: "a", To: []string{"bob", "nobody", "ann"}}, "to_unknown", "nobody"},
		{"no name", NewPost{Body: "a", To: []string{"b\x00b"}}, "to_unknown", "b\x00b"},
		{"a guarded group", NewPost{Body: "a", To: []string{"bob", "guarded"}}, "to_forbidden", "guarded"},
		{"a closed group", NewPost{Body: "a", To: []string{"closed"}}, "to_forbidden", "closed"},
		{"a crowd", NewPost{Body: "a", To: crowd}, "to_many", ""},
	} {
		tc.post.Author = bob.ID
		_, err := w.Posts.Create(t.Context(), tc.post)
		w.invalid(tc.name, err, tc.code)
		if bad, ok := err.(*InvalidError); ok {
			w.same(tc.name+": value", bad.Value, tc.value)
		}
	}
	_, err := w.Posts.Create(t.Context(), NewPost{Author: 999, Body: "a"})
	w.fails("by nobody", err, ErrNotFound)
	w.same("posts", value[int](w, `SELECT count(*)::int FROM posts`), 0)
	for _, code := range []string{"", "x", newCode()} {
		_, err := w.Posts.ID(t.Context(), code)
		w.fails("PostID "+code, err, ErrNotFound)
	}
}

func TestLongestPost(t *testing.T) {
	w := newTown(t)
	bob := w.user("bob")
	for _, char := range []string{"a", "я", "€", "\U00020000"} {
		long := strings.Repeat(char, MaxPostRunes)
		c := w.post(bob, long)
		got, err := w.Posts.Body(t.Context(), bob.ID, c.Code)
		if err != nil || got != long {
			t.Errorf("PostBody: got %d bytes, %v; want %d", len(got), err, len(long))
		}
		w.remark(bob, c.Code, strings.Repeat(char, MaxCommentRunes))
		p := tale(char)
		p.Body = long
		p.Comments = []ImportedComment{{ExternalID: char + "/a", Body: strings.Repeat(char, MaxCommentRunes), CreatedAt: noon, Author: person("ben")}}
		w.importPosts(1, p)
	}
}

func TestKeyRepeated(t *testing.T) {
	w := newTown(t)
	bob, ann := w.user("bob"), w.user("ann")
	first, err := w.Posts.Create(t.Context(), NewPost{Author: bob.ID, Body: "hello", Key: "k1"})
	w.must(err)
	comment, err := w.Comments.Create(t.Context(), NewComment{Author: bob.ID, Code: first.Code, Body: "so", Key: "k2"})
	w.must(err)
	w.heard.take()
	version, fresh := w.version(first.PostID), w.freshAt(first.PostID)

	again, err := w.Posts.Create(t.Context(), NewPost{Author: bob.ID, Body: "hello", Key: "k1"})
	w.must(err)
	w.same("post again", again, Change{Actor: bob.ID, PostID: first.PostID, Code: first.Code, Repeated: true})
	again, err = w.Comments.Create(t.Context(), NewComment{Author: bob.ID, Code: first.Code, Body: "so", Key: "k2"})
	w.must(err)
	w.same("comment again", again, Change{
		Actor: bob.ID, PostID: first.PostID, Code: first.Code, CommentID: comment.CommentID, Repeated: true,
	})
	w.same("announced", w.heard.take(), []Event(nil))
	w.same("version", w.version(first.PostID), version)
	w.same("fresh_at", w.freshAt(first.PostID), fresh)
	w.same("posts", value[int](w, `SELECT count(*)::int FROM posts`), 1)
	w.same("comments", value[int](w, `SELECT count(*)::int FROM comments`), 1)

	other, err := w.Posts.Create(t.Context(), NewPost{Author: ann.ID, Body: "hello", Key: "k1"})
	w.must(err)
	w.same("another's key", other.Repeated, false)
	w.sound()
}

// A browser that goes back restores the key of a form that was sent: with anything
// else in it, the form is another request, and is not answered as the first was.
func TestKeyWithOtherContent(t *testing.T) {
	w := newTown(t)
	bob := w.user("bob")
	w.user("ann")
	other := w.post(bob, "another post")
	asked := NewPost{Author: bob.ID, Body: "hello\nthere", To: []string{"bob", "ann"}, Language: "en", Key: "k1"}
	post, err := w.Posts.Create(t.Context(), asked)
	w.must(err)
	said := NewComment{Author: bob.ID, Code: post.Code, Body: "so", Key: "k2"}
	_, err = w.Comments.Create(t.Context(), said)
	w.must(err)
	w.heard.take()

	for what, change := range map[string]func(*NewPost){
		"text":     func(n *NewPost) { n.Body = "hello again" },
		"places":   func(n *NewPost) { n.To = []string{"bob"} },
		"language": func(n *NewPost) { n.Language = "" },
		"kind":     func(n *NewPost) { n.Key = "k2" },
	} {
		n := asked
		change(&n)
		_, err := w.Posts.Create(t.Context(), n)
		w.invalid("a post with other "+what, err, "key_used")
	}
	for what, change := range map[string]func(*NewComment){
		"text": func(n *NewComment) { n.Body = "so what" },
		"post": func(n *NewComment) { n.Code = other.Code },
		"kind": func(n *NewComment) { n.Key = "k1" },
	} {
		n := said
		change(&n)
		_, err := w.Comments.Create(t.Context(), n)
		w.invalid("a comment with other "+what, err, "key_used")
	}
	w.same("announced", w.heard.take(), []Event(nil))
	w.same("posts", value[int](w, `SELECT count(*)::int FROM posts`), 2)
	w.same("comments", value[int](w, `SELECT count(*)::int FROM comments`), 1)

	// The same thing, spelt as another browser or script would, and whatever has
	// become of the post meanwhile.
	_, err = w.Posts.Edit(t.Context(), bob.ID, post.Code, "changed")
	w.must(err)
	asked.Body, asked.To = "hello\r\nthere\r\n", []string{"ann ", "bob", "ann"}
	again, err := w.Posts.Create(t.Context(), asked)
	w.must(err)
	w.same("the same", again, Change{Actor: bob.ID, PostID: post.PostID, Code: post.Code, Repeated: true})
	w.sound()
}

func TestKeyRepeatedAtOnce(t *testing.T) {
	w := newTown(t)
	bob := w.user("bob")
	old := w.post(bob, "hello")
	w.heard.take()
	posts, comments := make([]Change, 8), make([]Change, 8)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			var err error
			posts[i], err = w.Posts.Create(t.Context(), NewPost{Author: bob.ID, Body: "hello", Key: "p"})
			if err != nil {
				t.Error(err)
			}
		})
		all.Go(func() {
			var err error
			comments[i], err = w.Comments.Create(t.Context(), NewComment{Author: bob.ID, Code: old.Code, Body: "so", Key: "c"})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for what, changes := range map[string][]Change{"posts": posts, "comments": comments} {
		first := 0
		for _, c := range changes {
			if !c.Repeated {
				first++
			}
			w.same(what+": ids", []int64{c.PostID, c.CommentID}, []int64{changes[0].PostID, changes[0].CommentID})
		}
		w.same(what+": how many were the first", first, 1)
	}
	w.same("posts", value[int](w, `SELECT count(*)::int FROM posts`), 2)
	w.same("comments", value[int](w, `SELECT count(*)::int FROM comments`), 1)
	w.same("version", w.version(old.PostID), int64(2))
	w.same("announcements", len(w.heard.take()), 2)
	w.sound()
}

func TestEditPost(t *testing.T) {
	w := newTown(t)
	bob, ann := w.user("bob"), w.user("ann")
	p := w.post(bob, "hello")
	fresh := w.freshAt(p.PostID)
	w.heard.take()

	c, err := w.Posts.Edit(t.Context(), bob.ID, p.Code, "hello there ")
	w.must(err)
	w.same("change", c, Change{Actor: bob.ID, PostID: p.PostID, Code: p.Code})
	w.same("announced", w.heard.take(), []Event{Touched{PostID: p.PostID}})
	w.same("version", w.version(p.PostID), int64(2))
	w.same("fresh_at", w.freshAt(p.PostID), fresh)
	w.same("edited", value[bool](w, `SELECT edited_at IS NOT NULL FROM posts WHERE id = $1`, p.PostID), true)

	c, err = w.Posts.Edit(t.Context(), bob.ID, p.Code, "hello there")
	w.must(err)
	w.same("the same text", c, Change{Actor: bob.ID, PostID: p.PostID, Code: p.Code})
	w.same("announced", w.heard.take(), []Event(nil))
	w.same("version", w.version(p.PostID), int64(2))

	_, err = w.Posts.Edit(t.Context(), ann.ID, p.Code, "mine")
	w.fails("another's", err, ErrForbidden)
	_, err = w.Posts.Body(t.Context(), ann.ID, p.Code)
	w.fails("another's body", err, ErrForbidden)
	_, err = w.Posts.Edit(t.Context(), bob.ID, p.Code, "")
	w.invalid("to nothing", err, "body_empty")
	w.same("version", w.version(p.PostID), int64(2))
}

func TestDeletePost(t *testing.T) {
	w := newTown(t)
	bob, ann := w.user("bob"), w.user("ann")
	w.group(ann, "club", Public)
	p, err := w.Posts.Create(t.Context(), NewPost{Author: bob.ID, Body: "hello", To: []string{"bob", "club", "ann"}, Key: "k"})
	w.must(err)
	w.comment(ann, p.Code)
	_, err = w.Posts.Like(t.Context(), ann.ID, p.Code)
	w.must(err)
	w.exec(`INSERT INTO attachments (post_id, position, url, title) VALUES ($1, 1, 'https://example.com/', 'x')`, p.PostID)
	stood := value[[]int64](w, `SELECT array_agg(timeline_id ORDER BY timeline_id) FROM timeline_entries WHERE post_id = $1`, p.PostID)
	w.heard.take()

	_, err = w.Posts.Delete(t.Context(), ann.ID, p.Code)
	w.fails("by an administrator", err, ErrForbidden)
	version := w.version(p.PostID)
	c, err := w.Posts.Delete(t.Context(), bob.ID, p.Code)
	w.must(err)
	w.same("change", c, Change{Actor: bob.ID, PostID: p.PostID, Code: p.Code, Touched: stood})
	w.same("announced", w.heard.take(), []Event{Touched{PostID: p.PostID, Timelines: stood}})
	w.same("version", w.version(p.PostID), version+1)
	w.same("rows that scans would meet", value[int](w, `SELECT count(*) FROM timeline_entries WHERE post_id = $1`, p.PostID), 0)
	w.sound()

	for what, err := range map[string]error{
		"delete again, by another": second(w.Posts.Delete(t.Context(), ann.ID, p.Code)),

		"edit":    second(w.Posts.Edit(t.Context(), bob.ID, p.Code, "x")),
		"like":    second(w.Posts.Like(t.Context(), bob.ID, p.Code)),
		"comment": second(w.Comments.Create(t.Context(), NewComment{Author: bob.ID, Code: p.Code, Body: "x"})),
		"find":    second(w.Posts.ID(t.Context(), p.Code)),
		"read":    second(w.Posts.Body(t.Context(), bob.ID, p.Code)),
	} {
		w.fails(what, err, ErrNotFound)
	}
	c, err = w.Posts.Delete(t.Context(), bob.ID, p.Code)
	w.must(err)
	w.same("deleting again", c, Change{Actor: bob.ID, PostID: p.PostID, Code: p.Code})
	w.same("version", w.version(p.PostID), version+1)
	again, err := w.Posts.Create(t.Context(), NewPost{Author: bob.ID, Body: "hello", To: []string{"bob", "club", "ann"}, Key: "k"})
	w.must(err)
	w.same("its key", again.Repeated, true)
}

func second[T any](_ T, err error) error { return err }

// Nobody can do anything to a post they cannot read, or learn that it is there.
func TestUnreadablePost(t *testing.T) {
	w := newTown(t)
	bob, ann, eve := w.user("bob"), w.user("ann"), w.user("eve")
	club := w.group(ann, "club", Protected)
	w.group(ann, "closed", Private)
	w.subscribe(bob, "club")
	w.setAccess(bob, "", Private)
	for _, tc := range []struct {
		name string
		to   []string
		by   Account
	}{
		{"a direct", []string{"ann"}, bob},
		{"a private feed", nil, bob},
		{"a closed group", []string{"closed"}, ann},
		{"a group that excludes", []string{"club"}, bob},
	} {
		w.exec(`INSERT INTO excluded (timeline_id, account_id) VALUES ($1, $2) ON CONFLICT DO NOTHING`, club.FeedID, eve.ID)
		p := w.post(tc.by, "hello", tc.to...)
		own := w.comment(tc.by, p.Code)
		version := w.version(p.PostID)
		w.heard.take()
		ctx := t.Context()
		for what, err := range map[string]error{
			"like":           second(w.Posts.Like(ctx, eve.ID, p.Code)),
			"unlike":         second(w.Posts.Unlike(ctx, eve.ID, p.Code)),
			"comment":        second(w.Comments.Create(ctx, NewComment{Author: eve.ID, Code: p.Code, Body: "x"})),
			"edit":           second(w.Posts.Edit(ctx, eve.ID, p.Code, "x")),
			"delete":         second(w.Posts.Delete(ctx, eve.ID, p.Code)),
			"edit comment":   second(w.Comments.Edit(ctx, eve.ID, p.Code, own.CommentID, "x")),
			"delete comment": second(w.Comments.Delete(ctx, eve.ID, p.Code, own.CommentID)),
			"read":           second(w.Posts.Body(ctx, eve.ID, p.Code)),
			"read comment":   second(w.Comments.Body(ctx, eve.ID, p.Code, own.CommentID)),
			"by nobody":      second(w.Posts.Like(ctx, 0, p.Code)),
		} {
			w.fails(tc.name+": "+what, err, ErrNotFound)
		}
		w.same(tc.name+": version", w.version(p.PostID), version)
		w.same(tc.name+": announced", w.heard.take(), []Event(nil))
	}
	// One readable destination is enough (source: 000).
	p := w.post(bob, "hello", "ann", "club", "bob")
	_, err := w.Posts.Like(t.Context(), eve.ID, p.Code)
	w.fails("excluded from the group, the rest private", err, ErrNotFound)
	w.exec(`DELETE FROM excluded`)
	_, err = w.Posts.Like(t.Context(), eve.ID, p.Code)
	w.fails("through the group", err, nil)
	w.sound()
}
