package jobs

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"pgregory.net/rapid"

	"riverrun/timelines"
)

func TestRolledBackChangesAreNotAnnounced(t *testing.T) {
	pool := prepare(t)
	var seen recorder[timelines.Touched]
	done := make(chan struct{}, 10)
	c := &calls{distribute: func(_ context.Context, touched timelines.Touched) error {
		seen.add(touched)
		done <- struct{}{}
		return nil
	}}
	start(t, config(t, pool, c))

	tx, err := pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := announcer(t).AnnounceTx(t.Context(), tx, timelines.Touched{PostID: 1}); err != nil {
		t.Fatal(err)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	announce(t, pool, timelines.Touched{PostID: 2, Timelines: []int64{7, 5}})
	receive(t, "the committed change", done)

	want := []timelines.Touched{{PostID: 2, Timelines: []int64{5, 7}}}
	if diff := cmp.Diff(want, seen.all()); diff != "" {
		t.Errorf("distributed (-want +got):\n%s", diff)
	}
	if n := count(t, pool, `SELECT count(*) FROM queue.river_job WHERE kind = 'distribute'`); n != 1 {
		t.Errorf("distribute jobs in the queue: got %d, want 1", n)
	}
}

// TestPickedUpBySignal works with polling switched off: only the wake-up at the
// commit can bring the job to the worker.
func TestPickedUpBySignal(t *testing.T) {
	pool := prepare(t)
	picked := make(chan timelines.Touched, 1)
	c := &calls{distribute: func(_ context.Context, touched timelines.Touched) error {
		picked <- touched
		return nil
	}}
	cfg := config(t, pool, c)
	cfg.PollInterval, cfg.IdlePollInterval = never, never
	start(t, cfg)
	announce(t, pool, timelines.Touched{PostID: 3})
	if got := receive(t, "the change", picked); got.PostID != 3 {
		t.Errorf("picked up post %d, want 3", got.PostID)
	}
}

// A change has its own node look for the job, which may have woken nobody, and wakes nobody if the wake-up of the change
// before it was rolled back.
func TestAChangeHasItsNodeLook(t *testing.T) {
	pool := prepare(t)
	cfg := config(t, pool, &calls{})
	cfg.Announcer = announcer(t)
	j, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer stop(t, j)
	if _, looks := j.lookout.pause(); looks {
		t.Fatal("a node without work looks")
	}
	if err := pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error {
		return cfg.Announcer.AnnounceTx(t.Context(), tx, timelines.Touched{PostID: 1})
	}); err != nil {
		t.Fatal(err)
	}
	if _, looks := j.lookout.pause(); !looks {
		t.Error("the node of a change does not look for its job")
	}
}

// Changes of posts that follow each other wake the workers once: their jobs are fetched together.
func TestChangesOfPostsWakeTogether(t *testing.T) {
	pool := prepare(t)
	conn, sent := traced(t, pool)
	a := announcer(t)
	var err error
	if a.seldom, err = newInserter(quiet, time.Hour); err != nil { // however slow the machine is
		t.Fatal(err)
	}
	for post := range int64(20) {
		if err := pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error {
			return a.AnnounceTx(t.Context(), tx, timelines.Touched{PostID: post})
		}); err != nil {
			t.Fatal(err)
		}
	}
	woken := 0
	for _, sql := range sent.seen {
		if strings.Contains(sql, "PGNotifyMany") {
			woken++
		}
	}
	if woken != 1 {
		t.Errorf("20 changes woke the workers %d times, want once", woken)
	}
}

// A job that somebody waits for wakes the workers, however little time has passed since a change of a post woke them.
func TestJobsThatAreWaitedForAlwaysWake(t *testing.T) {
	pool := prepare(t)
	picked, bumped := make(chan int64, 10), make(chan int64, 10)
	c := &calls{complete: true, distribute: func(_ context.Context, touched timelines.Touched) error {
		picked <- touched.PostID
		return nil
	}, bump: func(_ context.Context, u timelines.PendingBump) error {
		bumped <- u.PostID
		return nil
	}}
	cfg := config(t, pool, c)
	cfg.PollInterval, cfg.IdlePollInterval = never, never
	start(t, cfg)
	a := announcer(t)
	var err error
	if a.seldom, err = newInserter(quiet, time.Hour); err != nil {
		t.Fatal(err)
	}
	for _, events := range [][]timelines.Event{{timelines.Touched{PostID: 1}}, {timelines.Touched{PostID: 2}, timelines.PendingBump{PostID: 2}}} {
		if err := pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error { return a.AnnounceTx(t.Context(), tx, events...) }); err != nil {
			t.Fatal(err)
		}
		receive(t, "a change", picked)
	}
	receive(t, "the block of the second", bumped)
}

