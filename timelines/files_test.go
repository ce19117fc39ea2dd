package timelines

import (
	"errors"
	"testing"
	"time"

	"riverrun/timelines/blobs"
	"riverrun/timelines/files"
)

// upload records an upload and, if it is to be a picture, finishes it.
func (w *town) upload(owner Account, name string, n byte, picture bool) string {
	w.Helper()
	code, err := w.Files.Add(w.Context(), files.New{Owner: owner.ID, Name: name, Sum: blobs.Sum{n}, Bytes: 3, Picture: picture})
	w.must(err)
	if !picture {
		return code
	}
	id := value[int64](w, `SELECT id FROM files WHERE code = $1`, code)
	w.finish(id)
	return code
}

// finish makes a picture of an upload, as the job does.
func (w *town) finish(id int64) Change {
	w.Helper()
	p, err := w.Files.Pending(w.Context(), id)
	w.must(err)
	c, done, err := w.Files.Finish(w.Context(), p, files.Made{
		Width: 30, Height: 20, Blurhash: "x",
		Blobs: []files.MadeBlob{{Size: "full", Type: "image/png", Sum: blobs.Sum{99}, Bytes: 9}},
	})
	w.must(err)
	w.same("done", done, true)
	return c
}

func list(codes ...string) []files.Attachment {
	var l []files.Attachment
	for _, code := range codes {
		l = append(l, files.Attachment{Code: code})
	}
	return l
}

func (w *town) seesFile(what string, viewer int64, code, size string, want bool) {
	w.Helper()
	_, err := w.Files.Find(w.Context(), viewer, code, size)
	if got := err == nil; got != want || err != nil && !errors.Is(err, files.ErrNotFound) {
		w.Errorf("%s: found %v (%v), want %v", what, got, err, want)
	}
}

// Each new picture says how many of its owner wait already, attached or not, up to a bound.
func TestWaitingPicturesAreCounted(t *testing.T) {
	w := newTown(t)
	bob, ann := w.user("bob"), w.user("ann")
	add := func(owner Account) (waiting int) {
		t.Helper()
		w.heard.take()
		_, err := w.Files.Add(t.Context(), files.New{Owner: owner.ID, Name: "a.png", Sum: blobs.Sum{1}, Bytes: 3, Picture: true})
		w.must(err)
		return w.heard.take()[0].(Prepare).Waiting
	}
	var got []int
	for range files.MostWaiting + 2 {
		got = append(got, add(bob))
	}
	for i, n := range got {
		w.same("waiting", n, min(i, files.MostWaiting))
	}
	w.exec(`UPDATE files SET post_id = $1`, w.post(bob, "look").PostID)
	w.same("waiting, attached", add(bob), files.MostWaiting)
	w.same("waiting, of another", add(ann), 0)
	w.finish(value[int64](w, `SELECT max(id) FROM files WHERE owner_id = $1`, ann.ID))
	w.same("waiting, when they are made", add(ann), 0)
}

func TestFilesOfPosts(t *testing.T) {
	w := newTown(t)
	bob, ann := w.user("bob"), w.user("ann")
	first, second := w.upload(bob, `C:\me\cat.png`, 1, true), w.upload(bob, "notes.txt", 2, false)
	w.seesFile("own, not attached", bob.ID, first, "full", true)
	w.seesFile("another's, not attached", ann.ID, first, "full", false)
	w.seesFile("a size that is gone", bob.ID, first, "upload", false)

	c, err := w.Posts.Create(t.Context(), NewPost{Author: bob.ID, Key: "k", Files: list(second, first)})
	w.must(err)
	again, err := w.Posts.Create(t.Context(), NewPost{Author: bob.ID, Key: "k", Files: list(second, first)})
	w.must(err)
	w.same("the same form", again.PostID, c.PostID)
	// Without scripts the browser sends the files anew: they have other codes.
	other := []string{w.upload(bob, "notes.txt", 2, false), w.upload(bob, "cat.png", 1, true)}
	again, err = w.Posts.Create(t.Context(), NewPost{Author: bob.ID, Key: "k", Files: list(other...)})
	w.must(err)
	w.same("the same files", again.PostID, c.PostID)
	_, err = w.Posts.Create(t.Context(), NewPost{Author: bob.ID, Key: "k", Files: list(other[0])})
	w.invalid("other files", err, "key_used")

	found, err := w.Files.Of(t.Context(), c.PostID, 0)
	w.must(err)
	w.same("names", []string{found[0].Name, found[1].Name}, []string{"notes.txt", "cat.png"})
	w.seesFile("attached", ann.ID, first, "full", true)
	w.seesFile("a download", 0, second, "upload", true)

	for _, tc := range []struct {
		what string
		who  Account
		list []files.Attachment
		code string
	}{
		{"one that is attached elsewhere", bob, list(first), "file_unknown"},
		{"another's", ann, list(other[0]), "file_unknown"},
		{"none", bob, list("0000000000"), "file_unknown"},
		{"too many", bob, make([]files.Attachment, 21), "files_many"},
		{"a long description", bob, []files.Attachment{{Code: other[0], Alt: string(make([]byte, 1001))}}, "alt_long"},
	} {
		_, err := w.Posts.Create(t.Context(), NewPost{Author: tc.who.ID, Body: "hi", Files: tc.list})
		w.invalid(tc.what, err, tc.code)
	}

	// An edit that names files has these and no others.
	version := w.version(c.PostID)
	_, err = w.Posts.Revise(t.Context(), bob.ID, c.Code, Revision{SetFiles: true, Files: []files.Attachment{{Code: other[1], Alt: "a cat"}, {Code: second}}})
	w.must(err)
	w.same("a new version", w.version(c.PostID), version+1)
	w.seesFile("removed", bob.ID, first, "full", false)
	w.seesFile("added", ann.ID, other[1], "full", true)
	_, err = w.Posts.Edit(t.Context(), bob.ID, c.Code, "")
	w.must(err)
	_, err = w.Posts.Revise(t.Context(), bob.ID, c.Code, Revision{Body: new(""), SetFiles: true})
	w.invalid("nothing left", err, "body_empty")
	w.sound()

	_, err = w.Posts.Revise(t.Context(), bob.ID, c.Code, Revision{To: []string{ToEyes}})
	w.must(err)
	w.seesFile("not for her any more", ann.ID, second, "upload", false)
	w.seesFile("for him", bob.ID, second, "upload", true)
	_, err = w.Posts.Delete(t.Context(), bob.ID, c.Code)
	w.must(err)
	w.seesFile("deleted", bob.ID, second, "upload", false)
	w.same("rows", value[int](w, `SELECT count(*) FROM files WHERE post_id IS NOT NULL`), 0)
}

