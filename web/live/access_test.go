package live_test

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
	"riverrun/web/live"
	"riverrun/web/view"
	"riverrun/web/webtest"
)

func TestSignOutCloses(t *testing.T) {
	t.Run("within a second", func(t *testing.T) {
		s := webtest.New(t, nil)
		ann := s.Person("ann")
		g := s.Open(ann, "/")
		ann.SignOut()
		out := time.Now()
		if c := g.Closed(); c.Code != live.CloseSignedOut {
			t.Errorf("closed with %v, want %d", c, live.CloseSignedOut)
		}
		if took := time.Since(out); took > time.Second {
			t.Errorf("closed after %v, want within a second", took)
		}
		// And the cookie opens nothing any more.
		conn, _, err := s.Dial(ann, nil)
		if err != nil {
			t.Fatal(err)
		}
		again := &webtest.Page{T: t, Conn: conn}
		if c := again.Closed(); c.Code != live.CloseSignedOut {
			t.Errorf("a dead session's socket closed with %v, want %d", c, live.CloseSignedOut)
		}
	})
	t.Run("though the bus stands still", func(t *testing.T) {
		beat := make(chan time.Time)
		s := webtest.New(t, func(c *live.Config) { c.Hear, c.Beat = webtest.Deaf, beat })
		ann, bob := s.Person("ann"), s.Person("bob")
		g, other := s.Open(ann, "/"), s.Open(bob, "/")
		ann.SignOut()
		beat <- time.Now()
		if c := g.Closed(); c.Code != live.CloseSignedOut {
			t.Errorf("closed with %v, want %d", c, live.CloseSignedOut)
		}
		// Bob's stays open.
		other.Subscribe()
		other.Until("ok", func(f webtest.Frame) bool { return f.T == "ok" })
	})
}

func TestAccessLostCloses(t *testing.T) {
	beat := make(chan time.Time)
	s := webtest.New(t, func(c *live.Config) { c.Hear, c.Beat = webtest.Deaf, beat })
	ann, bob := s.Person("ann"), s.Person("bob")
	ann.Post("for all, still")
	g := s.Open(bob, "/ann")
	ann.Act(func(ctx context.Context) (timelines.Change, error) {
		return s.Store.Feeds.SetAccess(ctx, ann.Account.ID, "", timelines.Private)
	})
	beat <- time.Now()
	if c := g.Closed(); c.Code != live.CloseNoPage {
		t.Errorf("closed with %v, want %d", c, live.CloseNoPage)
	}
}

func TestSlowReaderDelaysNobody(t *testing.T) {
	for _, tc := range []struct {
		name string
		most int64 // bytes that are read each time somebody else was told of a comment
	}{{"who reads nothing", 0}, {"who reads a byte now and then", 1}} {
		t.Run(tc.name, func(t *testing.T) {
			s := webtest.New(t, func(c *live.Config) { c.WriteTimeout = 3 * time.Second })
			ann := s.Person("ann")
			post := ann.Post("long talk")
			slow := rawSocket(s)
			subscribeRaw(s, slow, "/p/"+post.Code)
			webtest.Await(t, "the slow reader's socket", func() bool { return s.Figure("riverrun_frames_sent_total", "ok") == 1 })
			quick := s.Open(nil, "/p/"+post.Code)
			long := strings.Repeat("word ", 3900)
			for i := 0; s.Figure("riverrun_sockets_closed_total", "stuck") == 0; i++ {
				if i == 60 {
					t.Fatal("a slow reader was not closed")
				}
				ann.Comment(post.Code, strconv.Itoa(i)+" "+long)
				quick.Until("comment", func(f webtest.Frame) bool {
					return strings.Contains(f.HTML+f.Parts["comments"], ">"+strconv.Itoa(i)+" word")
				})
				if _, err := io.CopyN(io.Discard, slow, tc.most); err != nil {
					break // it was closed
				}
			}
			webtest.Await(t, "the slow reader's socket to end", func() bool { return s.Figure("riverrun_sockets_open") == 1 })
		})
	}
}

// A decision that is more than a second old is made again before it is sent.
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
	s := webtest.New(t, func(c *live.Config) {
		c.Now = clock
		paused.Rivers = c.Rivers
		c.Rivers = paused
		c.Beat = make(chan time.Time)
	})
	ann, bob := s.Person("ann"), s.Person("bob")
	post := ann.Post("public yet")
	g := s.Open(bob, "/everything")

	armed.Store(true)
	s.HearOf(post.PostID)
	asked.await(t, post.PostID)
	asked.await(t, post.PostID) // again, as the first answer was decided too early
	fresh := ann.Post("fresh")
	for code := ""; code != fresh.Code; {
		f, err := g.Read()
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
