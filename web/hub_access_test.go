package web

import (
	"context"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
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
		if c := g.closed(); c.Code != closeSignedOut {
			t.Errorf("closed with %v, want %d", c, closeSignedOut)
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
		if c := again.closed(); c.Code != closeSignedOut {
			t.Errorf("a dead session's socket closed with %v, want %d", c, closeSignedOut)
		}
	})
	t.Run("though the bus stands still", func(t *testing.T) {
		beat := make(chan time.Time)
		s := newLiveSite(t, func(c *hubConfig) { c.hear, c.beat = deaf, beat })
		ann, bob := s.person("ann"), s.person("bob")
		g, other := s.open(ann, "/"), s.open(bob, "/")
		ann.signOut()
		beat <- time.Now()
		if c := g.closed(); c.Code != closeSignedOut {
			t.Errorf("closed with %v, want %d", c, closeSignedOut)
		}
		// Bob's stays open.
		other.subscribe()
		other.until("ok", func(f frame) bool { return f.T == "ok" })
	})
}

func TestAccessLostCloses(t *testing.T) {
	beat := make(chan time.Time)
	s := newLiveSite(t, func(c *hubConfig) { c.hear, c.beat = deaf, beat })
	ann, bob := s.person("ann"), s.person("bob")
	ann.post("for all, still")
	g := s.open(bob, "/ann")
	ann.act(func(ctx context.Context) (timelines.Change, error) {
		return s.store.SetAccess(ctx, ann.account.ID, "", timelines.Private)
	})
	beat <- time.Now()
	if c := g.closed(); c.Code != closeNoPage {
		t.Errorf("closed with %v, want %d", c, closeNoPage)
	}
}

func TestSlowReaderDelaysNobody(t *testing.T) {
	for _, tc := range []struct {
		name string
		most int64 // bytes that are read each time somebody else was told of a comment
	}{{"who reads nothing", 0}, {"who reads a byte now and then", 1}} {
		t.Run(tc.name, func(t *testing.T) {
			s := newLiveSite(t, func(c *hubConfig) { c.writeTimeout = 3 * time.Second })
			ann := s.person("ann")
			post := ann.post("long talk")
			slow := s.rawPage("/p/" + post.Code)
			metric := s.server.hub.metric
			await(t, "the slow reader's socket", func() bool { return figure(t, metric.frames.WithLabelValues("ok")) == 1 })
			quick := s.open(nil, "/p/"+post.Code)
			stuck := metric.closed.WithLabelValues("stuck")
			long := strings.Repeat("word ", 3900)
			for i := 0; figure(t, stuck) == 0; i++ {
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
			await(t, "the slow reader's socket to end", func() bool { return figure(t, metric.sockets) == 1 })
		})
	}
}

func TestStaleDecisionsAreMadeAgain(t *testing.T) {
	var now atomic.Int64 // nanoseconds
	paused := &pausedRivers{}
	s := newLiveSite(t, func(c *hubConfig) {
		c.now = func() time.Time { return time.Unix(1e9, now.Load()) }
		paused.riverSource = c.rivers
		c.rivers = paused
		c.beat = make(chan time.Time)
	})
	ann, bob := s.person("ann"), s.person("bob")
	post := ann.post("public yet")
	g := s.open(bob, "/everything")

	// The second flush after this asks for what the first decided too early.
	var mu sync.Mutex
	var asked [][]int64
	h := s.server.hub
	watch := rivers.Watch{
		Viewer: bob.viewer, River: parseID(t, g.river),
		Name: rivers.Name{UserID: bob.account.ID, Kind: rivers.Everything, Order: rivers.Fresh},
	}
	seen, err := s.rivers.Flush(t.Context(), []rivers.Watch{watch}, []int64{post.PostID})
	if err != nil {
		t.Fatal(err)
	}
	it := seen[0].Items[0]
	it.Stamp.Fold += 1000 // as if something had changed
	old := newBatch(h.cfg.pages, h.cfg.now())
	paused.flushed = func(_ []rivers.Watch, posts []int64) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, posts)
	}
	now.Store(int64(2 * time.Second))
	sh := h.shardOf(watch.Name)
	sh.mu.Lock()
	room := sh.rooms[watch]
	if room == nil {
		t.Fatalf("nobody follows %+v", watch)
	}
	room.each(func(s *socket) {
		s.offer([]*update{{batch: old, watch: watch, post: it.PostID, item: &it, sets: seen[0].Sets}})
	})
	sh.mu.Unlock()
	await(t, "the decision to be made again", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return slices.ContainsFunc(asked, func(posts []int64) bool { return slices.Contains(posts, post.PostID) })
	})
	fresh := ann.post("fresh")
	for code := ""; code != fresh.Code; {
		f, err := g.read()
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(f.Version, view.Version{Stamp: it.Stamp}.String()+".") {
			t.Errorf("a stale decision was sent: %+v", f)
		}
		code = f.Post
	}
}

func parseID(t *testing.T, s string) int64 {
	t.Helper()
	id, err := parseRiver(s)
	if err != nil {
		t.Fatal(err)
	}
	return id
}
