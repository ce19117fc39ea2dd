package sources_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"riverrun/timelines"
	"riverrun/timelines/sources"
	"riverrun/timelines/sources/formats"
	"riverrun/timelines/sources/hosts"
)

// link adds a source for an owner that has been due for the time since.
func (w *world) link(owner timelines.Account, url string, since time.Duration) int64 {
	w.Helper()
	return value[int64](w, `
		INSERT INTO sources (owner_id, added_by, code, way, mode, title, url, next_at)
		VALUES ($1, $1, lpad((SELECT count(*) FROM sources)::text, 10, '0'), 'link', 'append', 'A feed', $2, now() - $3::interval) RETURNING id`,
		owner.ID, url, since)
}

func (w *world) fetching(store *sources.Store, source int64) *sources.Fetching {
	w.Helper()
	f, err := store.Fetching(w.Context(), source)
	w.must(err)
	return f
}

func (w *world) failsWith(what string, err, want error) {
	w.Helper()
	if !errors.Is(err, want) {
		w.Errorf("%s: got %v, want %v", what, err, want)
	}
}

// F10: sources that have been due for longest come first, and only once. Sources that are not due,
// are paused, or are not links do not come.
func TestClaim(t *testing.T) {
	w := newWorld(t)
	ann := w.person("ann")
	var due []int64
	for i := range 5 {
		due = append(due, w.link(ann, fmt.Sprintf("https://%d.example.org/", i), time.Duration(5-i)*time.Minute))
	}
	w.link(ann, "https://example.org/later", -time.Minute)
	paused := w.link(ann, "https://example.org/paused", time.Hour)
	w.source(ann, "A file", sources.Sync, "{}")
	never := w.link(ann, "https://example.org/never", time.Hour)
	for _, sql := range []string{
		fmt.Sprintf(`UPDATE sources SET status = 'paused' WHERE id = %d`, paused),
		fmt.Sprintf(`UPDATE sources SET next_at = NULL WHERE id = %d`, never),
	} {
		_, err := w.pool.Exec(t.Context(), sql)
		w.must(err)
	}
	first, err := w.sources.Claim(t.Context(), 3)
	w.must(err)
	w.same("the first claim", first, due[:3])
	second, err := w.sources.Claim(t.Context(), 30)
	w.must(err)
	w.same("the second claim", second, due[3:])
	// If a node dies, the source loses some minutes.
	left := value[float64](w, `SELECT extract(epoch FROM next_at - now()) FROM sources WHERE id = $1`, due[0])
	if left < 60 || left > 1200 {
		t.Errorf("a claimed source is due again in %v s, want some minutes", left)
	}
}

// One host gets one request at a time, so a claim takes one of its sources, and leaves room for those
// of other hosts. Sources without a host are all taken.
func TestClaimTakesOneSourceOfAHost(t *testing.T) {
	w := newWorld(t)
	ann := w.person("ann")
	var due []int64
	for i := range 40 {
		due = append(due, w.link(ann, fmt.Sprint("https://example.org/", i), time.Duration(60-i)*time.Minute))
	}
	other := w.link(ann, "https://example.net/", time.Minute)
	one, two := w.link(ann, "nowhere", 30*time.Second), w.link(ann, "no address", 20*time.Second)
	paused := w.link(ann, "https://example.com/paused", time.Hour)
	_, err := w.pool.Exec(t.Context(), `UPDATE sources SET status = 'paused' WHERE id = $1`, paused)
	w.must(err)
	same := w.link(ann, "https://example.com/", 10*time.Second)
	first, err := w.sources.Claim(t.Context(), 30)
	w.must(err)
	w.same("the first claim", first, []int64{due[0], other, one, two, same})
	second, err := w.sources.Claim(t.Context(), 30)
	w.must(err)
	w.same("the second claim", second, due[1:2])

	// If sources are due since the same moment, one comes.
	_, err = w.pool.Exec(t.Context(), `UPDATE sources SET next_at = now() WHERE id = ANY($1)`, due)
	w.must(err)
	third, err := w.sources.Claim(t.Context(), 30)
	w.must(err)
	w.same("the third claim", len(third), 1)
}

