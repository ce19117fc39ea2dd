package main

import (
	"bufio"
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/jackc/pgx/v5/pgxpool"

	"riverrun/migrations/testdb"
	"riverrun/timelines"
	"riverrun/timelines/sources"
)

var sourceItems = flag.Int("items", 0, "items of BenchmarkSource; default: 20,000, a tenth of that with -short")

// BenchmarkSource has a server of its own load a list of items of a kilobyte by its link for the
// first time, once more unchanged, and with one in a hundred changed. It reports how fast, what that took
// of the processor, how much the server's memory grew beyond what it was before, how long likes took from
// the click to another person's socket meanwhile, and how long a pushed item takes to get there.
func BenchmarkSource(b *testing.B) {
	n := *sourceItems
	if n == 0 {
		n = 20_000
		if testing.Short() {
			n /= 10
		}
	}
	for b.Loop() {
		s := newSourceBench(b, n)
		before := s.memory()
		for _, load := range []string{"first", "same", "changed"} {
			s.file.Store(load)
			server, postgresql, began := processorOf(b, s.node.cmd.Process.Pid, false), processorOf(b, s.postmaster, true), time.Now()
			loaded, ended := make(chan struct{}), began
			go func() {
				defer close(loaded)
				s.load()
				ended = time.Now()
			}()
			took := s.likes(loaded)
			b.ReportMetric(float64(n)/ended.Sub(began).Seconds(), load+"-items/s")
			each := func(d time.Duration) float64 { return float64(d.Microseconds()) / float64(n) }
			b.ReportMetric(each(processorOf(b, s.node.cmd.Process.Pid, false)-server), load+"-server-us/item")
			b.ReportMetric(each(processorOf(b, s.postmaster, true)-postgresql), load+"-postgresql-us/item")
			b.ReportMetric(milliseconds(took, 50), load+"-like-ms/p50")
			b.ReportMetric(milliseconds(took, 99), load+"-like-ms/p99")
			b.ReportMetric(float64(s.memory()-before)/1e6, load+"-MB-more")
		}
		took := s.pushes(min(200, n/100))
		b.ReportMetric(milliseconds(took, 50), "push-ms/p50")
		b.ReportMetric(milliseconds(took, 95), "push-ms/p95")
		b.ReportMetric(float64(before)/1e6, "MB-before")
		s.node.stop(b)
	}
	b.ReportMetric(0, "ns/op")
}

// sourceBench is a server, a list that is loaded, and people: alice has the list, and bob, who
// follows her, has his home page open. Others like a post of hers.
type sourceBench struct {
	testing.TB
	items  int
	file   atomic.Value // which of the files is served
	node   *child
	pool   *pgxpool.Pool
	store  *sources.Store
	bob    *visitor
	others []*visitor
	owner  *visitor // alice
	alice  int64
	list   string // the address of the list
	code   string
	socket *websocket.Conn
	loads  int

	postmaster int // the process of the server's PostgreSQL
}

