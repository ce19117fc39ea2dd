package timelines

import "testing"

// A sub-feed is searched by its address. One that is closed is as one that does not
// exist, in all one can ask of it.
func TestSearchInSubfeeds(t *testing.T) {
	w := newTown(t)
	ann, bob, cat := w.user("ann"), w.user("bob"), w.user("cat")
	w.group(cat, "hall", Protected)
	w.post(cat, "secret four", "hall")
	w.must(second(w.Feeds.Create(t.Context(), cat.ID, "photos", "Photos", Public)))
	w.must(second(w.Feeds.Create(t.Context(), cat.ID, "diary", "Diary", Private)))
	w.post(cat, "secret six", "cat/photos")
	w.post(cat, "secret seven", "cat/diary")
	w.post(cat, "secret eight", "cat", "cat/diary")
	w.post(cat, "secret nine", "cat/private")
	w.must(second(w.Feeds.Admit(t.Context(), cat.ID, "diary", "bob")))
	for viewer, diary := range map[int64][]string{
		0: nil, ann.ID: nil, bob.ID: {"secret eight", "secret seven"}, cat.ID: {"secret eight", "secret seven"},
	} {
		w.finds(viewer, "in:cat/photos", "secret six")
		w.finds(viewer, "secret in:cat/photos", "secret six")
		w.finds(viewer, "in:cat/diary", diary...)
		w.finds(viewer, "secret in:cat/diary", diary...)
		for _, none := range []string{"in:cat/nothing", "in:nobody/photos", "in:hall/photos", "in:cat//photos"} {
			w.finds(viewer, none)
		}
		w.finds(viewer, "from:cat/photos")
		w.finds(viewer, "from:cat/photos in:cat/photos")
		w.finds(viewer, "six -from:cat/photos in:cat/photos", "secret six")
	}
	w.finds(ann.ID, "in:cat", "secret eight", "secret six")
	w.finds(ann.ID, "in:cat -in:cat/photos", "secret eight")
	w.finds(ann.ID, "in:cat -in:cat/diary", "secret eight", "secret six")
	w.finds(bob.ID, "in:cat -in:cat/diary", "secret six")
	w.finds(ann.ID, "in:cat/photos in:cat/diary", "secret six")
	w.finds(cat.ID, "in:cat/private", "secret nine")
	w.finds(bob.ID, "in:cat/private")
}

// "me" is the person who asks, in all ways to say it, and nobody to those who are not
// signed in.
func TestSearchForMyself(t *testing.T) {
	w := newTown(t)
	ann, bob := w.user("ann"), w.user("bob")
	w.must(second(w.Feeds.Create(t.Context(), ann.ID, "photos", "Photos", Public)))
	w.post(ann, "secret one")
	w.post(ann, "secret two", "ann/photos")
	w.post(bob, "secret three")
	for _, text := range []string{"from:me", "from:Me", "secret from:@me", "от:меня", "ОТ:Я", "secret in:me", "в:меня", "secret -от:bob"} {
		w.finds(ann.ID, text, "secret two", "secret one")
	}
	w.finds(bob.ID, "secret от:меня", "secret three")
	w.finds(bob.ID, "secret -from:me", "secret two", "secret one")
	w.finds(ann.ID, "в:я/photos", "secret two")
	w.finds(ann.ID, "в:ann/photos", "secret two")
	w.finds(bob.ID, "from:me from:ann", "secret three", "secret two", "secret one")
	for _, text := range []string{"from:me", "secret от:меня", "in:me", "in:me/photos"} {
		w.finds(0, text)
	}
	w.finds(0, "secret -from:me", "secret three", "secret two", "secret one")
}