// F10, F11: when nodes claim at once, each source is claimed once.
func TestNodesClaimEachSourceOnce(t *testing.T) {
	w := newWorld(t)
	ann := w.person("ann")
	var want []int64
	for i := range 60 {
		want = append(want, w.link(ann, fmt.Sprintf("https://%d.example.org/", i), time.Duration(60-i)*time.Second))
	}
	var mu sync.Mutex
	var got []int64
	var nodes sync.WaitGroup
	for range 2 {
		node := sources.Open(timelines.Open(w.pool, w.heard, timelines.DefaultOptions()))
		nodes.Go(func() {
			for {
				ids, err := node.Claim(t.Context(), 7)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				got = append(got, ids...)
				done := len(got) >= len(want)
				mu.Unlock()
				if err != nil || len(ids) == 0 && done {
					return
				}
			}
		})
	}
	nodes.Wait()
	slices.Sort(got)
	w.same("claimed by two nodes", got, want)
}

// A claim reads the index of due sources, however many sources there are, and that of hosts for each
// of them.
func TestClaimReadsAnIndex(t *testing.T) {
	w := newWorld(t)
	ann := w.person("ann")
	_, err := w.pool.Exec(t.Context(), `
		INSERT INTO sources (owner_id, added_by, code, way, mode, title, url, next_at)
		SELECT $1, $1, lpad(i::text, 10, '0'), 'link', 'append', 'A feed', 'https://' || i % 500 || '.example.org/' || i, now() + (i - 50) * interval '1 minute'
		FROM generate_series(1, 5000) i`, ann.ID)
	w.must(err)
	_, err = w.pool.Exec(t.Context(), `ANALYZE sources`)
	w.must(err)
	rows, err := w.pool.Query(t.Context(), `EXPLAIN `+sources.ClaimQuery, pgx.StrictNamedArgs{"limit": 10, "claimed": time.Minute, "lease": sources.HostLease})
	w.must(err)
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	w.must(err)
	plan := strings.Join(lines, "\n")
	for _, want := range []string{"Index Scan using sources_next_idx", "using sources_host_idx"} {
		if !strings.Contains(plan, want) {
			t.Errorf("want %q in\n%s", want, plan)
		}
	}
}

// F11: one process at a time fetches a source, while another may work its loads. The locks of a
// killed process are free.
func TestFetchingIsForOne(t *testing.T) {
	w := newWorld(t)
	ann := w.person("ann")
	id := w.link(ann, "https://example.org/feed", 0)
	first := w.fetching(w.sources, id)
	_, err := w.sources.Fetching(t.Context(), id)
	w.failsWith("somebody else", err, sources.ErrBusy)
	work, err := w.sources.Take(t.Context(), id)
	w.must(err)
	w.must(work.Close(t.Context()))
	w.must(first.Close(t.Context()))

	second := w.fetching(w.sources, id)
	// kill -9 ends its connection.
	if n := value[int64](w, `SELECT count(*) FILTER (WHERE pg_terminate_backend(pid, 5000)) FROM pg_locks WHERE locktype = 'advisory' AND classid = 7245017
		AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`); n != 1 {
		t.Fatalf("%d hold the lock, want 1", n)
	}
	if _, err := second.Target(t.Context()); err == nil {
		t.Error("who lost the lock can go on")
	}
	if err := second.Close(t.Context()); err != nil {
		t.Logf("close: %v", err) // its connection is gone
	}
	third := w.fetching(w.sources, id)
	w.must(third.Close(t.Context()))
}