func TestFilesOfComments(t *testing.T) {
	w := newTown(t)
	bob, ann, eve := w.user("bob"), w.user("ann"), w.user("eve")
	p := w.post(bob, "hello")
	code := w.upload(ann, "cat.png", 1, true)
	c, err := w.Comments.Create(t.Context(), NewComment{Author: ann.ID, Code: p.Code, Files: list(code)})
	w.must(err)
	w.seesFile("of a comment", eve.ID, code, "full", true)
	_, err = w.Bans.Ban(t.Context(), ann.ID, "eve")
	w.must(err)
	w.seesFile("by somebody who bans the viewer", eve.ID, code, "full", false)
	w.seesFile("by nobody banned", bob.ID, code, "full", true)
	_, err = w.Comments.Edit(t.Context(), ann.ID, p.Code, c.CommentID, "look")
	w.must(err)
	w.seesFile("kept by an edit of the text", bob.ID, code, "full", true)
	_, err = w.Comments.EditFiles(t.Context(), ann.ID, p.Code, c.CommentID, "look", nil)
	w.must(err)
	w.seesFile("taken away", ann.ID, code, "full", false)
	_, err = w.Comments.Edit(t.Context(), ann.ID, p.Code, c.CommentID, "")
	w.invalid("nothing left", err, "body_empty")

	code = w.upload(ann, "dog.png", 2, true)
	c, err = w.Comments.Create(t.Context(), NewComment{Author: ann.ID, Code: p.Code, Files: list(code)})
	w.must(err)
	_, err = w.Comments.Delete(t.Context(), bob.ID, p.Code, c.CommentID)
	w.must(err)
	w.seesFile("of a deleted comment", bob.ID, code, "full", false)
}

// TestAPictureIsMadeAfterItIsAttached: the post changes when its picture is ready.
func TestAPictureIsMadeAfterItIsAttached(t *testing.T) {
	w := newTown(t)
	bob := w.user("bob")
	code, err := w.Files.Add(t.Context(), files.New{Owner: bob.ID, Name: "cat.png", Sum: blobs.Sum{1}, Bytes: 3, Picture: true})
	w.must(err)
	id := value[int64](w, `SELECT id FROM files WHERE code = $1`, code)
	w.same("announced", w.heard.take(), []Event{Prepare{FileID: id}})
	early, err := w.Files.Pending(t.Context(), id)
	w.must(err)
	c, err := w.Posts.Create(t.Context(), NewPost{Author: bob.ID, Body: "look", Files: list(code)})
	w.must(err)
	w.seesFile("not made yet", bob.ID, code, "upload", false)
	_, done, err := w.Files.Finish(t.Context(), early, files.Made{})
	w.must(err)
	w.same("found before it was attached", done, false)
	w.heard.take()
	version := w.version(c.PostID)
	made := w.finish(id)
	w.same("change", made, Change{PostID: c.PostID, Code: c.Code})
	w.same("a new version", w.version(c.PostID), version+1)
	w.same("announced", w.heard.take(), []Event{Touched{PostID: c.PostID}})
	w.seesFile("made", 0, code, "full", true)
	_, err = w.Files.Pending(t.Context(), id)
	if !errors.Is(err, files.ErrNotFound) {
		t.Errorf("pending still: %v", err)
	}
}

