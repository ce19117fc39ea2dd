package jobs

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"riverrun/rivers/strategies"
	"riverrun/timelines"
)

// A change goes on to its many readers in steps, each a job that begins where the one before ended.
// A step that fails is repeated, not the whole.
func TestStoredHomesFollowInSteps(t *testing.T) {
	pool := prepare(t)
	type step struct {
		Event timelines.Event
		From  strategies.Progress
	}
	steps := make(chan step, 20)
	failed := false
	c := &calls{homes: func(_ context.Context, from strategies.Progress, e timelines.Event) (strategies.Progress, bool, error) {
		if from.Follower == 2 && !failed {
			failed = true
			return from, false, errors.New("the stores are away")
		}
		steps <- step{e, from}
		return strategies.Progress{Account: 7, Follower: from.Follower + 1}, from.Follower < 3, nil
	}}
	cfg := config(t, pool, c)
	cfg.JobTimeout = time.Second
	start(t, cfg)
	for _, e := range []timelines.Event{timelines.TouchedBatch{{PostID: 5, Timelines: []int64{1, 2}}}, timelines.Replace{AccountID: 9, Kinds: []string{"home"}, Tx: 11}} {
		announce(t, pool, e)
		want := []step{{e, strategies.Progress{}}}
		for follower := int64(1); follower <= 3; follower++ {
			want = append(want, step{e, strategies.Progress{Account: 7, Follower: follower}})
		}
		var got []step
		for range want {
			got = append(got, receive(t, "a step", steps))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("steps (-want +got):\n%s", diff)
		}
	}
}
