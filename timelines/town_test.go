package timelines

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/jackc/pgx/v5"

	"riverrun/migrations/testdb"
	"riverrun/timelines/kinds"
)

// town is a store with people in it, and what was announced of their changes.
type town struct {
	testing.TB
	*Store
	heard *recorder
}

// recorder is an Announcer that remembers.
type recorder struct {
	mu     sync.Mutex
	events []Event
	// within, if set, runs inside the change's transaction.
	within func(context.Context, pgx.Tx, []Event) error
}

func (r *recorder) AnnounceTx(ctx context.Context, tx pgx.Tx, events ...Event) error {
	r.mu.Lock()
	within := r.within
	for _, e := range events {
		if replace, ok := e.(Replace); ok {
			if replace.Tx == 0 {
				return fmt.Errorf("%+v is announced without its transaction", replace)
			}
			replace.Tx = 0 // another each time
			e = replace
		}
		if touched, ok := e.(Touched); ok {
			touched.Change = 0 // another each time
			e = touched
		}
		r.events = append(r.events, e)
	}
	r.mu.Unlock()
	if within != nil {
		return within(ctx, tx, events)
	}
	return nil
}

// take returns what was announced since it was last called.
func (r *recorder) take() []Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	events := r.events
	r.events = nil
	return events
}

func (r *recorder) inside(fn func(context.Context, pgx.Tx, []Event) error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.within = fn
}

// newTown makes an empty town; tests in towns of their own run side by side.
func newTown(tb testing.TB) *town {
	tb.Helper()
	if t, ok := tb.(*testing.T); ok {
		t.Parallel()
	}
	return newTownAlone(tb)
}

// newTownAlone is newTown for a test that no other runs beside.
func newTownAlone(tb testing.TB) *town {
	tb.Helper()
	heard := &recorder{}
	return &town{TB: tb, Store: Open(testdb.New(tb).Primary, heard, DefaultOptions()), heard: heard}
}

// large is the size of what a benchmark measures in, a tenth of it with -short: to see
// that it runs.
func large(n int) int {
	if testing.Short() {
		return n / 10
	}
	return n
}

// people makes n accounts, and returns their ids in order.
func (w *town) people(prefix string, n int) (ids []int64) {
	w.Helper()
	ids = value[[]int64](w, `
		WITH made AS (
			INSERT INTO accounts (kind, name, title) SELECT 'user', $1 || '-' || i, $1 FROM generate_series(1, $2) i
			RETURNING id)
		SELECT array_agg(id ORDER BY id) FROM made`, prefix, n)
	// The server looks for referenced rows by plans it made when there was a handful.
	w.pool.Reset()
	_, err := inTx(w.Context(), w.core, func(tx pgx.Tx) (struct{}, error) {
		if _, err := tx.Exec(w.Context(), `SET LOCAL enable_seqscan = off`); err != nil {
			return struct{}{}, err
		}
		return struct{}{}, insertTimelinesTx(w.Context(), tx, ids)
	})
	w.must(err)
	w.exec(`ANALYZE accounts, timelines`)
	w.pool.Reset()
	return ids
}

// user makes an account without a password, which would take its time.
func (w *town) user(name string) Account {
	w.Helper()
	a, err := inTx(w.Context(), w.core, func(tx pgx.Tx) (Account, error) {
		id, err := insertAccountTx(w.Context(), tx, User, name, name, "", "")
		if err != nil {
			return Account{}, err
		}
		return accountTx(w.Context(), tx, id)
	})
	w.must(err)
	return a
}

func (w *town) group(admin Account, name string, level Level) Account {
	w.Helper()
	g, _, err := w.Groups.Create(w.Context(), NewGroup{Actor: admin.ID, Name: name, Title: name, Access: level})
	w.must(err)
	return g
}

func (w *town) post(author Account, body string, to ...string) Change {
	w.Helper()
	c, err := w.Posts.Create(w.Context(), NewPost{Author: author.ID, Body: body, To: to})
	w.must(err)
	return c
}

func (w *town) comment(author Account, code string) Change {
	w.Helper()
	c, err := w.Comments.Create(w.Context(), NewComment{Author: author.ID, Code: code, Body: "so it is"})
	w.must(err)
	return c
}