func newSourceBench(b *testing.B, items int) *sourceBench {
	b.Helper()
	s := &sourceBench{TB: b, items: items}
	feeds := httptest.NewServer(http.HandlerFunc(s.serve))
	b.Cleanup(feeds.Close)
	vars := map[string]string{
		"RIVERRUN_DATA": testdb.Dir(b), "RIVERRUN_LISTEN": "127.0.0.1:0", "RIVERRUN_LOG_LEVEL": "warn", "RIVERRUN_FETCH_ALLOW": "127.0.0.0/8",
	}
	var list []string
	for name, value := range vars {
		list = append(list, name+"="+value)
	}
	s.node = spawn(b, list)
	s.postmaster = postmasterOf(b, vars["RIVERRUN_DATA"])
	names := []string{"alice", "bob", "cat", "dan", "eve", "fay", "gil"}
	for _, name := range names {
		out, err := once(b, vars, "correct horse\n", "account", "create", name)
		must(b, "created "+name+"\n", out, err)
	}
	c, _, err := parse(vars)
	s.must(err)
	stores, err := openStores(b.Context(), c, c.logger(io.Discard), guest)
	s.must(err)
	b.Cleanup(func() { s.must(stores.close(context.Background(), c)) })
	s.pool = stores.primary
	s.store = sources.Open(timelines.Open(s.pool, nil, timelines.DefaultOptions()))
	s.must(s.pool.QueryRow(b.Context(), `SELECT id FROM accounts WHERE name = 'alice'`).Scan(&s.alice))

	// There is news before anybody opens a page. So pages go back to posts that are newer than all
	// that is loaded, as those of people do who have read the site for a while.
	s.file.Store("news")
	news := s.add(sources.New{Owner: "alice", Way: sources.Link, URL: feeds.URL + "/news.csv", Mode: sources.Sync})
	s.until(`SELECT succeeded_at IS NOT NULL FROM sources WHERE id = $1`, news.ID)
	s.until(`SELECT NOT EXISTS (SELECT FROM queue.river_job WHERE finalized_at IS NULL AND kind NOT IN ('due', 'expire', 'housekeep', 'sweep')) AND NOT EXISTS (SELECT FROM behind)`)
	people := map[string]*visitor{}
	for _, name := range names {
		people[name] = signIn(b, s.node, name)
		if name > "bob" {
			s.others = append(s.others, people[name])
		}
	}
	s.bob = people["bob"]
	s.bob.form("/alice/follow", nil)
	s.owner = people["alice"]
	s.owner.form("/posts", url.Values{"body": {"to like"}, "to": {"alice"}})
	s.must(s.pool.QueryRow(b.Context(), `SELECT code FROM posts WHERE body = 'to like'`).Scan(&s.code))
	page := s.bob.page("/")
	s.socket, err = s.bob.subscribe(b.Context(), page)
	s.must(err)
	b.Cleanup(func() { _ = s.socket.CloseNow() })
	s.list = feeds.URL + "/list.csv"
	return s
}

// add adds a source of alice's.
func (s *sourceBench) add(n sources.New) sources.Source {
	s.Helper()
	added, err := s.store.Add(s.Context(), s.alice, n)
	s.must(err)
	return added
}

func (s *sourceBench) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// load has the list added or fetched again by the form of its owner, and returns when that load is done.
func (s *sourceBench) load() {
	s.loads++
	if s.loads == 1 {
		s.owner.form("/settings/sources", url.Values{"way": {"link"}, "url": {s.list}, "to": {"alice"}, "mode": {"sync"}})
	} else {
		var code string
		if err := s.pool.QueryRow(s.Context(), `SELECT code FROM sources WHERE url = $1`, s.list).Scan(&code); err != nil {
			s.Error(err)
			return
		}
		s.owner.form("/sources/"+code+"/fetch", nil)
	}
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for range look.C {
		var state string
		err := s.pool.QueryRow(s.Context(), `SELECT coalesce((SELECT l.state FROM loads l JOIN sources s ON s.id = l.source_id WHERE s.url = $1 AND l.no = $2), '')`, s.list, s.loads).Scan(&state)
		if err != nil || state == "failed" || state == "held" {
			s.Errorf("load %d: %s, %v", s.loads, state, err)
			return
		}
		if state == "done" {
			return
		}
	}
}

// likes has people like a post and take that back, five times a second in all, until something is
// closed, and returns how long each took to bob's socket.
func (s *sourceBench) likes(until <-chan struct{}) []time.Duration {
	var took []time.Duration
	pause := time.NewTicker(200 * time.Millisecond)
	defer pause.Stop()
	for i := 0; ; i++ {
		seen := make(chan error, 1)
		began := time.Now()
		go func() { seen <- s.sees(`"` + s.code + `"`) }()
		round := i / len(s.others) % 2
		s.others[i%len(s.others)].form("/p/"+s.code+"/"+[]string{"like", "unlike"}[round], nil)
		s.must(<-seen)
		took = append(took, time.Since(began))
		select {
		case <-until:
			if round == 1 && (i+1)%len(s.others) == 0 { // all as it was
				return took
			}
		default:
		}
		<-pause.C
	}
}