// F10: a host gets one request at a time, with a gap, whichever nodes ask.
func TestHostsAreAskedOneAtATime(t *testing.T) {
	w := newWorld(t)
	ann := w.person("ann")
	other := sources.Open(timelines.Open(w.pool, w.heard, timelines.DefaultOptions()))
	one := w.fetching(w.sources, w.link(ann, "https://example.org/1", 0))
	two := w.fetching(other, w.link(ann, "https://example.org/2", 0))
	defer func() { w.must(errors.Join(one.Close(t.Context()), two.Close(t.Context()))) }()
	reserve := func(f *sources.Fetching, host string) time.Duration {
		t.Helper()
		wait, err := f.Reserve(t.Context(), host)
		w.must(err)
		return wait
	}
	past := func() {
		t.Helper()
		_, err := w.pool.Exec(t.Context(), `UPDATE fetch_hosts SET next_at = now() - interval '1 s'`)
		w.must(err)
	}
	if wait := reserve(one, "example.org"); wait != 0 {
		t.Errorf("a new host: wait %v", wait)
	}
	if wait := reserve(two, "example.org"); wait <= 0 || wait > sources.HostLease {
		t.Errorf("while it is asked: wait %v, want up to %v", wait, sources.HostLease)
	}
	if wait := reserve(two, "example.net"); wait != 0 {
		t.Errorf("another host: wait %v", wait)
	}
	w.must(one.Release(t.Context(), "example.org", time.Minute))
	if wait := reserve(two, "example.org"); wait <= 50*time.Second || wait > time.Minute {
		t.Errorf("in the gap: wait %v, want about a minute", wait)
	}
	past()
	if wait := reserve(two, "example.org"); wait != 0 {
		t.Errorf("after the gap: wait %v", wait)
	}
	if wait := reserve(one, "example.org"); wait <= 0 {
		t.Errorf("while the other node asks it: wait %v", wait)
	}
	// If a node died while asking a host, the host is free after a time.
	past()
	if wait := reserve(one, "example.org"); wait != 0 {
		t.Errorf("after a node died: wait %v", wait)
	}

	// If several nodes ask at once, one may.
	past()
	var may, all sync.WaitGroup
	var mu sync.Mutex
	free := 0
	may.Add(1)
	for i := range 6 {
		f := w.fetching(w.sources, w.link(ann, fmt.Sprint("https://example.org/many/", i), 0))
		all.Go(func() {
			may.Wait()
			wait, err := f.Reserve(t.Context(), "example.org")
			if err = errors.Join(err, f.Close(t.Context())); err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			if wait == 0 {
				free++
			}
		})
	}
	may.Done()
	all.Wait()
	if free != 1 {
		t.Errorf("%d may ask a host at once, want 1", free)
	}
}

// Due sources of a host that is being asked are left to the process that asks it. If the host asked
// for a pause, they are postponed.
func TestClaimNext(t *testing.T) {
	w := newWorld(t)
	ann := w.person("ann")
	one := w.link(ann, "https://Example.org:443/1", time.Minute)
	two := w.link(ann, "https://example.org/2", 3*time.Minute)
	three := w.link(ann, "https://example.org/3", 2*time.Minute)
	elsewhere := w.link(ann, "https://example.net/1", 0)
	w.link(ann, "https://example.org/later", -time.Hour)
	w.must(w.gapOf("example.org", time.Minute))
	claim := func() []int64 {
		t.Helper()
		ids, err := w.sources.Claim(t.Context(), 1)
		w.must(err)
		return ids
	}
	next := func(want int64) {
		t.Helper()
		id, wait, err := w.sources.ClaimNext(t.Context(), one)
		w.must(err)
		if id != want || wait > sources.HostGap || wait < 0 {
			t.Errorf("the next is %d in %v, want %d", id, wait, want)
		}
	}
	w.same("while the host is asked", claim(), []int64{elsewhere})
	w.same("nothing more", len(claim()), 0)
	next(0)
	w.must(w.gapOf("example.org", sources.ShortGap))
	next(two)
	next(three)
	next(one)
	next(0)
	w.must(w.sources.Again(t.Context(), two, 0))
	w.must(w.gapOf("example.org", time.Hour))
	next(0)
	w.same("it asked for a pause", claim(), []int64{two})

	for _, address := range []string{"https://example.org/feed?a=/b", "http://Example.org:80", "https://example.org:8443/#x", "http://[::1]:80/feed"} {
		w.same(address, value[string](w, `SELECT host FROM sources WHERE id = $1`, w.link(ann, address, 0)), hosts.Host(address))
	}
}

func (w *world) gapOf(host string, gap time.Duration) error {
	_, err := w.pool.Exec(w.Context(), `INSERT INTO fetch_hosts VALUES ($1, now() + $2) ON CONFLICT (host) DO UPDATE SET next_at = EXCLUDED.next_at`, host, gap)
	return err
}