func (w *town) subscribe(actor Account, name string) Change {
	w.Helper()
	c, _, err := w.Subscriptions.Subscribe(w.Context(), actor.ID, name)
	w.must(err)
	return c
}

func (w *town) setAccess(actor Account, group string, level Level) Change {
	w.Helper()
	c, err := w.Feeds.SetAccess(w.Context(), actor.ID, group, level)
	w.must(err)
	return c
}

func (w *town) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *town) exec(sql string, args ...any) {
	w.Helper()
	if _, err := w.pool.Exec(w.Context(), sql, args...); err != nil {
		w.Fatalf("%s: %v", sql, err)
	}
}

// value reads one value.
func value[T any](w *town, sql string, args ...any) T {
	w.Helper()
	return valueFrom[T](w, w.pool, sql, args...)
}

type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

func valueFrom[T any](w *town, q querier, sql string, args ...any) T {
	w.Helper()
	rows, err := q.Query(w.Context(), sql, args...)
	w.must(err)
	v, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[T])
	if err != nil {
		w.Fatalf("%s %v: %v", sql, args, err)
	}
	return v
}

// timeline returns the id of a fixed timeline.
func (w *town) timeline(kind string, theirID int64, term ...string) int64 {
	w.Helper()
	return value[int64](w, `SELECT id FROM timelines WHERE kind = $1 AND their_id = $2 AND term = $3`, kind, theirID, strings.Join(term, ""))
}

// ids sorts timeline ids for comparison with Touched.
func ids(list ...int64) []int64 { return union(list, nil) }

func (w *town) same(what string, got, want any) {
	w.Helper()
	// The number of a transaction is another each time, and so is the name of a change.
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(Replace{}, "Tx"), cmpopts.IgnoreFields(Change{}, "Name")); diff != "" {
		w.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func (w *town) fails(what string, got, want error) {
	w.Helper()
	if !errors.Is(got, want) {
		w.Errorf("%s: got error %v, want %v", what, got, want)
	}
}

// invalid checks that err is an InvalidError with that code.
func (w *town) invalid(what string, err error, code string) {
	w.Helper()
	var bad *InvalidError
	if !errors.As(err, &bad) || bad.Code != code {
		w.Errorf("%s: got error %v, want InvalidError %q", what, err, code)
	}
}

// row is a row of timeline_entries.
type row struct {
	EnteredAt int64
	FreshAt   int64
	Withdrawn bool
}

func (w *town) row(timeline, post int64) row {
	w.Helper()
	rows, err := w.pool.Query(w.Context(),
		`SELECT entered_at, fresh_at, withdrawn FROM timeline_entries WHERE timeline_id = $1 AND post_id = $2`, timeline, post)
	w.must(err)
	r, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[row])
	if err != nil {
		w.Fatalf("post %d in timeline %d: %v", post, timeline, err)
	}
	return r
}

func (w *town) freshAt(post int64) int64 {
	w.Helper()
	return value[int64](w, `SELECT fresh_at FROM posts WHERE id = $1`, post)
}

func (w *town) version(post int64) int64 {
	w.Helper()
	return value[int64](w, `SELECT version FROM posts WHERE id = $1`, post)
}

// age makes the post older, its rows with it.
func (w *town) age(post int64, by time.Duration) {
	w.Helper()
	w.exec(`UPDATE posts SET created_at = created_at - $2::interval, fresh_at = fresh_at - $3 WHERE id = $1`,
		post, by, by.Microseconds())
	w.exec(`UPDATE timeline_entries SET created_at = created_at - $2, fresh_at = fresh_at - $2, entered_at = entered_at - $2
		WHERE post_id = $1`, post, by.Microseconds())
	w.exec(`UPDATE notifications SET at = at - $2 WHERE post_id = $1`, post, by.Microseconds())
}

// waitBlocked returns when n statements in this database wait for a lock.
func (w *town) waitBlocked(n int) {
	w.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for value[int](w, `SELECT count(*)::int FROM pg_stat_activity
		WHERE datname = current_database() AND wait_event_type = 'Lock'`) < n {
		if time.Now().After(deadline) {
			w.Fatalf("never saw %d statements wait for a lock", n)
		}
		runtime.Gosched()
	}
}

