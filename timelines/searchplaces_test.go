package timelines

import "testing"

// A sub-feed is searched by its address. One that is closed is as one that does not
// exist, in all one can ask of it.
func TestSearchInSubfeeds(t *testing.T) {
	w := newTown(t)
	ann, bob, cat := w.user("ann"), w.user("bob"), w.user("cat")
	w.group(cat, "hall", Protected)
	w.post(cat, "secret four", "hall")
	w.must(second(w.CreateSubfeed(t.Context(), cat.ID, "photos", "Photos", Public)))
	w.must(second(w.CreateSubfeed(t.Context(), cat.ID, "diary", "Diary", Private)))
	w.post(cat, "secret six", "cat/photos")
	w.post(cat, "secret seven", "cat/diary")
	w.post(cat, "secret eight", "cat", "cat/diary")
	w.post(cat, "secret nine", "cat/private")
	w.must(second(w.AdmitReader(t.Context(), cat.ID, "diary", "bob")))
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