func TestGapAfter(t *testing.T) {
	for _, tt := range []struct {
		took     time.Duration
		troubled bool
		want     time.Duration
	}{
		{0, false, sources.ShortGap},
		{time.Second, false, time.Second},
		{time.Minute, false, sources.LongGap},
		{0, true, sources.LongGap},
	} {
		if got := sources.GapAfter(tt.took, tt.troubled); got != tt.want {
			t.Errorf("an answer after %v, troubled %v: got %v, want %v", tt.took, tt.troubled, got, tt.want)
		}
	}
}

// F32: hosts that nobody asks are forgotten.
func TestExpireHosts(t *testing.T) {
	w := newWorld(t)
	_, err := w.pool.Exec(t.Context(), `INSERT INTO fetch_hosts VALUES ('old', now() - interval '25 hours'), ('older', now() - interval '2 days'), ('new', now())`)
	w.must(err)
	n, err := w.sources.ExpireHosts(t.Context(), 1)
	w.must(err)
	w.same("forgotten", n, int64(1))
	w.same("left", w.list(`SELECT host FROM fetch_hosts ORDER BY 1`), []string{"new", "old"})
}

var aFile = &sources.FetchedFile{
	Sum: [32]byte{7}, Bytes: 9, MediaType: "text/xml", Charset: "koi8-r", Base: "https://example.org/feed",
	ETag: `"v1"`, Modified: "Sun, 06 Nov 1994 08:49:37 GMT", TTL: time.Hour,
}

// F11, F33, F34: the fetched file becomes a load, with the settings and the version of its source,
// and the load is announced. A file that was fetched for an earlier version, or for a source that is
// paused, is thrown away.
func TestRecordMakesALoad(t *testing.T) {
	w := newWorld(t)
	ann := w.person("ann")
	id := w.link(ann, "https://example.org/feed", 0)
	_, err := w.pool.Exec(t.Context(), `UPDATE sources SET settings = '{"most_gone": 7}', format = 'rss' WHERE id = $1`, id)
	w.must(err)
	f := w.fetching(w.sources, id)
	defer func() { w.must(f.Close(t.Context())) }()
	link, err := f.Target(t.Context())
	w.must(err)
	w.same("link", link, sources.Target{Version: 1, URL: "https://example.org/feed", Format: "rss"})

	_, err = f.Record(t.Context(), sources.Fetched{Version: link.Version + 1, File: aFile})
	w.failsWith("another version", err, sources.ErrStale)
	no, err := f.Record(t.Context(), sources.Fetched{Version: link.Version, File: aFile, After: time.Hour})
	w.must(err)
	l, err := w.sources.Load(t.Context(), id, no)
	w.must(err)
	w.same("load", l, sources.Load{
		ID: l.ID, SourceID: id, No: 1, Version: 1, Way: sources.Link, State: sources.Waiting, CreatedAt: l.CreatedAt, UpdatedAt: l.CreatedAt,
		Codes: map[formats.Code]int64{}, Settings: sources.Settings{MostGone: 7},
		File: aFile.Sum[:], Bytes: 9, Format: "rss", MediaType: "text/xml", Charset: "koi8-r", Base: "https://example.org/feed",
	})
	w.same("announced", w.heard.ready, []int64{id})
	w.same("next", value[bool](w, `SELECT next_at BETWEEN now() + interval '59 min' AND now() + interval '1 hour' FROM sources WHERE id = $1`, id), true)

	// Until the load is done, its file is not loaded again, and requests have no condition.
	link, err = f.Target(t.Context())
	w.must(err)
	w.same("while it loads", link, sources.Target{Version: 1, URL: link.URL, Format: "rss", Read: true, Content: aFile.Sum[:], TTL: time.Hour})

	_, err = w.pool.Exec(t.Context(), `UPDATE sources SET status = 'paused' WHERE id = $1`, id)
	w.must(err)
	_, err = f.Record(t.Context(), sources.Fetched{Version: 1, File: aFile})
	w.failsWith("a paused source", err, sources.ErrStale)
	_, err = f.Target(t.Context())
	w.failsWith("the link of a paused source", err, sources.ErrNotFound)
	w.same("loads", value[int64](w, `SELECT count(*) FROM loads`), int64(1))
}