// hold opens a transaction that a test keeps open while others meet it.
func (w *town) hold() pgx.Tx {
	w.Helper()
	tx, err := w.pool.Begin(w.Context())
	w.must(err)
	w.Cleanup(func() {
		if err := tx.Rollback(context.Background()); err != nil && !errors.Is(err, pgx.ErrTxClosed) {
			w.Errorf("roll back a held transaction: %v", err)
		}
	})
	return tx
}

// during starts fn and returns what waits for its end.
func during[T any](fn func() T) (wait func() T) {
	done := make(chan T, 1)
	go func() { done <- fn() }()
	return func() T { return <-done }
}

// sound checks what must hold at rest, when no block of a bump is left to do.
func (w *town) sound() {
	w.Helper()
	for _, rule := range []struct{ what, broken string }{
		{"a row's fresh_at is max(post's, entered_at)", `
			SELECT e.post_id FROM timeline_entries e JOIN posts p ON p.id = e.post_id JOIN timelines t ON t.id = e.timeline_id
			WHERE e.fresh_at <> greatest(p.fresh_at, e.entered_at) AND p.deleted_at IS NULL AND t.kind <> 'notifications'`},
		{"notifications hold what has events, at the last of them", `
			SELECT p.id FROM posts p CROSS JOIN timelines t
			LEFT JOIN timeline_entries e ON e.timeline_id = t.id AND e.post_id = p.id AND NOT e.withdrawn
			WHERE t.kind = 'notifications' AND (e.entered_at, e.fresh_at) IS DISTINCT FROM (
				SELECT (max(n.at), max(n.at)) FROM notifications n WHERE n.account_id = t.their_id AND n.post_id = p.id)`},
		{"nobody is told of likes and comments that are gone", `
			SELECT n.post_id FROM notifications n
			WHERE n.kind = 1 AND NOT EXISTS (SELECT FROM likes l WHERE l.post_id = n.post_id AND l.account_id = n.actor_id)
				OR n.kind = 2 AND NOT EXISTS (SELECT FROM comment_likes l WHERE l.comment_id = n.comment_id AND l.account_id = n.actor_id)
				OR n.comment_id <> 0 AND NOT EXISTS (SELECT FROM comments c WHERE c.id = n.comment_id AND c.deleted_at IS NULL)`},
		{"a row's timeline is there", `
			SELECT e.post_id FROM timeline_entries e WHERE NOT EXISTS (SELECT FROM timelines t WHERE t.id = e.timeline_id)`},
		{"a row's created_at is the post's", `
			SELECT e.post_id FROM timeline_entries e JOIN posts p ON p.id = e.post_id
			WHERE e.created_at <> (extract(epoch FROM p.created_at) * 1000000)::bigint`},
		{"likes hold what is liked", `
			SELECT p.id FROM posts p CROSS JOIN accounts a WHERE a.kind = 'user'
				AND EXISTS (SELECT FROM likes l WHERE l.post_id = p.id AND l.account_id = a.id)
				<> EXISTS (SELECT FROM timeline_entries e JOIN timelines t ON t.id = e.timeline_id
					WHERE e.post_id = p.id AND t.kind = 'likes' AND t.their_id = a.id AND NOT e.withdrawn)`},
		{"faves hold what is kept", `
			SELECT p.id FROM posts p CROSS JOIN accounts a WHERE a.kind = 'user'
				AND EXISTS (SELECT FROM faves f WHERE f.post_id = p.id AND f.account_id = a.id)
				<> EXISTS (SELECT FROM timeline_entries e JOIN timelines t ON t.id = e.timeline_id
					WHERE e.post_id = p.id AND t.kind = 'faves' AND t.their_id = a.id AND NOT e.withdrawn)`},
		{"comments hold what is commented on", `
			SELECT p.id FROM posts p CROSS JOIN accounts a WHERE a.kind = 'user'
				AND EXISTS (SELECT FROM comments c WHERE c.post_id = p.id AND c.author_id = a.id AND c.deleted_at IS NULL)
				<> EXISTS (SELECT FROM timeline_entries e JOIN timelines t ON t.id = e.timeline_id
					WHERE e.post_id = p.id AND t.kind = 'comments' AND t.their_id = a.id AND NOT e.withdrawn)`},
		{"discussions hold what was written, commented on or liked", `
			SELECT p.id FROM posts p CROSS JOIN accounts a WHERE a.kind = 'user'
				AND (p.deleted_at IS NULL AND p.author_id = a.id
					OR EXISTS (SELECT FROM likes l WHERE l.post_id = p.id AND l.account_id = a.id)
					OR EXISTS (SELECT FROM comments c WHERE c.post_id = p.id AND c.author_id = a.id AND c.deleted_at IS NULL))
				<> EXISTS (SELECT FROM timeline_entries e JOIN timelines t ON t.id = e.timeline_id
					WHERE e.post_id = p.id AND t.kind = 'discussions' AND t.their_id = a.id AND NOT e.withdrawn)`},
		{"a deleted comment leaves nothing", `
			SELECT c.post_id FROM comments c WHERE c.deleted_at IS NOT NULL
				AND (c.body <> '' OR EXISTS (SELECT FROM comment_likes l WHERE l.comment_id = c.id))`},
		{"flags are those of the decisive timelines", `
			SELECT p.id FROM posts p
			WHERE p.deleted_at IS NULL AND p.is_public <> (
				SELECT bool_or(t.access = 0) FROM timelines t WHERE t.id = ANY(p.decisive))`},
		{"a post stands where it is decided, and nowhere else", `
			SELECT p.id FROM posts p CROSS JOIN timelines t
			WHERE p.deleted_at IS NULL AND t.kind IN ('feed', 'subfeed', 'eyes', 'directs', 'group')
				AND (t.id = ANY(p.decisive)) <> EXISTS (SELECT FROM timeline_entries e
					WHERE e.timeline_id = t.id AND e.post_id = p.id AND NOT e.withdrawn)`},
		{"everything holds what is for more than eyes and directs", `
			SELECT p.id FROM posts p JOIN timelines t ON t.kind = 'everything'
			WHERE p.deleted_at IS NULL
				AND (t.term IN ('', p.lang) AND EXISTS (SELECT FROM timelines d WHERE d.id = ANY(p.decisive) AND d.kind NOT IN ('eyes', 'directs')))
				<> EXISTS (SELECT FROM timeline_entries e WHERE e.timeline_id = t.id AND e.post_id = p.id AND NOT e.withdrawn)`},
		{"a deleted post leaves nothing", `
			SELECT p.id FROM posts p WHERE p.deleted_at IS NOT NULL AND (
				p.body <> '' OR p.is_public
				OR EXISTS (SELECT FROM likes l WHERE l.post_id = p.id)
				OR EXISTS (SELECT FROM faves f WHERE f.post_id = p.id)
				OR EXISTS (SELECT FROM attachments x WHERE x.post_id = p.id)
				OR EXISTS (SELECT FROM comments c WHERE c.post_id = p.id AND (c.deleted_at IS NULL OR c.body <> ''))
				OR EXISTS (SELECT FROM timeline_entries e WHERE e.post_id = p.id AND NOT e.withdrawn))`},
		{"a subscriber reads", `
			SELECT s.account_id FROM subscriptions s
			JOIN timelines t ON t.their_id = s.account_id AND t.kind IN ('feed', 'group')
			JOIN accounts a ON a.id = s.account_id AND (a.kind = 'group') = (t.kind = 'group')
			WHERE NOT EXISTS (SELECT FROM readers r WHERE r.timeline_id = t.id AND r.account_id = s.subscriber_id)`},
		{"an administrator reads, and is not blocked", `
			SELECT g.group_id FROM group_admins g JOIN timelines t ON t.kind = 'group' AND t.their_id = g.group_id
			WHERE NOT EXISTS (SELECT FROM readers r WHERE r.timeline_id = t.id AND r.account_id = g.account_id)
				OR EXISTS (SELECT FROM group_blocks b WHERE b.group_id = g.group_id AND b.account_id = g.account_id)`},
		{"readers of a group are members or administrators, or else admitted", `
			SELECT t.their_id FROM readers r JOIN timelines t ON t.id = r.timeline_id AND t.kind = 'group'
			WHERE r.admitted = (
				EXISTS (SELECT FROM subscriptions s WHERE s.account_id = t.their_id AND s.subscriber_id = r.account_id)
				OR EXISTS (SELECT FROM group_admins g WHERE g.group_id = t.their_id AND g.account_id = r.account_id))`},
		{"nobody is admitted to a feed but as a reader", `
			SELECT t.id FROM readers r JOIN timelines t ON t.id = r.timeline_id AND t.kind <> 'group' WHERE r.admitted`},
		{"who is excluded is no reader, does not subscribe and asks for nothing", `
			SELECT t.their_id FROM excluded x JOIN timelines t ON t.id = x.timeline_id
			WHERE EXISTS (SELECT FROM readers r WHERE r.timeline_id = t.id AND r.account_id = x.account_id)
				OR t.kind IN ('feed', 'group') AND (
					EXISTS (SELECT FROM subscriptions s WHERE s.account_id = t.their_id AND s.subscriber_id = x.account_id)
					OR EXISTS (SELECT FROM subscription_requests q WHERE q.account_id = t.their_id AND q.subscriber_id = x.account_id))`},
		{"a group keeps an administrator", `
			SELECT a.id FROM accounts a WHERE a.kind = 'group'
				AND NOT EXISTS (SELECT FROM origins o WHERE o.kind = 'account' AND o.their_id = a.id)
				AND NOT EXISTS (SELECT FROM group_admins g WHERE g.group_id = a.id)`},
		{"a timeline is of a known kind, and is a base timeline if its kind is", `
			SELECT t.id FROM timelines t WHERE t.base <> (t.kind IN ` + kinds.SQL(func(k kinds.Spec) bool { return k.Base }) + `)
				OR t.kind NOT IN ` + kinds.SQL(func(kinds.Spec) bool { return true })},
		{"a text is found by the tags in whose timelines it brings its post", `
			SELECT t.post_id FROM texts t
			WHERE ARRAY(SELECT l FROM unnest(tsvector_to_array(t.lexemes)) l WHERE l LIKE '#%' ORDER BY 1)
				<> ARRAY(SELECT '#' || h.term FROM text_marks m JOIN timelines h ON h.id = m.timeline_id AND h.kind = 'hashtag'
					WHERE m.post_id = t.post_id AND m.comment_id = t.comment_id ORDER BY 1)`},
		{"the access clock has no gaps", `
			SELECT c.n FROM access_clock c WHERE
				c.n - 1 <> (SELECT count(DISTINCT n) FROM access_log)`},
	} {
		rows, err := w.pool.Query(w.Context(), rule.broken)
		w.must(err)
		broken, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		w.must(err)
		if len(broken) > 0 {
			w.Errorf("%s: broken for %v", rule.what, broken)
		}
	}
	w.soundMarks()
	w.soundAggregates()
}