// BenchmarkPickup is the time from before a change's commit until a worker has
// its job, if somebody waits for it.
func BenchmarkPickup(b *testing.B) {
	pool := prepare(b)
	picked := make(chan time.Time, 1)
	c := &calls{bump: func(context.Context, timelines.PendingBump) error {
		picked <- time.Now()
		return nil
	}}
	start(b, config(b, pool, c))
	a := announcer(b)
	var lags []time.Duration
	for b.Loop() {
		var committing time.Time
		err := pgx.BeginFunc(b.Context(), pool, func(tx pgx.Tx) error {
			err := a.AnnounceTx(b.Context(), tx, timelines.PendingBump{PostID: 4})
			committing = time.Now()
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
		lags = append(lags, receive(b, "the change", picked).Sub(committing))
	}
	slices.Sort(lags)
	b.ReportMetric(float64(lags[len(lags)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(lags[len(lags)*99/100].Microseconds()), "p99-µs")
}

// statements counts what a connection sends.
type statements struct{ seen []string }

func (s *statements) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	s.seen = append(s.seen, data.SQL)
	return ctx
}

func (s *statements) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// traced opens a connection, and returns with it what it sends.
func traced(t *testing.T, pool *pgxpool.Pool) (*pgx.Conn, *statements) {
	t.Helper()
	sent := &statements{}
	connConfig := pool.Config().ConnConfig
	connConfig.Tracer = sent
	conn, err := pgx.ConnectConfig(t.Context(), connConfig)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := conn.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return conn, sent
}

func TestOneStatementHoweverManyEvents(t *testing.T) {
	pool := prepare(t)
	conn, sent := traced(t, pool)
	var events []timelines.Event
	for post := range int64(300) {
		events = append(events, timelines.Touched{PostID: post, Timelines: []int64{post, post + 1}})
	}
	events = append(events, timelines.Replace{ViewerID: 1}, timelines.PendingBump{PostID: 1})
	a := announcer(t)
	err := pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error {
		// The first insert of a client also asks the server for its version.
		if err := a.AnnounceTx(t.Context(), tx, timelines.PendingBump{PostID: 1}); err != nil {
			return err
		}
		sent.seen = nil
		return a.AnnounceTx(t.Context(), tx, events...)
	})
	if err != nil {
		t.Fatal(err)
	}
	inserts := 0
	for _, sql := range sent.seen {
		if strings.Contains(sql, "INSERT INTO") {
			inserts++
		}
	}
	// The wake-up, then the end of the transaction.
	if inserts != 1 || len(sent.seen) > 3 {
		t.Errorf("302 events: got %d inserts in %d statements, want 1 in at most 3:\n%s",
			inserts, len(sent.seen), strings.Join(sent.seen, "\n---\n"))
	}
	if n := count(t, pool, `SELECT count(*) FROM queue.river_job`); n != len(events)+1 {
		t.Errorf("jobs: got %d, want %d", n, len(events)+1)
	}
}

func TestNoEventsNoStatement(t *testing.T) {
	// A nil transaction would panic if it were used.
	if err := announcer(t).AnnounceTx(t.Context(), nil); err != nil {
		t.Errorf("AnnounceTx without events: %v", err)
	}
}

func TestInsertParams(t *testing.T) {
	now := time.UnixMicro(1234567)
	params, err := insertParams([]timelines.Event{
		timelines.Touched{PostID: 9, Timelines: []int64{3, 1}, Change: 5, Unpushed: true},
		timelines.Replace{ViewerID: 5, Kinds: []string{"home"}},
		timelines.Touched{PostID: 8, Change: 5, Unpushed: true},
		timelines.Touched{PostID: 9, Timelines: []int64{2, 3}, Change: 5},
		timelines.PendingBump{PostID: 9, After: 77},
		timelines.Replace{Everybody: true},
		timelines.Replace{AccountID: 4, Kinds: []string{"user"}},
		timelines.Replace{Everybody: true, Kinds: []string{"hashtag"}, Terms: []string{"весна"}},
		timelines.Upkeep{},
		timelines.TouchedBatch{{PostID: 9, Timelines: []int64{6, 7}}, {PostID: 3}},
	}, now)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range params {
		text, err := json.Marshal(p.Args)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, p.Args.Kind()+" "+string(text))
	}
	want := []string{
		`distribute {"post_id":9,"timelines":"1,2,3","at":1234567,"change":5}`,
		`replace {"viewer_id":5,"kinds":["home"]}`,
		`distribute {"post_id":8,"timelines":"","at":1234567,"change":5,"unpushed":true}`,
		`bump {"post_id":9,"after":77}`,
		`replace {"everybody":true}`,
		`replace {"account_id":4,"kinds":["user"]}`,
		`replace {"everybody":true,"kinds":["hashtag"],"terms":["весна"]}`,
		`upkeep {}`,
		`distribute_batch {"touched":"9:6,7;3:","at":1234567}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("jobs (-want +got):\n%s", diff)
	}
	if _, err := insertParams([]timelines.Event{nil}, now); err == nil {
		t.Error("an unknown event was dropped in silence")
	}
}

func TestTouchedPosts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		one := rapid.Custom(func(t *rapid.T) timelines.Touched {
			return timelines.Touched{PostID: rapid.Int64().Draw(t, "post"), Timelines: rapid.SliceOf(rapid.Int64()).Draw(t, "timelines")}
		})
		want := touchedPosts(rapid.SliceOf(one).Draw(t, "posts"))
		text, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got touchedPosts
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	})
	for _, text := range []string{`"1"`, `"1:2;"`, `"x:1"`, `"1:x"`, `7`} {
		if err := json.Unmarshal([]byte(text), new(touchedPosts)); err == nil {
			t.Errorf("%s was taken for touched posts", text)
		}
	}
}

func TestIDs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := ids(rapid.SliceOf(rapid.Int64()).Draw(t, "ids"))
		text, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got ids
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%s: got %v, want %v", text, got, want)
		}
	})
	for _, bad := range []string{`"1,"`, `"x"`, `[1]`, `"9223372036854775808"`, `" 1"`} {
		var got ids
		if err := json.Unmarshal([]byte(bad), &got); err == nil {
			t.Errorf("%s: got %v, want an error", bad, got)
		}
	}
}
