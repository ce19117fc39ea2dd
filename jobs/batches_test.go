package jobs

import (
	"context"
	"testing"

	"riverrun/timelines"
)

// Many posts of one transaction are few jobs and one note each, and none is lost on the way
// to Tier 2.
func TestABatchIsFewJobs(t *testing.T) {
	const posts = 2*batchPosts + 1
	pool := prepare(t)
	followed := make(chan []timelines.Touched, posts)
	c := &calls{follow: func(_ context.Context, touched []timelines.Touched) error {
		followed <- touched
		return nil
	}}
	var batch timelines.TouchedBatch
	for i := range posts {
		batch = append(batch, timelines.Touched{PostID: int64(i + 1), Timelines: []int64{7, int64(100 + i)}})
	}
	announce(t, pool, batch)
	if got := count(t, pool, `SELECT count(*) FROM queue.river_job`); got != 3 {
		t.Errorf("jobs of %d posts: got %d, want 3", posts, got)
	}
	start(t, config(t, pool, c))
	got := map[int64]timelines.Touched{}
	for len(got) < posts {
		for _, touched := range receive(t, "tier 2", followed) {
			got[touched.PostID] = touched
		}
	}
	for _, want := range batch {
		if of := got[want.PostID].Timelines; len(of) != 2 || of[0] != 7 || of[1] != want.Timelines[1] {
			t.Errorf("post %d: followed in %v, want %v", want.PostID, of, want.Timelines)
		}
	}
}