// touchedBy returns the union of the timelines announced as touched.
func touchedBy(events []Event) []int64 {
	var all []int64
	for _, t := range announcedPosts(events) {
		all = append(all, t.Timelines...)
	}
	return union(all, nil)
}

// announcedPosts returns the posts that were announced, alone or in batches.
func announcedPosts(events []Event) (list []Touched) {
	for _, e := range events {
		switch e := e.(type) {
		case Touched:
			list = append(list, e)
		case TouchedBatch:
			list = append(list, e...)
		}
	}
	return list
}

// logged returns the rows of the access log after n.
func (w *town) logged(n int64) []Invalidation {
	w.Helper()
	rows, err := w.pool.Query(w.Context(), `
		SELECT n, kind, account_id, timeline_id, token_hash FROM access_log WHERE n > $1 ORDER BY n`, n)
	w.must(err)
	logged, err := pgx.CollectRows(rows, pgx.RowToStructByName[Invalidation])
	w.must(err)
	return logged
}

func (w *town) clock() int64 {
	w.Helper()
	return value[int64](w, `SELECT n FROM access_clock`)
}

// paused is a change stopped inside its transaction, where it announces.
type paused struct {
	there, onward chan struct{}
}

// pauseInside stops the next change that announces anything; those after it go
// on.
func (w *town) pauseInside() paused {
	w.Helper()
	p := paused{make(chan struct{}), make(chan struct{})}
	var once sync.Once
	w.heard.inside(func(ctx context.Context, _ pgx.Tx, _ []Event) error {
		once.Do(func() {
			close(p.there)
			select {
			case <-p.onward:
			case <-ctx.Done():
			}
		})
		return nil
	})
	return p
}

func (p paused) reached(t *testing.T) {
	t.Helper()
	select {
	case <-p.there:
	case <-t.Context().Done():
		t.Fatal("no change was announced")
	}
}

func (p paused) release() { close(p.onward) }
