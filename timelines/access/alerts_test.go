package access_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines"
	"riverrun/timelines/access"
	"riverrun/timelines/notices"
)

// Only alerts of sources can be switched off, and news count until they were seen.
func TestWhichAlertsTell(t *testing.T) {
	t.Parallel()
	sets := &access.Sets{AlertsSeen: 10, NoticesOff: int16(notices.Off(0).With(notices.Source))}
	for name, tc := range map[string]struct {
		is   access.Alert
		want bool
	}{
		"a block":                  {access.Alert{Moderated: true, At: 11}, true},
		"a block that was seen":    {access.Alert{Moderated: true, At: 10}, false},
		"a post that waits":        {access.Alert{Approval: true}, true},
		"an answer to a report":    {access.Alert{Report: true}, true},
		"a source that asks":       {access.Alert{Asks: true, At: 11}, false},
		"a post that never came":   {access.Alert{Scheduled: true, At: 11}, true},
		"a failure that was seen":  {access.Alert{Scheduled: true, At: 10}, false},
		"a source that has failed": {access.Alert{At: 11}, false},
	} {
		if got := sets.Tells(tc.is); got != tc.want {
			t.Errorf("%s: %t, want %t", name, got, tc.want)
		}
	}
}

// A group is told of posts that wait for it, and not while moderators block them.
func TestAlertsOfPostsThatWait(t *testing.T) {
	w := newTown(t)
	ann, bob := w.user("ann"), w.user("bob")
	club := w.group(ann, "club", timelines.Public)
	_, err := w.Groups.SetApproval(t.Context(), ann.ID, "club", true)
	w.must(err)
	p, err := w.Posts.Create(t.Context(), timelines.NewPost{Author: bob.ID, Body: "hello", To: []string{"club"}})
	w.must(err)
	tells := func(when string, who timelines.Account, want int) {
		t.Helper()
		all, err := access.New(w.Store).Alerts(t.Context(), []int64{who.ID})
		w.must(err)
		if got := len(all[who.ID]); got != want {
			t.Errorf("%s: %s has %d alerts, want %d", when, who.Name, got, want)
		}
	}
	rule := func(r timelines.Ruling) {
		t.Helper()
		_, err := w.Posts.Moderate(t.Context(), ann.ID, p.Code, func(context.Context, pgx.Tx, int64, int64) (timelines.Ruling, error) { return r, nil })
		w.must(err)
	}
	tells("it waits", club, 1)
	tells("it waits", bob, 0)
	rule(timelines.Ruling{Blocked: true, Reason: "spam"})
	tells("it is blocked", club, 0)
	tells("it is blocked", bob, 1)
	rule(timelines.Ruling{})
	tells("it waits again", club, 1)
	_, err = w.Posts.Refuse(t.Context(), ann.ID, "club", p.Code, "no")
	w.must(err)
	tells("it is refused", club, 0)
	tells("it is refused", bob, 1)
}
