package tiers_test

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"riverrun/migrations/testdb"
	"riverrun/rivers"
	"riverrun/tiers"
	"riverrun/timelines/reads"
)

// ear is a bus with what it heard.
type ear struct {
	*tiers.Bus
	t     testing.TB
	heard chan tiers.Message
}

func newEar(t testing.TB, db *testdb.DB, node string) *ear {
	e := &ear{
		Bus: tiers.NewBus(db.Secondary, node, slog.New(slog.DiscardHandler)), t: t,
		heard: make(chan tiers.Message, 10_000),
	}
	t.Cleanup(e.Subscribe(func(m tiers.Message) { e.heard <- m }))
	return e
}

func (e *ear) start() {
	e.t.Helper()
	if err := e.Start(context.Background()); err != nil {
		e.t.Fatalf("start bus: %v", err)
	}
	e.t.Cleanup(e.stop)
}

func (e *ear) stop() {
	if err := e.Stop(context.Background()); err != nil {
		e.t.Errorf("stop bus: %v", err)
	}
}

// patience is how long a test waits for what must come; only a failing one does.
const patience = 30 * time.Second

func (e *ear) next() tiers.Message {
	e.t.Helper()
	select {
	case m := <-e.heard:
		return m
	case <-time.After(patience):
		e.t.Fatal("nothing was heard")
		panic("unreachable")
	}
}

// until gathers messages until one that is the last.
func (e *ear) until(last func(tiers.Message) bool) []tiers.Message {
	e.t.Helper()
	var all []tiers.Message
	for {
		m := e.next()
		all = append(all, m)
		if last(m) {
			return all
		}
	}
}

func isPost(post int64) func(tiers.Message) bool {
	return func(m tiers.Message) bool { return slices.Contains(m.Posts, post) }
}

func TestBusReachesEveryNodeOnce(t *testing.T) {
	db := testdb.New(t)
	a, b := newEar(t, db, "a"), newEar(t, db, "b")
	a.start()
	b.start()
	name := rivers.Name{UserID: 1, Kind: rivers.Home, Order: rivers.Fresh}
	want := tiers.Message{Posts: []int64{7}, Swapped: []rivers.Name{name}, Clock: 5}
	a.Publish(want)
	// The end mark comes back to a from b: whatever a's own message did to a by way
	// of the server came before.
	if diff := cmp.Diff(want, b.next()); diff != "" {
		t.Errorf("the other node (-want +got):\n%s", diff)
	}
	b.Publish(tiers.Message{Posts: []int64{8}})
	got := a.until(isPost(8))
	if diff := cmp.Diff([]tiers.Message{want, {Posts: []int64{8}}}, got); diff != "" {
		t.Errorf("the node itself (-want +got):\n%s", diff)
	}
}

func TestBusSaysNothingForNothing(t *testing.T) {
	db := testdb.New(t)
	a, b := newEar(t, db, "a"), newEar(t, db, "b")
	a.start()
	b.start()
	a.Publish(tiers.Message{})
	a.Publish(tiers.Message{Clock: 3})
	if diff := cmp.Diff(tiers.Message{Clock: 3}, b.next()); diff != "" {
		t.Errorf("first message heard (-want +got):\n%s", diff)
	}
}

// A message goes at once. Those that follow it soon go together after a pause, or when the bus stops.
func TestBusPauses(t *testing.T) {
	db := testdb.New(t)
	a, b := newEar(t, db, "a"), newEar(t, db, "b")
	a.SetPause(time.Hour)
	b.start()
	a.start()
	a.Publish(tiers.Message{Posts: []int64{1}})
	if diff := cmp.Diff(tiers.Message{Posts: []int64{1}}, b.next()); diff != "" {
		t.Errorf("first message heard (-want +got):\n%s", diff)
	}
	var want tiers.Message
	for post := range int64(10) {
		want.Posts = append(want.Posts, 2+post)
		a.Publish(tiers.Message{Posts: []int64{2 + post}})
		if _, err := db.Secondary.Exec(t.Context(), `SELECT 1`); err != nil { // the bus could have sent it by now
			t.Fatal(err)
		}
	}
	a.stop()
	if diff := cmp.Diff(want, b.next()); diff != "" {
		t.Errorf("second message heard (-want +got):\n%s", diff)
	}
}

// While a bus is not connected messages gather, as they do while one is on its
// way; all go together, or as All beyond one notification's size.
func TestBusCoalesces(t *testing.T) {
	for _, c := range []struct {
		name  string
		posts int
		names int
		all   bool
	}{
		{name: "a thousand posts are one message", posts: 1000},
		{name: "too many posts for a payload are All", posts: 3000, all: true},
		{name: "too many to remember are All", posts: 9000, all: true},
		{name: "so are too many names", names: 200, all: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			db := testdb.New(t)
			a, b := newEar(t, db, "a"), newEar(t, db, "b")
			b.start()
			var want tiers.Message
			for i := range c.posts {
				m := tiers.Message{Posts: []int64{int64(i + 1)}, Clock: int64(i % 50)}
				want.Posts, want.Clock = append(want.Posts, m.Posts...), max(want.Clock, m.Clock)
				a.Publish(m)
			}
			for i := range c.names {
				a.Publish(tiers.Message{Swapped: []rivers.Name{{UserID: int64(i), Kind: rivers.Home, Order: rivers.Fresh}}})
			}
			if c.all {
				want = tiers.Message{All: true, Clock: want.Clock}
			}
			if got := len(a.heard); got != c.posts+c.names {
				t.Errorf("the node itself heard %d messages at once, want %d", got, c.posts+c.names)
			}
			a.start()
			if diff := cmp.Diff(want, b.next()); diff != "" {
				t.Errorf("the other node (-want +got):\n%s", diff)
			}
			a.Publish(tiers.Message{Posts: []int64{-1}})
			if diff := cmp.Diff(tiers.Message{Posts: []int64{-1}}, b.next()); diff != "" {
				t.Errorf("the next message (-want +got):\n%s", diff)
			}
		})
	}
}

