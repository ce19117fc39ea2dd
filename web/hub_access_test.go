package web

import (
	"context"
	"io"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/web/view"
)

func TestSignOutCloses(t *testing.T) {
	t.Run("within a second", func(t *testing.T) {
		s := newLiveSite(t, nil)
		ann := s.person("ann")
		g := s.open(ann, "/")
		ann.signOut()
		out := time.Now()
		if c := g.closed(); c.Code != CloseSignedOut {
			t.Errorf("closed with %v, want %d", c, CloseSignedOut)
		}
		if took := time.Since(out); took > time.Second {
			t.Errorf("closed after %v, want within a second", took)
		}
		// And the cookie opens nothing any more.
		conn, _, err := s.dial(ann, nil)
		if err != nil {
			t.Fatal(err)
		}
		again := &page{t: t, conn: conn}
		if c := again.closed(); c.Code != CloseSignedOut {
			t.Errorf("a dead session's socket closed with %v, want %d", c, CloseSignedOut)
		}
	})
	t.Run("though the bus stands still", func(t *testing.T) {
		beat := make(chan time.Time)
		s := newLiveSite(t, func(c *HubConfig) { c.Hear, c.Beat = deaf, beat })
		ann, bob := s.person("ann"), s.person("bob")
		g, other := s.open(ann, "/"), s.open(bob, "/")
		ann.signOut()
		beat <- time.Now()
		if c := g.closed(); c.Code != CloseSignedOut {
			t.Errorf("closed with %v, want %d", c, CloseSignedOut)
		}
		// Bob's stays open.
		other.subscribe()
		other.until("ok", func(f frame) bool { return f.T == "ok" })
	})
}

func TestAccessLostCloses(t *testing.T) {
	beat := make(chan time.Time)
	s := newLiveSite(t, func(c *HubConfig) { c.Hear, c.Beat = deaf, beat })
	ann, bob := s.person("ann"), s.person("bob")
	ann.post("for all, still")
	g := s.open(bob, "/ann")
	ann.act(func(ctx context.Context) (timelines.Change, error) {
		return s.store.SetAccess(ctx, ann.account.ID, "", timelines.Private)
	})
	beat <- time.Now()
	if c := g.closed(); c.Code != CloseNoPage {
		t.Errorf("closed with %v, want %d", c, CloseNoPage)
	}
}

func TestSlowReaderDelaysNobody(t *testing.T) {
	for _, tc := range []struct {
		name string
		most int64 // bytes that are read each time somebody else was told of a comment
	}{{"who reads nothing", 0}, {"who reads a byte now and then", 1}} {
		t.Run(tc.name, func(t *testing.T) {
			s := newLiveSite(t, func(c *HubConfig) { c.WriteTimeout = 3 * time.Second })
			ann := s.person("ann")
			post := ann.post("long talk")
			slow := rawPage(s, "/p/"+post.Code)
			await(t, "the slow reader's socket", func() bool { return s.figure("riverrun_frames_sent_total", "ok") == 1 })
			quick := s.open(nil, "/p/"+post.Code)
			long := strings.Repeat("word ", 3900)
			for i := 0; s.figure("riverrun_sockets_closed_total", "stuck") == 0; i++ {
				if i == 60 {
					t.Fatal("a slow reader was not closed")
				}
				ann.comment(post.Code, strconv.Itoa(i)+" "+long)
				quick.until("comment", func(f frame) bool {
					return strings.Contains(f.HTML+f.Parts["comments"], ">"+strconv.Itoa(i)+" word")
				})
				if _, err := io.CopyN(io.Discard, slow, tc.most); err != nil {
					break // it was closed
				}
			}
			await(t, "the slow reader's socket to end", func() bool { return s.figure("riverrun_sockets_open") == 1 })
		})
	}
}

// What was decided more than a second ago is decided again before it is sent.
func TestStaleDecisionsAreMadeAgain(t *testing.T) {
	var now atomic.Int64 // nanoseconds
	clock := func() time.Time { return time.Unix(1e9, now.Load()) }
	asked := make(flushes, 100)
	began := clock()
	var old rivers.Stamp
	var armed atomic.Bool
	paused := &pausedRivers{flushed: func(posts []int64, seen []rivers.Seen) {
		if armed.CompareAndSwap(true, false) {
			now.Store(int64(2 * time.Second))
			seen[0].Began = began
			seen[0].Items[0].Stamp.Fold += 1000 // as if something had changed
			old = seen[0].Items[0].Stamp
		}
		asked <- posts
	}}
	s := newLiveSite(t, func(c *HubConfig) {
		c.Now = clock
		paused.HubRivers = c.Rivers
		c.Rivers = paused
		c.Beat = make(chan time.Time)
	})
	ann, bob := s.person("ann"), s.person("bob")
	post := ann.post("public yet")
	g := s.open(bob, "/everything")

	armed.Store(true)
	s.hearOf(post.PostID)
	asked.await(t, post.PostID)
	asked.await(t, post.PostID) // again, as the first answer was decided too early
	fresh := ann.post("fresh")
	for code := ""; code != fresh.Code; {
		f, err := g.read()
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(f.Version, view.Version{Stamp: old}.String()+".") {
			t.Errorf("a stale decision was sent: %+v", f)
		}
		code = f.Post
	}
}

func parseID(t *testing.T, s string) int64 {
	t.Helper()
	id, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return id
}