// F11: an equal file may be skipped only if the last load had no problems and the same version.
func TestOnlyCleanLoadsAreRemembered(t *testing.T) {
	w := newWorld(t)
	ann := w.person("ann")
	id := w.link(ann, "https://example.org/feed", 0)
	f := w.fetching(w.sources, id)
	defer func() { w.must(f.Close(t.Context())) }()
	remembered := func() []string {
		t.Helper()
		link, err := f.Target(t.Context())
		w.must(err)
		return []string{fmt.Sprintf("%x", link.Content), link.ETag, link.Modified}
	}
	record := func(version int64, file *sources.FetchedFile) {
		t.Helper()
		_, err := f.Record(t.Context(), sources.Fetched{Version: version, File: file, After: time.Hour})
		w.must(err)
	}
	work := func(errors int) {
		t.Helper()
		k, err := w.sources.Take(t.Context(), id)
		w.must(err)
		l, err := k.Next(t.Context())
		w.must(err)
		_, err = w.pool.Exec(t.Context(), `UPDATE loads SET errors = $2 WHERE id = $1`, l.ID, errors)
		w.must(err)
		w.must(k.Begin(t.Context(), &l, formats.Summary{}, [32]byte{1}))
		_, err = w.pool.Exec(t.Context(), `UPDATE loads SET errors = $2 WHERE id = $1`, l.ID, errors)
		w.must(err)
		w.end(k, &l)
		w.must(k.Close(t.Context()))
	}
	all := []string{fmt.Sprintf("%x", aFile.Sum), aFile.ETag, aFile.Modified}
	none := []string{"", "", ""}
	record(1, aFile)
	work(0)
	w.same("after a clean load", remembered(), all)
	record(1, aFile)
	work(1)
	w.same("after a load with errors", remembered(), none)
	record(1, aFile)
	work(0)
	code := value[string](w, `SELECT code FROM sources WHERE id = $1`, id)
	_, err := w.sources.Change(t.Context(), ann.ID, code, "Other", sources.Settings{MostGone: 1})
	w.must(err)
	w.same("after other settings", remembered(), none)
	record(2, aFile)
	_, err = w.pool.Exec(t.Context(), `UPDATE sources SET version = 3 WHERE id = $1`, id)
	w.must(err)
	w.same("while a load of an earlier version waits", remembered(), none)
	work(0)
	w.same("after a load of an earlier version", remembered(), none)
}

// F10: a source that fails is fetched after longer and longer times, but never given up. A success
// ends that.
func TestFailuresAreCounted(t *testing.T) {
	w := newWorld(t)
	ann := w.person("ann")
	id := w.link(ann, "https://example.org/feed", 0)
	other := w.link(ann, "https://example.org/other", 0)
	f := w.fetching(w.sources, id)
	defer func() { w.must(f.Close(t.Context())) }()
	state := func() string {
		t.Helper()
		return w.list(`SELECT format('%s %s %s %s %s', status, failures, problem, version, next_at IS NOT NULL) FROM sources WHERE id = $1`, id)[0]
	}
	record := func(d sources.Fetched) {
		t.Helper()
		d.After = time.Hour
		_, err := f.Record(t.Context(), d)
		w.must(err)
	}
	record(sources.Fetched{Version: 1, Problem: sources.TimedOut})
	record(sources.Fetched{Version: 1, Problem: sources.ServerFails})
	w.same("two failures", state(), "active 2 server_fails 1 t")
	record(sources.Fetched{Version: 1})
	w.same("nothing new", state(), "active 0  1 t")
	record(sources.Fetched{Version: 1, Problem: sources.NotFound})
	record(sources.Fetched{Version: 1, File: aFile})
	w.same("a file", state(), "active 0  1 t")
	_, err := w.pool.Exec(t.Context(), `UPDATE sources SET failures = 3, problem = 'malformed' WHERE id = $1`, id)
	w.must(err)
	record(sources.Fetched{Version: 1, File: aFile})
	w.same("a file, while loads fail", state(), "active 3 malformed 1 t")

	// F33: a move makes a new version, and no other source may have the address.
	taken, err := f.Taken(t.Context(), "https://example.org/other")
	w.must(err)
	w.same("the address of another source", taken, true)
	_, err = f.Record(t.Context(), sources.Fetched{Version: 1, URL: "https://example.org/other"})
	if err == nil || errors.Is(err, sources.ErrStale) {
		t.Errorf("a move to another source: got %v, want an error of the store", err)
	}
	record(sources.Fetched{Version: 1, URL: "https://example.org/new", File: aFile})
	w.same("moved", state(), "active 3 malformed 2 t")
	w.same("load of", value[int64](w, `SELECT version FROM loads ORDER BY no DESC LIMIT 1`), int64(2))
	record(sources.Fetched{Version: 2, Problem: sources.Gone})
	w.same("gone", state(), "paused 4 gone 2 f")
	w.same("the other source", w.list(`SELECT format('%s %s %s', failures, version, loads) FROM sources WHERE id = $1`, other), []string{"0 1 0"})
}

