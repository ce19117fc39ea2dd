package sources_test

import (
	"testing"
	"time"

	"riverrun/timelines"
	"riverrun/timelines/sources"
	"riverrun/timelines/sources/formats"
)

// F18: the place of an item is stored with its post as given, and changes with its source.
func TestPlaces(t *testing.T) {
	w := newWorld(t)
	ann := w.person("ann")
	source := w.source(ann, "blog", sources.Append, `{}`)
	list := items("entry", 4)
	list[0].Place = &formats.Place{Name: "Old harbour", Latitude: "59.9", Longitude: "30.25"}
	list[1].Place = &formats.Place{Latitude: "59.9", Longitude: "30.25"}
	list[2].Place = &formats.Place{}
	w.load(source, 10, list...)
	places := func() []string {
		return w.list(`SELECT p.place FROM source_items i JOIN posts p ON p.id = i.post_id ORDER BY i.external_id`)
	}
	w.same("places", places(), []string{"Old harbour", "59.9, 30.25", "", ""})
	list[0].Place, list[3].Place = nil, &formats.Place{Name: "Quay"}
	w.heard.take()
	w.same("counts", w.load(source, 10, list...).Counts, sources.Counts{Changed: 2, Same: 2})
	w.same("other places", places(), []string{"", "59.9, 30.25", "", "Quay"})
	w.same("posts that pages were told of", w.heard.take(), 2)
	w.same("search does not find it", value[bool](w, `SELECT bool_or(lexemes::text LIKE '%quay%') FROM texts`), false)

	_, err := w.posts.Posts.Delete(t.Context(), ann.ID, value[string](w, `SELECT code FROM posts WHERE place = 'Quay'`))
	w.must(err)
	w.same("what is left of a deleted post", value[int64](w, `SELECT count(*) FROM posts WHERE place = 'Quay'`), int64(0))
	c, err := w.posts.Posts.Create(t.Context(), timelines.NewPost{Author: ann.ID, Body: "written here"})
	w.must(err)
	w.same("of one that was written here", value[string](w, `SELECT place FROM posts WHERE code = $1 AND created_at > $2`, c.Code, time.Now().Add(-time.Hour)), "")
}
