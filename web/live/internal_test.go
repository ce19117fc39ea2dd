package live

import (
	"testing"
	"time"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/timelines/access"
	"riverrun/web/view"
)

// Between the word of another generation and its entries no ok comes, whatever the client drops
// meanwhile: it would take off entries that have not followed yet.
func TestDropSaysNothingWhileAnOkIsOwed(t *testing.T) {
	at := view.Version{Stamp: rivers.Stamp{Entry: 1, Fold: 1}}
	v := &shownPage{river: 7, owed: true, shown: map[int64]*shown{1: {code: "a", stamp: at.Stamp}, 2: {code: "b", stamp: at.Stamp}}}
	drop := &dropFrame{river: 7, entries: map[string]view.Version{"a": at}}
	if err := v.drop(t.Context(), drop); err != nil { // there is no socket to say it on
		t.Fatal(err)
	}
	if !v.more || len(v.shown) != 1 {
		t.Errorf("more below: %t, %d shown; want true and 1", v.more, len(v.shown))
	}
	v.more, v.owed = false, false
	if err := v.drop(t.Context(), drop); err != nil || v.more {
		t.Errorf("what was let go of before makes more below: %t, %v", v.more, err)
	}
}

// A slow reader gets only the newest state of a post.
func TestTheNewestUpdateWaits(t *testing.T) {
	s := &socket{wake: make(chan struct{}, 1)}
	for version := range int64(3) {
		s.offer([]*update{{post: 1, item: &rivers.Item{Stamp: rivers.Stamp{Entry: version}}}})
	}
	if got := s.take().pending[1].item.Stamp.Entry; got != 2 {
		t.Errorf("version %d waits, want 2", got)
	}
}

// The socket of a client that neither reads nor answers ends within half a minute.
func TestStuckSocketsEndWithinHalfAMinute(t *testing.T) {
	c := Config{}.withDefaults()
	if got := c.PingEvery + max(c.PongWithin, c.WriteTimeout); got > 30*time.Second {
		t.Errorf("a socket that answers nothing ends after %v", got)
	}
}

// Sockets that were opened at different moments are pinged at the same ones, and none later than it should be.
func TestSocketsArePingedTogether(t *testing.T) {
	const every = 18 * time.Second
	begin, moments := time.Date(2026, 11, 27, 12, 0, 0, 12_345, time.UTC), map[time.Time]int{}
	for i := range 1000 {
		opened := begin.Add(time.Duration(i) * time.Millisecond)
		in := together(opened, every)
		if in > every || in <= every-beatStep {
			t.Errorf("a socket opened at %v is pinged after %v", opened, in)
		}
		moments[opened.Add(in)]++
	}
	if len(moments) > 6 {
		t.Errorf("a thousand sockets opened within a second are pinged at %d moments", len(moments))
	}
	if got := together(begin, time.Millisecond); got != time.Millisecond {
		t.Errorf("got %v for a shorter time than a step", got)
	}
}

// A page is told of changes of its header that its reader may know: those of a closed group say
// neither what it is about nor who writes there.
func TestHeaderOfClosedSaysNothing(t *testing.T) {
	group := timelines.Account{ID: 7, FeedID: 70, Kind: timelines.Group, Title: "Club", Access: timelines.Private}
	other := group
	other.About, other.Writers = "secret", timelines.WritersAdmins
	member := &access.Sets{AccountID: 2, Readable: access.NewIDs(70)}
	if headerOf(group, &access.Sets{AccountID: 1}) != headerOf(other, &access.Sets{AccountID: 1}) {
		t.Error("who may not read the group is told of changes")
	}
	if headerOf(group, member) == headerOf(other, member) {
		t.Error("a member is not told of changes")
	}
}

// Readers have read the same as before when a node forgets them.
func TestForgottenMarksAreNoChange(t *testing.T) {
	s := &socket{wake: make(chan struct{}, 1)}
	s.fingerprint.Store(&Fingerprint{})
	s.readMarks.Store(7)
	for _, tc := range []struct {
		marks uint64
		want  bool
	}{{7, false}, {0, false}, {7, false}, {8, true}, {0, false}, {9, true}} {
		if got := s.checkFingerprint(Fingerprint{readMarks: tc.marks}, 0); got != tc.want {
			t.Errorf("marks at %d: compared %v, want %v", tc.marks, got, tc.want)
		}
	}
}