// F10: times are random, grow, and stay within their bounds.
func TestTimes(t *testing.T) {
	t.Parallel()
	type bounds struct{ From, To time.Duration }
	almost := 0.999999
	for failures, want := range map[int]bounds{
		1:       {15 * time.Minute, 30 * time.Minute},
		2:       {15 * time.Minute, time.Hour},
		9:       {15 * time.Minute, 128 * time.Hour},
		10:      {15 * time.Minute, 7 * 24 * time.Hour},
		1 << 30: {15 * time.Minute, 7 * 24 * time.Hour},
	} {
		got := bounds{sources.Backoff(failures, 0), sources.Backoff(failures, almost).Round(time.Minute)}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("after %d failures (-want +got):\n%s", failures, d)
		}
	}
	for _, tt := range []struct {
		asked []time.Duration
		want  bounds
	}{
		{nil, bounds{30 * time.Minute, 33 * time.Minute}},
		{[]time.Duration{0, 0}, bounds{30 * time.Minute, 33 * time.Minute}},
		{[]time.Duration{time.Second, 0}, bounds{5 * time.Minute, 330 * time.Second}},
		{[]time.Duration{10 * time.Minute, 20 * time.Minute}, bounds{20 * time.Minute, 22 * time.Minute}},
		{[]time.Duration{1000 * time.Hour}, bounds{168 * time.Hour, 168 * time.Hour}},
	} {
		got := bounds{sources.DefaultLimits().Period(0, tt.asked...), sources.DefaultLimits().Period(almost, tt.asked...).Round(time.Second)}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("asked for %v (-want +got):\n%s", tt.asked, d)
		}
	}
}

// F12: a load that stands still is found, unless somebody works its source.
func TestStalled(t *testing.T) {
	w := newWorld(t)
	ann := w.person("ann")
	id := w.link(ann, "https://example.org/feed", 0)
	f := w.fetching(w.sources, id)
	_, err := f.Record(t.Context(), sources.Fetched{Version: 1, File: aFile})
	w.must(errors.Join(err, f.Close(t.Context())))
	stalled := func(what string, want ...int64) {
		t.Helper()
		ids, err := w.sources.Stalled(t.Context(), 10)
		w.must(err)
		if !slices.Equal(ids, want) {
			t.Errorf("%s: got %v, want %v", what, ids, want)
		}
	}
	stalled("at first")
	_, err = w.pool.Exec(t.Context(), `UPDATE loads SET updated_at = now() - interval '1 min'`)
	w.must(err)
	stalled("after a minute", id)
	k, err := w.sources.Take(t.Context(), id)
	w.must(err)
	stalled("while it is worked")
	w.must(k.Close(t.Context()))
	if is, err := w.sources.Pending(t.Context(), id); !is || err != nil {
		t.Errorf("pending: %t, %v", is, err)
	}
	_, err = w.pool.Exec(t.Context(), `UPDATE loads SET state = 'done'`)
	w.must(err)
	stalled("when it is done")
	if is, err := w.sources.Pending(t.Context(), id); is || err != nil {
		t.Errorf("pending when done: %t, %v", is, err)
	}
}