func TestPicturesOfAccounts(t *testing.T) {
	w := newTown(t)
	bob, ann := w.user("bob"), w.user("ann")
	club := w.group(bob, "club", Public)
	picture := func(owner, of Account, n byte) (string, error) {
		code, err := w.Files.Add(t.Context(), files.New{Owner: owner.ID, Account: of.ID, Name: "me.png", Sum: blobs.Sum{n}, Bytes: 3, Picture: true})
		if err == nil {
			c := w.finish(value[int64](w, `SELECT id FROM files WHERE code = $1`, code))
			w.same("moves the clock", c.Clock > 0, true)
		}
		return code, err
	}
	for _, of := range []Account{bob, club} {
		first, err := picture(bob, of, 1)
		w.must(err)
		w.seesFile("everybody", 0, first, "full", true)
		second, err := picture(bob, of, 2)
		w.must(err)
		w.seesFile("replaced", bob.ID, first, "full", false)
		now, err := w.Accounts.ByName(t.Context(), of.Name)
		w.must(err)
		w.same("picture", now.Picture, second)
		_, err = w.Files.RemovePicture(t.Context(), ann.ID, of.ID)
		w.fails("another's", err, ErrForbidden)
		_, err = picture(ann, of, 3)
		w.fails("another's", err, ErrForbidden)
		_, err = w.Files.RemovePicture(t.Context(), bob.ID, of.ID)
		w.must(err)
		w.seesFile("removed", bob.ID, second, "full", false)
	}
	// A picture is no attachment.
	code, err := picture(bob, bob, 4)
	w.must(err)
	found, err := w.Files.Find(t.Context(), ann.ID, code, "full")
	w.must(err)
	w.same("may be cached by everybody", found.Public, true)
	_, err = w.Posts.Create(t.Context(), NewPost{Author: bob.ID, Body: "me", Files: list(code)})
	w.invalid("a picture of an account", err, "file_unknown")
	gone, err := w.Maintenance.ExpireFiles(t.Context(), -time.Hour)
	w.must(err)
	w.same("expired", gone, int64(0))
}

// TestThePictureOfAFormerAdministrator: who does not lead the group any more when the picture is
// made has not changed how the group looks.
func TestThePictureOfAFormerAdministrator(t *testing.T) {
	w := newTown(t)
	bob, ann := w.user("bob"), w.user("ann")
	club := w.group(bob, "club", Public)
	w.subscribe(ann, "club")
	w.act(w.Groups.Promote, bob, "club", "ann")
	code, err := w.Files.Add(t.Context(), files.New{Owner: ann.ID, Account: club.ID, Name: "mine.png", Sum: blobs.Sum{1}, Bytes: 3, Picture: true})
	w.must(err)
	w.act(w.Groups.Demote, bob, "club", "ann")
	w.finish(value[int64](w, `SELECT id FROM files WHERE code = $1`, code))
	now, err := w.Accounts.ByName(t.Context(), "club")
	w.must(err)
	w.same("picture", now.Picture, "")
	w.seesFile("everybody", 0, code, "full", false)
	found, err := w.Files.Find(t.Context(), ann.ID, code, "full") // her own upload
	w.must(err)
	w.same("may be cached by everybody", found.Public, false)
}

func TestFilesThatAreNeverAttachedExpire(t *testing.T) {
	w := newTown(t)
	bob := w.user("bob")
	code := w.upload(bob, "cat.png", 1, true)
	kept := w.upload(bob, "dog.png", 2, true)
	_, err := w.Posts.Create(t.Context(), NewPost{Author: bob.ID, Body: "dog", Files: list(kept)})
	w.must(err)
	gone, err := w.Maintenance.ExpireFiles(t.Context(), time.Hour)
	w.must(err)
	w.same("too young", gone, int64(0))
	gone, err = w.Maintenance.ExpireFiles(t.Context(), -time.Hour)
	w.must(err)
	w.same("expired", gone, int64(1))
	w.seesFile("gone", bob.ID, code, "full", false)
	w.seesFile("kept", bob.ID, kept, "full", true)

	for range files.Loose {
		code = w.upload(bob, "cat.png", 1, false)
	}
	_, err = w.Files.Add(t.Context(), files.New{Owner: bob.ID, Name: "one more", Sum: blobs.Sum{1}, Bytes: 3})
	w.invalid("one more", err, "files_loose")
	w.fails("another's", w.Files.Discard(t.Context(), w.user("ann").ID, code), files.ErrNotFound)
	w.must(w.Files.Discard(t.Context(), bob.ID, code))
	w.upload(bob, "one more", 1, false)
}