// pushes has a program push items one by one, ten a second at most, and returns how long each took to
// bob's socket.
func (s *sourceBench) pushes(times int) []time.Duration {
	s.Helper()
	pushed := s.add(sources.New{Owner: "alice", Way: sources.Push, Mode: sources.Append, Title: "News"})
	token, err := s.store.Token(s.Context(), s.alice, pushed.Code)
	s.must(err)
	call := func(address, body string) string {
		request, err := http.NewRequestWithContext(s.Context(), http.MethodPost, s.node.url+"/api/sources/"+pushed.Code+"/loads"+address, strings.NewReader(body))
		s.must(err)
		request.Header.Set("Authorization", "Bearer "+token)
		answer, err := http.DefaultClient.Do(request)
		s.must(err)
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode >= http.StatusMultipleChoices {
			s.Fatalf("push%s: %s %s %v", address, answer.Status, text, err)
		}
		return answer.Header.Get("Location")
	}
	// The first items of a source are not news.
	load := func() string {
		at := call("", "")
		return strings.TrimSuffix(at[strings.LastIndex(at, "/loads")+len("/loads"):], "/results")
	}
	call(load()+"/finish", `{"batches": 0}`)
	s.until(`SELECT succeeded_at IS NOT NULL FROM sources WHERE id = $1`, pushed.ID)
	no := load()
	var took []time.Duration
	pause := time.NewTicker(100 * time.Millisecond)
	defer pause.Stop()
	for i := range times {
		text := fmt.Sprintf("pushed-%d-item", i)
		seen := make(chan error, 1)
		began := time.Now()
		go func() { seen <- s.sees(text) }()
		call(no+"/batches", fmt.Sprintf(`{"no": %d, "items": [{"id": %q, "title": %q}]}`, i+1, text, text))
		s.must(<-seen)
		took = append(took, time.Since(began))
		<-pause.C
	}
	return took
}

// until waits until a query of the primary store answers yes.
func (s *sourceBench) until(query string, args ...any) {
	s.Helper()
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for yes := false; !yes; <-look.C {
		s.must(s.pool.QueryRow(s.Context(), query, args...).Scan(&yes))
	}
}

// sees returns when a frame with a text has come.
func (s *sourceBench) sees(text string) error {
	ctx, cancel := context.WithTimeout(s.Context(), time.Minute)
	defer cancel()
	for {
		_, frame, err := s.socket.Read(ctx)
		if err != nil || strings.Contains(string(frame), text) {
			return err
		}
	}
}

var peakForm = regexp.MustCompile(`VmHWM:\s+(\d+) kB`)

// memory is the greatest resident memory of the server's process since it was last asked for, in
// bytes.
func (s *sourceBench) memory() int64 {
	s.Helper()
	proc := fmt.Sprintf("/proc/%d/", s.node.cmd.Process.Pid)
	status, err := os.ReadFile(proc + "status")
	s.must(err)
	m := peakForm.FindSubmatch(status)
	if m == nil {
		s.Fatalf("no peak in %s", status)
	}
	kB, err := strconv.ParseInt(string(m[1]), 10, 64)
	s.must(err)
	s.must(os.WriteFile(proc+"clear_refs", []byte("5"), 0))
	return kB * 1024
}

// serve is a list of items of a kilobyte, in one of its forms.
func (s *sourceBench) serve(w http.ResponseWriter, _ *http.Request) {
	words := strings.Fields("harbour morning quiet wind boats rope anchor letter window garden market bread river mountain station evening paper music winter summer bridge village teacher student painter question answer weather report")
	rng := rand.New(rand.NewPCG(1, 2))
	w.Header().Set("Content-Type", "text/csv")
	out := bufio.NewWriterSize(w, 1<<16)
	fmt.Fprintln(out, "id,title,text,date")
	items, first := s.items, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	if s.file.Load() == "news" {
		items, first = 1000, time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	}
	for i := range items {
		fmt.Fprintf(out, "item-%d,Number %d,", i, i)
		for n := 0; n < 900; {
			more, _ := fmt.Fprintf(out, "%s%d ", words[rng.IntN(len(words))], rng.IntN(30))
			n += more
		}
		if s.file.Load() == "changed" && i%100 == 0 {
			fmt.Fprint(out, "changed")
		}
		fmt.Fprint(out, first.Add(time.Duration(i)*time.Second).Format(",2006-01-02T15:04:05Z\n"))
	}
	if s.file.Load() == "same" {
		fmt.Fprintln(out) // another file with the same items
	}
	_ = out.Flush() // the server says that it failed
}

// milliseconds is a percentile.
func milliseconds(all []time.Duration, percent int) float64 {
	slices.SortFunc(all, func(a, b time.Duration) int { return cmp.Compare(a, b) })
	return float64(all[min(len(all)-1, len(all)*percent/100)].Microseconds()) / 1000
}