// A connection lost is found again; what was said meanwhile is lost, so
// everything open is to be compared anew.
func TestBusReconnects(t *testing.T) {
	db := testdb.New(t)
	a, b := newEar(t, db, "a"), newEar(t, db, "b")
	a.start()
	b.start()
	tag, err := db.Secondary.Exec(context.Background(), `
		SELECT pg_terminate_backend(pid) FROM pg_stat_activity
		WHERE datname = current_database() AND query LIKE 'LISTEN %'`)
	if err != nil || tag.RowsAffected() != 2 {
		t.Fatalf("terminated %d listeners, want 2: %v", tag.RowsAffected(), err)
	}
	for _, e := range []*ear{a, b} {
		if diff := cmp.Diff(tiers.Message{All: true}, e.next()); diff != "" {
			t.Errorf("after the connection was lost (-want +got):\n%s", diff)
		}
	}
	a.Publish(tiers.Message{Posts: []int64{1}})
	if diff := cmp.Diff(tiers.Message{Posts: []int64{1}}, b.next()); diff != "" {
		t.Errorf("once it was found again (-want +got):\n%s", diff)
	}
}

// Garbage on the channel is a message that cannot be read: something was missed.
func TestBusTakesGarbageForAll(t *testing.T) {
	db := testdb.New(t)
	a := newEar(t, db, "a")
	a.start()
	if _, err := db.Secondary.Exec(context.Background(), `SELECT pg_notify('riverrun', 'garbage')`); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(tiers.Message{All: true}, a.next()); diff != "" {
		t.Errorf("after garbage (-want +got):\n%s", diff)
	}
}

func TestBusStops(t *testing.T) {
	db := testdb.New(t)
	ctx := context.Background()
	if err := newEar(t, db, "never started").Stop(ctx); err != nil {
		t.Errorf("stop before start: %v", err)
	}
	b := newEar(t, db, "b")
	b.start()
	if err := db.Secondary.Ping(ctx); err != nil { // the pool has its goroutines
		t.Fatal(err)
	}
	before := goleak.IgnoreCurrent()
	// Wherever a notification on its way is cut short, it is not lost.
	for run := range int64(10) {
		a := newEar(t, db, "a")
		if err := a.Start(ctx); err != nil {
			t.Fatal(err)
		}
		for i := range int64(50) {
			a.Publish(tiers.Message{Posts: []int64{run*50 + i}})
		}
		if err := a.Stop(ctx); err != nil {
			t.Errorf("stop: %v", err)
		}
		goleak.VerifyNone(t, before)
		b.until(isPost(run*50 + 49))
	}
}

// Cancelling a subscription ends it for this listener only.
func TestBusListenersComeAndGo(t *testing.T) {
	db := testdb.New(t)
	a := newEar(t, db, "a")
	heard := 0
	cancel := a.Subscribe(func(tiers.Message) { heard++ })
	a.Publish(tiers.Message{Posts: []int64{1}})
	cancel()
	a.Publish(tiers.Message{Posts: []int64{2}})
	if heard != 1 || len(a.heard) != 2 {
		t.Errorf("the one that left heard %d, want 1; the one that stayed %d, want 2", heard, len(a.heard))
	}
}

// A connection that died without a word is noticed, though nobody speaks, and what was
// missed meanwhile is looked for.
func TestBusNoticesASilentConnection(t *testing.T) {
	db := testdb.New(t)
	proxy := testdb.NewProxy(t, db.Secondary)
	remote := *db
	remote.Secondary = proxy.Pool(2)
	a, b := newEar(t, &remote, "a"), newEar(t, db, "b")
	a.SetQuiet(100 * time.Millisecond)
	a.start()
	b.start()
	b.Publish(tiers.Message{Posts: []int64{1}})
	a.until(isPost(1))
	proxy.Shut()
	b.Publish(tiers.Message{Posts: []int64{2}})
	select {
	case <-proxy.Made(): // a new connection, as the old one says nothing
	case <-time.After(patience):
		t.Fatal("the silent connection was not noticed")
	}
	proxy.Cut() // what is silent stays so for ever; what comes is heard
	proxy.Open()
	a.until(func(m tiers.Message) bool { return m.All })
	b.Publish(tiers.Message{Posts: []int64{3}})
	a.until(isPost(3))
}

// Very many marks of what people have read arrive, in as many notifications as they need. They
// do not make all pages be compared.
func TestBusCarriesManyMarks(t *testing.T) {
	db := testdb.New(t)
	a, b := newEar(t, db, "a"), newEar(t, db, "b")
	a.start()
	b.start()
	var want []reads.Mark
	for i := range int64(1000) {
		want = append(want, reads.Mark{Account: i, Post: i << 40, Seen: 1763683200000000 + i})
	}
	a.Publish(tiers.Message{Seen: want, Posts: []int64{7}})
	var got []reads.Mark
	for len(got) < len(want) {
		m := b.next()
		if m.All {
			t.Fatal("the marks became a comparison of everything")
		}
		got = append(got, m.Seen...)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("marks (-sent +heard):\n%s", diff)
	}
}
